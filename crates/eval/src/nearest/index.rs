//! An index over the latent rows of recorded states.

use super::{
    Direction, IndexConfig, NearestError, Neighbor, States, neighbor::nearest_first, saved, shard::Shard,
};
use isochrone_core::{LatentDistance, LatentMetric};
use rayon::prelude::*;
use std::{path::Path, sync::Arc};

/// The number of states that are embedded at a time.
const CHUNK: usize = 2048;

/// An index over the latent rows of recorded states, which finds most of the nearest rows in either
/// direction without comparing all of them. It is the same for any number of threads.
pub struct NearestIndex {
    config: IndexConfig,
    metric: Arc<dyn LatentMetric>,
    shards: Vec<Shard>,
}

impl NearestIndex {
    /// Builds the index of all states. `progress` is called with the number of rows that were added
    /// since the last call, from several threads.
    ///
    /// # Errors
    /// If a setting is zero or memory is exhausted.
    pub fn build(
        distance: &dyn LatentDistance,
        states: &dyn States,
        config: IndexConfig,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Self, NearestError> {
        check(&config)?;
        let (n, metric) = (states.n_states(), distance.metric());
        let starts: Vec<usize> = (0..n).step_by(config.shard_rows).collect();
        let shards = starts.into_par_iter().map(|start| {
            let rows = config.shard_rows.min(n - start);
            let shard = Shard::new(metric.clone(), &config, rows)?;
            for first in (0..rows).step_by(CHUNK) {
                let chunk = first..rows.min(first + CHUNK);
                let latent = distance.embed(&states.states(start + chunk.start..start + chunk.end));
                for (row, latent) in chunk.clone().zip(latent.chunks_exact(metric.width())) {
                    shard.add(row as u64, latent)?;
                }
                progress(chunk.len());
            }
            shard.ready()?;
            Ok(shard)
        });
        let shards = shards.collect::<Result<_, _>>()?;
        Ok(Self { config, metric, shards })
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// Returns the `k` rows nearest to a latent row that the search finds, nearest first.
    ///
    /// # Panics
    /// If the query does not have the width of a latent row, or memory is exhausted.
    pub fn nearest(&self, query: &[f32], direction: Direction, k: usize) -> Vec<Neighbor> {
        assert_eq!(query.len(), self.metric.width(), "the query is a latent row");
        let shards = self.shards.iter().zip((0..).step_by(self.config.shard_rows));
        let found = shards.flat_map(|(shard, start)| {
            let found = shard.candidates(query, direction, k).unwrap_or_else(|error| panic!("{error}"));
            found.into_iter().map(move |found| Neighbor { row: found.row + start, ..found })
        });
        nearest_first(found.collect(), k)
    }

    /// Writes the index into a folder, atomically; replaces an index that is there. `fingerprint`
    /// identifies what the index was built from.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&self, folder: &Path, fingerprint: &str) -> Result<(), NearestError> {
        saved::write(folder, fingerprint, &self.config, self.metric.width(), &self.shards)
    }

    /// Maps an index that was saved with the same fingerprint and settings; `None` if there is
    /// none.
    ///
    /// # Errors
    /// If a file cannot be read or is corrupt.
    pub fn open(
        folder: &Path,
        fingerprint: &str,
        metric: Arc<dyn LatentMetric>,
        config: IndexConfig,
    ) -> Result<Option<Self>, NearestError> {
        check(&config)?;
        let shards = saved::read(folder, fingerprint, &config, &metric)?;
        Ok(shards.map(|shards| Self { config, metric, shards }))
    }
}

fn check(config: &IndexConfig) -> Result<(), NearestError> {
    let IndexConfig { shard_rows, connectivity, expansion_add, expansion_search } = *config;
    let settings = [
        ("shard_rows", shard_rows),
        ("connectivity", connectivity),
        ("expansion_add", expansion_add),
        ("expansion_search", expansion_search),
    ];
    match settings.into_iter().find(|(_, value)| *value == 0) {
        Some((field, _)) => Err(NearestError::Setting { field }),
        None => Ok(()),
    }
}
