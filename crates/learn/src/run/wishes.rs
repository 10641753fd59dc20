//! From what the user says to a whole configuration.

use super::{DataConfig, RunConfig, overrides};
use crate::{
    algos::Algorithm,
    error::{ConfigError, LearnError},
    parts::Size,
};
use isochrone_data::{EpisodeIndex, formats::Extras};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What the user says, from weak to strong: defaults for the data, a file, overrides.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Contents of a configuration file, and where it is.
    pub file: Option<(PathBuf, Table)>,
    /// Dotted names and values.
    pub overrides: Vec<(String, Value)>,
    /// The algorithm, whatever the others say.
    pub algorithm: Option<Algorithm>,
    /// How large networks are unless said otherwise.
    pub size: Size,
}

/// Settled by [`Wishes::algorithm`], since its name may say more than the tag in a file.
const ALGORITHM: &str = "learner.algorithm";

/// Settings that mean the same to every algorithm that has them.
const COMMON: [&str; 8] = [
    "width",
    "depth",
    "activation",
    "normalisation",
    "latent",
    "learning_rate",
    "schedule",
    "largest_gradient",
];

impl Wishes {
    /// What is learned from, as far as it must be known to read it: absolute paths; nothing if nobody said where. Paths of a file are relative to the file.
    ///
    /// # Errors
    /// If a setting is unknown or has the wrong type.
    pub fn data(&self) -> Result<Option<DataConfig>, LearnError> {
        let said: Vec<(String, Value)> = self
            .said()?
            .into_iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("data.")?.to_owned(), value)))
            .collect();
        if !said.iter().any(|(name, _)| name == "path") {
            return Ok(None);
        }
        let mut table = to_table(&DataConfig::default())?;
        said.into_iter().for_each(|(name, value)| overrides::set(&mut table, &name, value));
        let mut data: DataConfig = overrides::read(table).map_err(|error| error.inside("data"))?;
        data.path = self.absolute("data.path", &data.path)?;
        data.validation = data.validation.map(|path| self.absolute("data.validation", &path)).transpose()?;
        // Nothing is learned from further columns.
        data.read.extras = Extras::Named(Vec::new());
        Ok(Some(data))
    }

    /// The whole configuration for these data.
    ///
    /// # Errors
    /// If a setting is unknown, has the wrong type or an impossible value; the error has its dotted name.
    pub fn resolve(&self, data: DataConfig, index: &EpisodeIndex) -> Result<RunConfig, LearnError> {
        let said: Vec<(String, Value)> =
            self.said()?.into_iter().filter(|(name, _)| !name.starts_with("data.")).collect();
        let steps =
            said.iter().rev().find(|(name, _)| name == "steps").and_then(|(_, value)| value.as_integer());
        let steps = steps.map_or(RunConfig::USUAL_STEPS, |steps| u64::try_from(steps).unwrap_or(0));
        let defaults =
            to_table(&RunConfig::for_data(self.algorithm()?.preset(self.size), data, steps, index))?;
        let mut table = defaults.clone();
        said.iter().for_each(|(name, value)| overrides::set(&mut table, name, value.clone()));
        let config =
            overrides::read::<RunConfig>(table).map_err(|error| self.blame(error, &said, &defaults))?;
        config.check()?;
        Ok(config)
    }

    /// Every setting that was said, from weak to strong, and choices of variants before what belongs to the variant.
    fn said(&self) -> Result<Vec<(String, Value)>, LearnError> {
        let algorithm = self.algorithm()?;
        let mut file = self.file.as_ref().map_or_else(Vec::new, |(_, file)| overrides::leaves(file));
        // What a file says of one algorithm means nothing to another, but for the sizes of networks and how they are moved.
        if self.algorithm_of_file()?.is_some_and(|of_file| of_file != algorithm) {
            let preset = to_table(&algorithm.preset(self.size))?;
            file.retain(|(name, _)| match name.strip_prefix("learner.") {
                None => true,
                Some(inner) => {
                    let last = inner.rsplit('.').next().unwrap_or(inner);
                    COMMON.contains(&last) && overrides::get(&preset, inner).is_some()
                }
            });
        }
        let mut said = Vec::new();
        for mut level in [file, self.overrides.clone()] {
            level.retain(|(name, _)| name != ALGORITHM);
            let is_choice = |name: &str| name == "kind" || name.ends_with(".kind");
            level.sort_by_key(|(name, _)| !is_choice(name));
            said.extend(level);
        }
        Ok(said)
    }

    fn algorithm(&self) -> Result<Algorithm, LearnError> {
        if let Some(algorithm) = self.algorithm {
            return Ok(algorithm);
        }
        let said =
            |name: &str| self.overrides.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value);
        let of_overrides = algorithm_of(said(ALGORITHM), said("learner.loss.kind"))?;
        Ok(of_overrides.or(self.algorithm_of_file()?).unwrap_or(Algorithm::Cmd1))
    }

    fn algorithm_of_file(&self) -> Result<Option<Algorithm>, LearnError> {
        let Some((_, file)) = &self.file else { return Ok(None) };
        algorithm_of(overrides::get(file, ALGORITHM), overrides::get(file, "learner.loss.kind"))
    }

    fn absolute(&self, name: &str, path: &Path) -> Result<PathBuf, LearnError> {
        let is_overridden = self.overrides.iter().any(|(known, _)| known == name);
        let folder = self.file.as_ref().filter(|_| !is_overridden).and_then(|(file, _)| file.parent());
        let path = folder.map_or_else(|| path.to_owned(), |folder| folder.join(path));
        std::path::absolute(&path).map_err(|error| LearnError::read(&path, error))
    }

    /// An error of the whole as one of the setting that causes it, found by trying each alone; and of the file, if it is from there.
    fn blame(&self, error: ConfigError, said: &[(String, Value)], defaults: &Table) -> LearnError {
        let mut alone = said.iter().filter_map(|(name, value)| {
            let mut table = defaults.clone();
            overrides::set(&mut table, name, value.clone());
            let error = overrides::read::<RunConfig>(table).err()?;
            Some(ConfigError { field: name.clone(), value: value.to_string(), ..error })
        });
        let error = alone.next().unwrap_or(error);
        let is_overridden = self.overrides.iter().any(|(name, _)| *name == error.field);
        match &self.file {
            Some((path, file)) if !is_overridden && overrides::get(file, &error.field).is_some() => {
                let problem = format!("{} = {}: {}", error.field, error.value, error.problem);
                LearnError::malformed(path, problem, error.hint)
            }
            _ => error.into(),
        }
    }
}

/// The algorithm of this name; `crl` is the tag of two, which the kind of their loss tells apart.
fn algorithm_of(name: Option<&Value>, loss: Option<&Value>) -> Result<Option<Algorithm>, LearnError> {
    let Some(name) = name else { return Ok(None) };
    let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    let of_tag = match (name.as_str(), loss.and_then(Value::as_str)) {
        ("crl", Some("cpc")) => Some(Algorithm::CrlCpc),
        ("crl", _) => Some(Algorithm::CrlNce),
        _ => None,
    };
    let found = of_tag.or(Algorithm::named(&name));
    found.map(Some).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
        ConfigError::new(ALGORITHM, name, "is not an algorithm", format!("one of {}", names.join(", ")))
            .into()
    })
}

/// Fails only on a path that is not text.
fn to_table(settings: &impl serde::Serialize) -> Result<Table, ConfigError> {
    Table::try_from(settings)
        .map_err(|error| ConfigError::new("data.path", "", &error.to_string(), "give paths that are text"))
}
