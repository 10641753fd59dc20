//! The runs of a study, and how they are divided among machines.

use crate::{error::StudyError, recipe::Recipe, settings::is_changed_by};
use isochrone_learn::Algorithm;
use std::{fmt, path::PathBuf, str::FromStr};

/// One run of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job<'a> {
    /// Name of the dataset.
    pub dataset: &'a str,
    /// Algorithm to train.
    pub method: Algorithm,
    /// The variant of the settings, by its place in the recipe; `None` for the settings of the recipe itself.
    pub variant: Option<usize>,
    /// Seed of the run.
    pub seed: u64,
    /// Hash of the variant's settings, which names the folder of the run.
    variant_hash: Option<u32>,
}

impl Job<'_> {
    /// The folder of the run inside the folder of the study.
    pub fn folder(&self) -> PathBuf {
        let variant = self.variant_hash.map_or_else(String::new, |hash| format!("-{hash:08x}"));
        ["runs", self.dataset, &format!("{}{variant}-{}", self.method.name(), self.seed)].iter().collect()
    }
}

/// The runs of a recipe or of a shard of it, by dataset, method, variant and seed. A variant that changes nothing of a method is left out.
pub fn jobs(recipe: &Recipe, shard: Option<Shard>) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for dataset in recipe.datasets.keys() {
        for method in recipe.methods() {
            let changed = (0..recipe.variants.len())
                .filter(|&variant| is_changed_by(recipe, method, variant))
                .map(Some);
            for variant in std::iter::once(None).chain(changed) {
                let variant_hash = variant.map(|variant| recipe.variants[variant].hash());
                let seeds = recipe.first_seed..recipe.first_seed + recipe.seeds;
                jobs.extend(seeds.map(|seed| Job { dataset, method, variant, seed, variant_hash }));
            }
        }
    }
    // Of `count` jobs in a row, each shard has one: seeds of a method are spread over shards.
    let Shard { index, count } = shard.unwrap_or(Shard { index: 0, count: 1 });
    jobs.into_iter().skip(index).step_by(count).collect()
}

/// One of several parts of a study. Every part has about as many runs of each dataset and method.
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
