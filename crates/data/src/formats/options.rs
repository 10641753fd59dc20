//! What a user can say about files that do not say it themselves.

use crate::{Bounds, DataError, Spec};
use std::ops::Range;

/// How to read a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// Columns that make up an observation, in this order; by default what the format calls so.
    pub observations: Vec<String>,
    /// Columns that make up an action; by default what the format calls so.
    pub actions: Vec<String>,
    /// Tables: the column that tells episodes apart.
    pub episode: Option<String>,
    /// Tables: the column with the reward.
    pub reward: Option<String>,
    /// Tables: the column with the time in seconds.
    pub time: Option<String>,
    /// Which further columns to keep.
    pub extras: Extras,
    /// D4RL: what ends an episode.
    pub ends: Ends,
    /// States per second, whatever the file says.
    pub frames_per_second: Option<f64>,
    /// The dimensions of an observation that are the goal space.
    pub goal: Option<Range<usize>>,
    /// The least and greatest value of an action, whatever the file says.
    pub action_bounds: Option<Bounds>,
}

/// Which further columns to keep.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Extras {
    /// All that have a row for every state.
    #[default]
    All,
    /// Only these.
    Named(Vec<String>),
}

/// What ends an episode of a D4RL file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ends {
    /// The one of the two flags that occurs; with both, `timeouts` in mazes, and elsewhere the user is asked.
    #[default]
    Auto,
    /// `timeouts` only: mazes, where `terminals` mark visits of the goal.
    Timeouts,
    /// `terminals` only.
    Terminals,
    /// Either: locomotion, where a fall resets the world.
    Either,
}

/// Numbers of a state, or of an action, that may be asked for: what comes after has room for each of them.
const MAX_WIDTH: usize = 1 << 16;

/// Refuses what no recording has, before anyone makes room for it.
fn check_columns(spec: &Spec) -> Result<(), DataError> {
    if spec.observation.width == 0 {
        return Err(DataError::setting(
            "its observations have no dimension",
            "name other columns with --observations",
        ));
    }
    let extras: usize = spec.extras.iter().map(|extra| extra.width).fold(0, usize::saturating_add);
    for (name, width) in [
        ("observation", spec.observation.width),
        ("action", spec.action.width),
        ("state's extra columns", extras),
    ] {
        if width > MAX_WIDTH {
            return Err(DataError::setting(
                format!("its {name} has {width} numbers"),
                format!("up to {MAX_WIDTH} can be used; choose fewer columns, or --no-extras"),
            ));
        }
    }
    let mut names: Vec<&str> = spec.extras.iter().map(|extra| extra.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(DataError::setting(
            format!("two columns are called '{}'", pair[0]),
            "rename one, or say --no-extras",
        )),
        None => Ok(()),
    }
}

impl ReadOptions {
    pub(crate) fn wants_extra(&self, name: &str) -> bool {
        match &self.extras {
            Extras::All => true,
            Extras::Named(names) => names.iter().any(|wanted| wanted == name),
        }
    }

    /// Adds to a spec what the user said, and checks that it was possible.
    pub(crate) fn complete(&self, spec: &mut Spec) -> Result<(), DataError> {
        check_columns(spec)?;
        if let Some(rate) = self.frames_per_second {
            if !(rate > 0.0 && rate.is_finite()) {
                return Err(DataError::setting(
                    format!("{rate} frames per second"),
                    "give a positive number",
                ));
            }
            spec.frames_per_second = Some(rate);
        }
        if let Some(goal) = &self.goal {
            if goal.start >= goal.end || goal.end > spec.observation.width {
                return Err(DataError::setting(
                    format!(
                        "goal space {}..{} of {} dimensions",
                        goal.start, goal.end, spec.observation.width
                    ),
                    "give the first dimension and the one after the last, such as 0..2",
                ));
            }
            spec.goal = Some(goal.clone());
        }
        if let Some(bounds) = self.action_bounds {
            spec.action.bounds = vec![bounds; spec.action.width];
        }
        let has_extra = |name: &String| spec.extras.iter().any(|extra| extra.name == *name);
        if let Extras::Named(names) = &self.extras
            && let Some(missing) = names.iter().find(|name| !has_extra(name))
        {
            return Err(DataError::setting(
                format!("there is no column '{missing}' with a number for every state"),
                "isochrone data inspect lists the columns",
            ));
        }
        Ok(())
    }
}
