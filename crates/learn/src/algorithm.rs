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

/// A learner with a name and settings: all that the trainer, the command line and the documentation need.
///
/// Algorithms of this crate and of others are defined alike; [`Algorithm::of`] makes the handle that
/// [`Training`](crate::Training) takes.
pub trait AlgorithmDef: Learner + Sized + 'static {
    /// Its settings. Tables of settings are read and written with serde.
    type Config: Serialize + DeserializeOwned;

    /// Name, as in configuration files.
    const NAME: &'static str;
    /// What it does, in a line.
    const IDEA: &'static str;
    /// Where it was published.
    const PAPER: &'static str;
    /// Whether it cannot learn from states alone.
    const NEEDS_ACTIONS: bool = false;
    /// Rows of a batch that are of the same episode, by default, where [episodes end alike](isochrone_data::end_alike).
    const ROWS_PER_DEMONSTRATION: usize = 1;

    /// The settings of a preset.
    fn preset(preset: Preset) -> Self::Config;

    /// The learner before its first update, if its settings are possible and the dataset has what it needs.
    fn new(config: Self::Config, context: &LearnerContext) -> Result<Self, ConfigError>;
}

/// A handle to an algorithm: `Algorithm::Cmd1` and its like for those of this crate, [`Algorithm::of`] for others.
#[derive(Clone, Copy)]
pub struct Algorithm(&'static Definition);

/// An [`AlgorithmDef`] without its type.
struct Definition {
    name: &'static str,
    idea: &'static str,
    paper: &'static str,
    needs_actions: bool,
    rows_per_demonstration: usize,
    preset: fn(Preset) -> Table,
    complete: fn(Table) -> Result<Table, ConfigError>,
    init: Init,
}

type Init = fn(Table, &LearnerContext) -> Result<Box<dyn Learner>, ConfigError>;

impl Algorithm {
    /// The handle of an algorithm, also of one that is defined elsewhere.
    pub const fn of<A: AlgorithmDef>() -> Self {
        let definition = const {
            &Definition {
                name: A::NAME,
                idea: A::IDEA,
                paper: A::PAPER,
                needs_actions: A::NEEDS_ACTIONS,
                rows_per_demonstration: A::ROWS_PER_DEMONSTRATION,
                preset: |preset| settings::to_table(&A::preset(preset)).expect("presets are TOML"),
                complete: |table| settings::to_table(&settings::read_inside::<A::Config>(table, "learner")?),
                init: |table, context| Ok(Box::new(A::new(settings::read(table)?, context)?)),
            }
        };
        Self(definition)
    }

    /// Its name, as in configuration files.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What it does, in a line.
    pub const fn idea(self) -> &'static str {
        self.0.idea
    }

    /// Where it was published.
    pub const fn paper(self) -> &'static str {
        self.0.paper
    }

    /// Whether it cannot learn from states alone.
    pub const fn needs_actions(self) -> bool {
        self.0.needs_actions
    }

    /// Rows of a batch that are of the same episode, by default, where [episodes end alike](isochrone_data::end_alike).
    pub const fn rows_per_demonstration(self) -> usize {
        self.0.rows_per_demonstration
    }

    /// Its settings at a preset.
    pub fn preset(self, preset: Preset) -> LearnerConfig {
        LearnerConfig { algorithm: self, settings: (self.0.preset)(preset) }
    }
}

/// Names are unique.
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
    /// The name of the algorithm among the settings of a file.
    pub(crate) const ALGORITHM: &'static str = "algorithm";

    /// The settings of an algorithm from a table; what it leaves out is filled in where serde has a default.
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

    /// A setting by its dotted name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        settings::get(&self.settings, name)
    }

    /// The same with one setting changed, if there is such a setting of this type.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Result<Self, ConfigError> {
        settings::set(&mut self.settings, name, value.into());
        Self::from_table(self.algorithm, self.settings)
    }

    /// The learner before its first update, if its settings are possible and the dataset has what it needs.
    pub fn init(&self, context: &LearnerContext) -> Result<Box<dyn Learner>, ConfigError> {
        let Definition { name, needs_actions, init, .. } = self.algorithm.0;
        if *needs_actions && !context.has_actions() {
            let problem = "learns from actions, and the data have none";
            let hint = "name the columns of actions, or use an algorithm that learns from states alone";
            let error = ConfigError::new("learner.algorithm", name, problem, hint);
            return Err(error.of_kind(ConfigErrorKind::Unsupported));
        }
        init(self.settings.clone(), context).map_err(|error| {
            // In files, hidden layers are settings of the network itself.
            let plain = |text: String| text.replace("encoder.", "").replace("trunk.", "");
            ConfigError { field: plain(error.field), hint: plain(error.hint), ..error }.inside("learner")
        })
    }
}

/// The name of the algorithm beside its settings.
impl Serialize for LearnerConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.settings.len()))?;
        map.serialize_entry(Self::ALGORITHM, self.algorithm.name())?;
        self.settings.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}
