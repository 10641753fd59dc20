//! Options for what files do not specify themselves.

use crate::{Bounds, DataError, Remedy, Spec};
use serde::{Deserialize, Serialize};
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// Options for reading a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// The columns that make up an observation, in this order; by default, those that the format
    /// calls observations.
    pub observations: Vec<String>,
    /// The columns that make up an action; by default, those that the format calls actions.
    pub actions: Vec<String>,
    /// Tables: the column that identifies episodes.
    pub episode: Option<String>,
    /// Tables: the column with the reward.
    pub reward: Option<String>,
    /// Tables: the column with the time in seconds.
    pub time: Option<String>,
    /// The extra columns to keep.
    pub extras: Extras,
    /// D4RL: the flags that end an episode.
    pub ends: Ends,
    /// The number of states per second; overrides the file.
    pub frames_per_second: Option<f64>,
    /// The dimensions of an observation that form the goal space.
    pub goal: Option<Range<usize>>,
    /// The smallest and largest value of an action; overrides the file.
    pub action_bounds: Option<Bounds>,
    /// Embeddings of frames, which become further dimensions of the observation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub embeddings: Vec<EmbeddingOptions>,
}

/// A file with a row of numbers for each frame, joined by the index of the frame: `index` of a
/// LeRobot dataset, the number of the state in other formats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingOptions {
    /// A `.npy` array `[frames, width]`, a `.parquet` table with the columns `index` and one list
    /// of numbers, or a `.safetensors` file with one matrix or a vector per frame.
    pub path: PathBuf,
    /// The number of principal components to keep; 0 for all dimensions.
    #[serde(default = "default_components")]
    pub components: usize,
    /// The weight of all dimensions together, in standardized dimensions.
    #[serde(default = "default_weight")]
    pub weight: f64,
}

fn default_components() -> usize {
    EmbeddingOptions::COMPONENTS
}

fn default_weight() -> f64 {
    1.0
}

impl EmbeddingOptions {
    /// The default number of principal components.
    pub const COMPONENTS: usize = 16;

    /// Returns the options for a file, with default components and weight.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), components: Self::COMPONENTS, weight: 1.0 }
    }
}

/// The extra columns to keep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extras {
    /// All columns that have a row for every state.
    #[default]
    All,
    /// Only the columns with these names.
    Named(Vec<String>),
}

/// The flags that end an episode of a D4RL file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// The flag that occurs in the file. If both do, `timeouts` in mazes; elsewhere, the user has
    /// to choose.
    #[default]
    Auto,
    /// `timeouts` only: mazes, where `terminals` mark visits to the goal.
    Timeouts,
    /// `terminals` only.
    Terminals,
    /// Either flag: locomotion, where a fall resets the environment.
    Either,
}

/// Defines setters that can be chained.
macro_rules! setters {
    ($($(#[$attribute:meta])* $field:ident($value:ident: $type:ty) = $set:expr;)*) => {
        $($(#[$attribute])*
        pub fn $field(mut self, $value: $type) -> Self {
            self.$field = $set;
            self
        })*
    };
}

/// Chainable setters, each for the field of the same name.
impl ReadOptions {
    setters! {
        /// Sets the columns that make up an observation.
        observations(columns: impl IntoIterator<Item = impl Into<String>>) =
            columns.into_iter().map(Into::into).collect();
        /// Sets the columns that make up an action.
        actions(columns: impl IntoIterator<Item = impl Into<String>>) =
            columns.into_iter().map(Into::into).collect();
        /// Sets the column that identifies the episodes of a table.
        episode(column: impl Into<String>) = Some(column.into());
        /// Sets the extra columns to keep.
        extras(extras: Extras) = extras;
        /// Sets the flags that end an episode of a D4RL file.
        ends(ends: Ends) = ends;
        /// Sets the number of states per second.
        frames_per_second(rate: f64) = Some(rate);
        /// Sets the dimensions of an observation that form the goal space.
        goal(dimensions: Range<usize>) = Some(dimensions);
        /// Sets the files with embeddings of frames.
        embeddings(files: impl IntoIterator<Item = EmbeddingOptions>) = files.into_iter().collect();
        /// Sets the smallest and largest value of an action.
        action_bounds(bounds: Bounds) = Some(bounds);
    }

    pub(crate) fn wants_extra(&self, name: &str) -> bool {
        match &self.extras {
            Extras::All => true,
            Extras::Named(names) => names.iter().any(|wanted| wanted == name),
        }
    }

    /// Applies these options to the spec of a file, and checks that they are valid.
    pub(crate) fn complete(&self, path: &Path, spec: &mut Spec) -> Result<(), DataError> {
        if let Some(rate) = self.frames_per_second {
            if !(rate > 0.0 && rate.is_finite()) {
                let problem = format!("a frame rate of {rate} per second");
                return Err(DataError::setting(problem, "give a positive number"));
            }
            spec.frames_per_second = Some(rate);
        }
        spec.goal = self.goal.clone().or(spec.goal.take());
        spec.check().map_err(|problem| DataError::malformed(path, problem.to_string(), problem.hint()))?;
        if let Some(bounds) = self.action_bounds {
            spec.action.bounds = vec![bounds; spec.action.width];
        }
        let has_extra = |name: &String| spec.extras.iter().any(|extra| extra.name == *name);
        if let Extras::Named(names) = &self.extras
            && let Some(missing) = names.iter().find(|name| !has_extra(name))
        {
            let problem = format!("no column '{missing}' with a number for every state");
            let hint = Remedy::Summary.hint(|tool| format!("{tool} lists the columns"));
            return Err(DataError::malformed(path, problem, hint));
        }
        Ok(())
    }
}
