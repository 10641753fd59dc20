//! The runs of a study, and how they are divided among machines.

use crate::{
    error::StudyError,
    recipe::{Recipe, VariantRecipe},
};
use isochrone_learn::{Algorithm, Preset, settings};
use std::{fmt, path::PathBuf, str::FromStr};
use toml::Table;

/// One run of a study.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The name of the dataset.
    pub dataset: &'a str,
    /// The algorithm to train.
    pub method: Algorithm,
    /// The variant of the settings; `None` for the settings of the recipe itself.
    pub variant: Option<&'a VariantRecipe>,
    /// The seed of the run.
    pub seed: u64,
}

impl Job<'_> {
    /// Returns the folder of the run inside the folder of the study.
    pub fn folder(&self) -> PathBuf {
        let variant = self.variant.map_or_else(String::new, |variant| format!("-{:08x}", variant.hash()));
        ["runs", self.dataset, &format!("{}{variant}-{}", self.method.name(), self.seed)].iter().collect()
    }
}

/// Returns the runs of a recipe or of a part of it, by dataset, method, variant and seed. A variant
/// that does not change a method is left out.
pub fn jobs<'a>(recipe: &'a Recipe, part: &Part) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for dataset in recipe.datasets.keys().filter(|name| part.has_dataset(name)) {
        for method in recipe.methods() {
            let changed = recipe.variants.iter().filter(|variant| is_changed_by(recipe, method, variant));
            for variant in std::iter::once(None).chain(changed.map(Some)) {
                let seeds = recipe.first_seed..recipe.first_seed + recipe.seeds;
                jobs.extend(seeds.map(|seed| Job { dataset, method, variant, seed }));
            }
        }
    }
    // Each shard takes one of `count` consecutive jobs, so that the seeds of a method are spread
    // over shards.
    let Shard { index, count } = part.shard.unwrap_or(Shard { index: 0, count: 1 });
    jobs.into_iter().skip(index).step_by(count).collect()
}

/// Whether a variant changes a setting that a method has.
fn is_changed_by(recipe: &Recipe, method: Algorithm, variant: &VariantRecipe) -> bool {
    // Overrides settings of the learner; settings for all methods apply only if this method has
    // them.
    let apply = |over: &mut Table, changes: &Table, is_for_all: bool| {
        for (name, value) in changes {
            if let Some(name) = name.strip_prefix("learner.")
                && (!is_for_all || settings::get(over, name).is_some())
            {
                settings::set(over, name, value.clone());
            }
        }
    };
    let mut before = method.preset(Preset::Small).settings().clone();
    apply(&mut before, &recipe.settings, true);
    apply(&mut before, &recipe.methods[method.name()].settings, false);
    let mut after = before.clone();
    apply(&mut after, &variant.settings, true);
    let is_changed = after != before || variant.settings.keys().any(|name| !name.starts_with("learner."));
    is_changed && !variant.except.iter().any(|name| name == method.name())
}

/// A part of a study, to be merged with others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The datasets; all if empty.
    pub datasets: Vec<String>,
    /// One of several shards of the runs of these datasets.
    pub shard: Option<Shard>,
}

impl Part {
    /// Whether it is the complete study.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    fn has_dataset(&self, name: &str) -> bool {
        self.datasets.is_empty() || self.datasets.iter().any(|known| known == name)
    }

    /// Checks that a recipe has the datasets.
    ///
    /// # Errors
    /// If it does not have one of them.
    pub fn check(&self, recipe: &Recipe) -> Result<(), StudyError> {
        match self.datasets.iter().find(|name| !recipe.datasets.contains_key(*name)) {
            None => Ok(()),
            Some(unknown) => Err(StudyError::UnknownDataset {
                dataset: unknown.clone(),
                known: recipe.datasets.keys().cloned().collect(),
            }),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shard = self.shard.map(|shard| format!("shard {shard}"));
        let datasets = (!self.datasets.is_empty()).then(|| self.datasets.join(", "));
        f.write_str(&shard.into_iter().chain(datasets).collect::<Vec<_>>().join(" of "))
    }
}

impl From<Shard> for Part {
    fn from(shard: Shard) -> Self {
        Self { shard: Some(shard), ..Self::default() }
    }
}

/// One of several shards of a study. Every shard has about the same number of runs of each dataset
/// and method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = StudyError;

    fn from_str(text: &str) -> Result<Self, StudyError> {
        let parse = || {
            let (index, count) = text.split_once('/')?;
            let (index, count): (usize, usize) = (index.parse().ok()?, count.parse().ok()?);
            (1..=count).contains(&index).then(|| Self { index: index - 1, count })
        };
        parse().ok_or_else(|| StudyError::Shard(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}
