//! From what the user sets to a whole configuration.

use super::{DataConfig, RunConfig, config::algorithm_named};
use crate::{
    algorithm::{Algorithm, LearnerConfig},
    components::Preset,
    error::{ConfigError, LearnError},
    settings,
};
use isochrone_data::{Dataset, formats::Extras};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What the user sets, from weak to strong: defaults that fit the data, a file, assignments.
#[derive(Debug, Clone, Default)]
pub struct ConfigBuilder {
    /// A whole configuration in the place of defaults.
    pub base: Option<RunConfig>,
    /// Contents of a configuration file, and where it is.
    pub file: Option<(PathBuf, Table)>,
    /// Dotted names and values; those that are optional count only if the algorithm has the setting.
    pub assignments: Vec<Assignment>,
    /// The algorithm, whatever the others say.
    pub algorithm: Option<Algorithm>,
    /// Network sizes, unless they are set otherwise.
    pub preset: Preset,
}

/// A dotted name and its value.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// With or without `learner.`.
    pub name: String,
    /// What it is set to.
    pub value: Value,
    /// Whether it is left out where the algorithm has no such setting.
    pub is_optional: bool,
}

/// The setting that chooses the algorithm.
const ALGORITHM: &str = "learner.algorithm";

/// Settings that mean the same to every algorithm that has them.
const COMMON: [&str; 8] =
    ["width", "depth", "activation", "normalization", "latent", "learning_rate", "schedule", "max_grad_norm"];

impl ConfigBuilder {
    /// Where the data are and how they are read, with absolute paths; `None` if no path is set. Paths of a file are relative
    /// to the file.
    pub fn data(&self) -> Result<Option<DataConfig>, LearnError> {
        Ok(Some(self.data_in_memory()?).filter(|data| !data.path.as_os_str().is_empty()))
    }

    /// Likewise, where the data need no path.
    pub fn data_in_memory(&self) -> Result<DataConfig, LearnError> {
        let mut table = settings::to_table(&DataConfig::default())?;
        for (name, value) in self.file_settings()?.into_iter().chain(self.plain_assignments()) {
            if let Some(name) = name.strip_prefix("data.") {
                settings::set(&mut table, name, value);
            }
        }
        let mut data: DataConfig = settings::read(table).map_err(|error| error.inside("data"))?;
        if !data.path.as_os_str().is_empty() {
            data.path = self.absolute("data.path", &data.path)?;
        }
        data.validation = data.validation.map(|path| self.absolute("data.validation", &path)).transpose()?;
        // Nothing is learned from further columns.
        data.read.extras = Extras::Named(Vec::new());
        Ok(data)
    }

    /// The whole configuration for these data; errors have the dotted name of the setting.
    pub fn resolve(&self, data: DataConfig, dataset: &Dataset) -> Result<RunConfig, LearnError> {
        let algorithm = self.algorithm()?;
        let from_file: Vec<(String, Value)> =
            self.file_settings()?.into_iter().filter(|(name, _)| !is_of_data(name)).collect();
        let is_steps = |(name, _): &&(String, Value)| name == "steps";
        let plain: Vec<(String, Value)> = self.plain_assignments().collect();
        let steps = plain.iter().rev().find(is_steps).or(from_file.iter().find(is_steps));
        let steps = match steps.map(|(_, value)| value) {
            Some(Value::Float(float)) => settings::whole(*float).as_integer(),
            value => value.and_then(Value::as_integer),
        };
        let steps = steps.map_or(RunConfig::DEFAULT_STEPS, |steps| u64::try_from(steps).unwrap_or(0));
        let defaults = match &self.base {
            Some(base) => base.clone(),
            None => RunConfig::for_data(algorithm.preset(self.preset), data, steps, dataset),
        };
        let defaults = settings::to_table(&defaults)?;
        let assigned = self.assigned(&defaults)?;
        let mut table = defaults.clone();
        let all = || from_file.iter().chain(&assigned);
        all().for_each(|(name, value)| settings::set(&mut table, name, value.clone()));
        let config = RunConfig::from_table(table, &[algorithm]).map_err(|error| {
            let error = attribute_error(error, all(), &defaults, algorithm);
            self.locate_error(error, &assigned)
        })?;
        config.check()?;
        Ok(config)
    }

    /// The settings of the file that mean something to the algorithm, choices of variants before what belongs to them.
    fn file_settings(&self) -> Result<Vec<(String, Value)>, LearnError> {
        let Some((_, file)) = &self.file else { return Ok(Vec::new()) };
        let mut leaves = settings::leaves(file);
        let algorithm = self.algorithm()?;
        // What a file sets for one algorithm means nothing to another, but for network sizes and optimizers.
        if self.algorithm_of_file()?.is_some_and(|of_file| of_file != algorithm) {
            let preset = algorithm.preset(self.preset);
            let ends_alike = |name: &str| name.rsplit('.').next().is_some_and(|last| COMMON.contains(&last));
            let is_common = |name: &str| ends_alike(name) && preset.get(name).is_some();
            leaves.retain(|(name, _)| name.strip_prefix("learner.").is_none_or(is_common));
        }
        leaves.retain(|(name, _)| name != ALGORITHM);
        kinds_first(&mut leaves);
        Ok(leaves)
    }

