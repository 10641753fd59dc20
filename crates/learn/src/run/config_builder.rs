//! Builds a complete configuration from what the user sets.

use super::{DataConfig, RunConfig, config::algorithm_named};
use crate::{
    algorithm::{Algorithm, LearnerConfig},
    components::Preset,
    error::{ConfigError, LearnError},
    setting_info::is_run_setting,
    settings,
};
use isochrone_data::{Dataset, formats::Extras, remote::DatasetUrl};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What the user sets, in order of increasing precedence: defaults for the dataset, a file,
/// assignments.
#[derive(Debug, Clone, Default)]
pub struct ConfigBuilder {
    /// A complete configuration that replaces the defaults.
    pub base: Option<RunConfig>,
    /// The path and the contents of a configuration file.
    pub file: Option<(PathBuf, Table)>,
    /// Dotted names and values; optional ones apply only if the algorithm has the setting.
    pub assignments: Vec<Assignment>,
    /// The algorithm, which takes precedence over all other sources.
    pub algorithm: Option<Algorithm>,
    /// The network size preset, which individual settings override.
    pub preset: Preset,
}

/// A dotted name and its value.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The dotted name, with or without the prefix `learner.`.
    pub name: String,
    /// The value.
    pub value: Value,
    /// Whether it is ignored if the algorithm has no such setting.
    pub is_optional: bool,
}

/// The setting that selects the algorithm.
const ALGORITHM: &str = "learner.algorithm";

/// Settings with the same meaning for every algorithm that has them.
const COMMON: [&str; 8] =
    ["width", "depth", "activation", "normalization", "latent", "learning_rate", "schedule", "max_grad_norm"];

impl ConfigBuilder {
    /// Returns the source of the data with absolute paths; `None` if no path is set. Paths in a
    /// file are relative to the file.
    pub fn data(&self) -> Result<Option<DataConfig>, LearnError> {
        Ok(Some(self.data_in_memory()?).filter(|data| !data.path.as_os_str().is_empty()))
    }

    /// Like [`data`](Self::data), for data in memory, which need no path.
    pub fn data_in_memory(&self) -> Result<DataConfig, LearnError> {
        let mut table = settings::to_table(&DataConfig::default())?;
        for (name, value) in self.file_settings()?.into_iter().chain(self.required_assignments()) {
            if let Some(name) = name.strip_prefix("data.") {
                settings::set(&mut table, name, value);
            }
        }
        let mut data: DataConfig = settings::read(table).map_err(|error| error.inside("data"))?;
        if !data.path.as_os_str().is_empty() {
            data.path = self.absolute("data.path", &data.path)?;
        }
        data.validation = data.validation.map(|path| self.absolute("data.validation", &path)).transpose()?;
        for embedding in &mut data.read.embeddings {
            embedding.path = self.absolute("data.read.embeddings", &embedding.path)?;
        }
        // Training uses no further columns.
        data.read.extras = Extras::Named(Vec::new());
        Ok(data)
    }

