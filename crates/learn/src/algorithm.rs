//! The definition of an algorithm, and a handle to it.

use crate::{
    components::Preset,
    context::LearnerContext,
    error::{ConfigError, ConfigErrorKind},
    learner::Learner,
    settings,
};
use serde::{Serialize, Serializer, de::DeserializeOwned, ser::SerializeMap as _};
use std::fmt;
use toml::{Table, Value};

/// A learner with a name and settings: everything that the trainer, the command line and the
/// documentation need.
///
/// Algorithms of this crate and of other crates implement this trait; [`Algorithm::of`] returns the
/// handle that [`Training`](crate::Training) takes.
pub trait AlgorithmDef: Learner + Sized + 'static {
    /// The settings of the algorithm, read and written with serde.
    type Config: Serialize + DeserializeOwned;

    /// The name of the algorithm in configuration files.
    const NAME: &'static str;
    /// A one-line description.
    const IDEA: &'static str;
    /// The URL of the paper.
    const PAPER: &'static str;
    /// Whether the algorithm requires actions.
    const NEEDS_ACTIONS: bool = false;
    /// The default number of rows of a batch that come from the same episode, for datasets whose
    /// [episodes end in similar states](isochrone_data::end_alike).
    const ROWS_PER_DEMONSTRATION: usize = 1;
    /// The default inverse temperature of [advantages](crate::distill::policy::Advantages), per
    /// step of the learned distance. It has to fit that distance: steps of a contrastive distance
    /// scatter widely, so that a large value would select their errors.
    const ADVANTAGE_ALPHA: f64 = 0.03;

    /// The settings of a preset.
    fn preset(preset: Preset) -> Self::Config;

    /// Builds the learner in its state before the first update.
    ///
    /// # Errors
    /// If a setting is out of range, or the dataset lacks what the algorithm needs.
    fn new(config: Self::Config, context: &LearnerContext) -> Result<Self, ConfigError>;
}

/// A handle to an algorithm: constants such as `Algorithm::Cmd1` for the algorithms of this crate,
/// [`Algorithm::of`] for others.
#[derive(Clone, Copy)]
pub struct Algorithm(&'static Definition);

/// A type-erased [`AlgorithmDef`].
struct Definition {
    name: &'static str,
    idea: &'static str,
    paper: &'static str,
    needs_actions: bool,
    rows_per_demonstration: usize,
    advantage_alpha: f64,
    preset: fn(Preset) -> Table,
    complete: fn(Table) -> Result<Table, ConfigError>,
    init: Init,
}

type Init = fn(Table, &LearnerContext) -> Result<Box<dyn Learner>, ConfigError>;

impl Algorithm {
    /// Returns the handle of an algorithm of this or any other crate.
    pub const fn of<A: AlgorithmDef>() -> Self {
        let definition = const {
            &Definition {
                name: A::NAME,
                idea: A::IDEA,
                paper: A::PAPER,
                needs_actions: A::NEEDS_ACTIONS,
                rows_per_demonstration: A::ROWS_PER_DEMONSTRATION,
                advantage_alpha: A::ADVANTAGE_ALPHA,
                preset: |preset| settings::to_table(&A::preset(preset)).expect("presets are TOML"),
                complete: |table| settings::to_table(&settings::read_inside::<A::Config>(table, "learner")?),
                init: |table, context| Ok(Box::new(A::new(settings::read(table)?, context)?)),
            }
        };
        Self(definition)
    }

    /// The name of the algorithm in configuration files.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// A one-line description.
    pub const fn idea(self) -> &'static str {
        self.0.idea
    }

    /// The URL of the paper.
    pub const fn paper(self) -> &'static str {
        self.0.paper
    }

    /// Whether the algorithm requires actions.
    pub const fn needs_actions(self) -> bool {
        self.0.needs_actions
    }

    /// The default number of rows of a batch that come from the same episode, for datasets whose
    /// [episodes end in similar states](isochrone_data::end_alike).
    pub const fn rows_per_demonstration(self) -> usize {
        self.0.rows_per_demonstration
    }

    /// The default inverse temperature of [advantages](crate::distill::policy::Advantages), per
    /// step of the learned distance.
    pub const fn advantage_alpha(self) -> f64 {
        self.0.advantage_alpha
    }

    /// Returns the algorithm with the settings of a preset.
    pub fn preset(self, preset: Preset) -> LearnerConfig {
        LearnerConfig { algorithm: self, settings: (self.0.preset)(preset) }
    }
}

/// Algorithms are compared by name; names are unique.
impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Algorithm {}

impl fmt::Debug for Algorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// An algorithm and its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerConfig {
    algorithm: Algorithm,
    settings: Table,
}

impl LearnerConfig {
    /// The key of the algorithm's name in a configuration file.
    pub(crate) const ALGORITHM: &'static str = "algorithm";

    /// Reads the settings of an algorithm from a table; missing settings get their serde default,
    /// if there is one.
    ///
    /// # Errors
    /// If a setting is missing, unknown or has the wrong type.
    pub fn from_table(algorithm: Algorithm, table: Table) -> Result<Self, ConfigError> {
        Ok(Self { algorithm, settings: (algorithm.0.complete)(table)? })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// All settings.
    pub fn settings(&self) -> &Table {
        &self.settings
    }

    /// Returns a setting by its dotted name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        settings::get(&self.settings, name)
    }

    /// Returns the same configuration with one setting changed.
    ///
    /// # Errors
    /// If the setting does not exist or has another type.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Result<Self, ConfigError> {
        settings::set(&mut self.settings, name, value.into());
        Self::from_table(self.algorithm, self.settings)
    }

    /// Builds the learner in its state before the first update.
    ///
    /// # Errors
    /// If a setting is out of range, or the dataset lacks what the algorithm needs.
    pub fn init(&self, context: &LearnerContext) -> Result<Box<dyn Learner>, ConfigError> {
        let Definition { name, needs_actions, init, .. } = self.algorithm.0;
        if *needs_actions && !context.has_actions() {
            let problem = "requires actions, and the dataset has none";
            let hint = "name the action columns, or use an algorithm that does not require actions";
            let error = ConfigError::new("learner.algorithm", name, problem, hint);
            return Err(error.of_kind(ConfigErrorKind::Unsupported));
        }
        init(self.settings.clone(), context).map_err(|error| {
            // Configuration files flatten the settings of hidden layers into those of the network.
            let plain = |text: String| text.replace("encoder.", "").replace("trunk.", "");
            ConfigError { field: plain(error.field), hint: plain(error.hint), ..error }.inside("learner")
        })
    }
}

/// Serializes as the settings of the algorithm with its name among them.
impl Serialize for LearnerConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.settings.len()))?;
        map.serialize_entry(Self::ALGORITHM, self.algorithm.name())?;
        self.settings.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}