    /// The assignments by their whole names.
    fn assigned(&self, defaults: &Table) -> Result<Vec<(String, Value)>, ConfigError> {
        let learner = defaults.get("learner").and_then(Value::as_table);
        let mut assigned = Vec::new();
        for Assignment { name, value, is_optional } in &self.assignments {
            if name == ALGORITHM || name == LearnerConfig::ALGORITHM || is_of_data(name) {
                continue;
            }
            let first = name.split('.').next().unwrap_or(name);
            let whole = match learner.is_some_and(|learner| learner.contains_key(first)) {
                true if !defaults.contains_key(first) => format!("learner.{name}"),
                _ => name.clone(),
            };
            if *is_optional && settings::get(defaults, &whole).is_none() {
                continue;
            }
            let first = whole.split('.').next().unwrap_or(&whole);
            if !defaults.contains_key(first) {
                return Err(settings::unknown(name, value, defaults));
            }
            assigned.push((whole, value.clone()));
        }
        kinds_first(&mut assigned);
        Ok(assigned)
    }

    /// All assignments that count whatever the algorithm is.
    fn plain_assignments(&self) -> impl Iterator<Item = (String, Value)> {
        let plain = self.assignments.iter().filter(|assignment| !assignment.is_optional);
        plain.map(|Assignment { name, value, .. }| (name.clone(), value.clone()))
    }

    /// The algorithm that is set; CMD-1 if none is.
    fn algorithm(&self) -> Result<Algorithm, LearnError> {
        let of_base = || self.base.as_ref().map(|base| base.learner.algorithm());
        if let Some(algorithm) = self.algorithm.or_else(of_base) {
            return Ok(algorithm);
        }
        let named = |(name, _): &(String, Value)| name == ALGORITHM || name == LearnerConfig::ALGORITHM;
        match self.plain_assignments().filter(named).last() {
            Some((_, value)) => Ok(algorithm_named(Some(value), &[])?),
            None => Ok(self.algorithm_of_file()?.unwrap_or(Algorithm::Cmd1)),
        }
    }

    fn algorithm_of_file(&self) -> Result<Option<Algorithm>, LearnError> {
        let name = self.file.as_ref().and_then(|(_, file)| settings::get(file, ALGORITHM));
        let others: Vec<Algorithm> = self.algorithm.into_iter().collect();
        Ok(name.map(|name| algorithm_named(Some(name.clone()), &others)).transpose()?)
    }

    fn absolute(&self, name: &str, path: &Path) -> Result<PathBuf, LearnError> {
        let is_assigned = self.assignments.iter().any(|assignment| assignment.name == name);
        let folder = self.file.as_ref().filter(|_| !is_assigned).and_then(|(file, _)| file.parent());
        let path = folder.map_or_else(|| path.to_owned(), |folder| folder.join(path));
        std::path::absolute(&path).map_err(|error| LearnError::read(&path, error))
    }

    /// The error of a setting as one of the file, if it is from there.
    fn locate_error(&self, error: ConfigError, assigned: &[(String, Value)]) -> LearnError {
        let is_assigned = assigned.iter().any(|(name, _)| *name == error.field);
        match &self.file {
            Some((path, file)) if !is_assigned && settings::get(file, &error.field).is_some() => {
                let problem = format!("{} = {}: {}", error.field, error.value, error.problem);
                LearnError::malformed(path, problem, error.hint)
            }
            _ => error.into(),
        }
    }
}

/// Whether a setting is one of [`ConfigBuilder::data`], which makes paths absolute.
fn is_of_data(name: &str) -> bool {
    name.starts_with("data.") && name != "data.scaling"
}

/// Choices of variants before what belongs to the variant: the order in which settings are given does not matter.
fn kinds_first(assignments: &mut [(String, Value)]) {
    assignments.sort_by_key(|(name, _)| name != "kind" && !name.ends_with(".kind"));
}

/// An error of the whole as one of the setting that causes it, found by trying each alone.
fn attribute_error<'a>(
    error: ConfigError,
    assigned: impl Iterator<Item = &'a (String, Value)>,
    defaults: &Table,
    algorithm: Algorithm,
) -> ConfigError {
    let mut alone = assigned.filter_map(|(name, value)| {
        let mut table = defaults.clone();
        settings::set(&mut table, name, value.clone());
        let error = RunConfig::from_table(table, &[algorithm]).err()?;
        Some(ConfigError { field: name.clone(), value: value.to_string(), ..error })
    });
    alone.next().unwrap_or(error)
}