    /// Returns the complete configuration for a dataset; errors have the dotted name of the
    /// setting.
    pub fn resolve(&self, data: DataConfig, dataset: &Dataset) -> Result<RunConfig, LearnError> {
        let algorithm = self.algorithm()?;
        let from_file: Vec<(String, Value)> =
            self.file_settings()?.into_iter().filter(|(name, _)| !is_of_data(name)).collect();
        let is_steps = |(name, _): &&(String, Value)| name == "steps";
        let required: Vec<(String, Value)> = self.required_assignments().collect();
        let steps = required.iter().rev().find(is_steps).or(from_file.iter().find(is_steps));
        let steps = match steps.map(|(_, value)| value) {
            Some(Value::Float(float)) => settings::integer_if_exact(*float).as_integer(),
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

    /// Returns the settings of the file that apply to the algorithm; the kind of a variant comes
    /// before its settings.
    fn file_settings(&self) -> Result<Vec<(String, Value)>, LearnError> {
        let Some((_, file)) = &self.file else { return Ok(Vec::new()) };
        let mut leaves = settings::leaves(file);
        let algorithm = self.algorithm()?;
        // Only network sizes and optimizer settings of a file apply to another algorithm.
        if self.algorithm_of_file()?.is_some_and(|of_file| of_file != algorithm) {
            let preset = algorithm.preset(self.preset);
            let is_listed = |name: &str| name.rsplit('.').next().is_some_and(|last| COMMON.contains(&last));
            let is_common = |name: &str| is_listed(name) && preset.get(name).is_some();
            leaves.retain(|(name, _)| name.strip_prefix("learner.").is_none_or(is_common));
        }
        leaves.retain(|(name, _)| name != ALGORITHM);
        kinds_first(&mut leaves);
        Ok(leaves)
    }

    /// Returns the assignments with their full names.
    fn assigned(&self, defaults: &Table) -> Result<Vec<(String, Value)>, ConfigError> {
        let learner = defaults.get("learner").and_then(Value::as_table);
        let mut assigned = Vec::new();
        for Assignment { name, value, is_optional } in &self.assignments {
            if name == ALGORITHM || name == LearnerConfig::ALGORITHM || is_of_data(name) {
                continue;
            }
            let first = name.split('.').next().unwrap_or(name);
            let full = match learner.is_some_and(|learner| learner.contains_key(first)) {
                true if !defaults.contains_key(first) => format!("learner.{name}"),
                _ => name.clone(),
            };
            if *is_optional && settings::get(defaults, &full).is_none() {
                continue;
            }
            let first = full.split('.').next().unwrap_or(&full);
            if !defaults.contains_key(first) && !is_run_setting(first) {
                return Err(settings::unknown(name, value, defaults));
            }
            assigned.push((full, value.clone()));
        }
        kinds_first(&mut assigned);
        Ok(assigned)
    }

    /// Returns the assignments that are not optional.
    fn required_assignments(&self) -> impl Iterator<Item = (String, Value)> {
        let required = self.assignments.iter().filter(|assignment| !assignment.is_optional);
        required.map(|Assignment { name, value, .. }| (name.clone(), value.clone()))
    }

    /// Returns the algorithm that is set; CMD-1 by default.
    fn algorithm(&self) -> Result<Algorithm, LearnError> {
        let of_base = || self.base.as_ref().map(|base| base.learner.algorithm());
        if let Some(algorithm) = self.algorithm.or_else(of_base) {
            return Ok(algorithm);
        }
        let named = |(name, _): &(String, Value)| name == ALGORITHM || name == LearnerConfig::ALGORITHM;
        match self.required_assignments().filter(named).last() {
            Some((_, value)) => Ok(algorithm_named(Some(value), &[])?),
            None => Ok(self.algorithm_of_file()?.unwrap_or(Algorithm::Cmd1)),
        }
    }

    fn algorithm_of_file(&self) -> Result<Option<Algorithm>, LearnError> {
        let name = self.file.as_ref().and_then(|(_, file)| settings::get(file, ALGORITHM));
        let others: Vec<Algorithm> = self.algorithm.into_iter().collect();
        Ok(name.map(|name| algorithm_named(Some(name.clone()), &others)).transpose()?)
    }

    /// Returns the absolute path of a local file; addresses are absolute already.
    fn absolute(&self, name: &str, path: &Path) -> Result<PathBuf, LearnError> {
        if DatasetUrl::is_url(path) {
            return Ok(path.to_owned());
        }
        let is_assigned = self.assignments.iter().any(|assignment| assignment.name == name);
        let folder = self.file.as_ref().filter(|_| !is_assigned).and_then(|(file, _)| file.parent());
        let path = folder.map_or_else(|| path.to_owned(), |folder| folder.join(path));
        std::path::absolute(&path).map_err(|error| LearnError::read(&path, error))
    }

    /// Attributes the error of a setting to the file if the setting comes from there.
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

/// Whether a setting belongs to [`ConfigBuilder::data`], which makes paths absolute.
fn is_of_data(name: &str) -> bool {
    name.starts_with("data.") && name != "data.scaling"
}

/// Sorts the kind of a variant before its settings, so that the order of assignments does not
/// matter.
fn kinds_first(assignments: &mut [(String, Value)]) {
    assignments.sort_by_key(|(name, _)| name != "kind" && !name.ends_with(".kind"));
}

/// Attributes an error of the configuration to the setting that causes it, found by applying each
/// alone.
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
