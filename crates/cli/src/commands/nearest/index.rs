//! The index of a run, stored in its directory.

use super::args::Args;
use crate::commands::{
    output::{bar, note},
    query::{DistanceArg, LoadedRun},
};
use isochrone::{
    LatentDistance, TemporalDistance,
    data::Dataset,
    learn::run::NEAREST_FOLDER,
    nearest::{IndexConfig, NearestIndex},
};

/// Datasets with fewer states are compared completely: that takes less time than reading an index.
const MIN_STATES: u64 = 20_000;

/// Returns the index of the run's training data, which is built if it is missing or of another
/// checkpoint; `None` if the query is answered by exact search.
pub fn of(
    args: &Args,
    loaded: &LoadedRun,
    distance: &dyn TemporalDistance,
) -> anyhow::Result<Option<NearestIndex>> {
    let data = loaded.data()?;
    // The index stores the distance that was learned; other data would need one each.
    let is_indexed = args.distance == DistanceArg::Learned && args.data.is_none();
    if args.exact || !is_indexed || data.index().n_states() < MIN_STATES {
        return Ok(None);
    }
    let Some(latent) = distance.as_latent() else {
        note("the distance does not compare latent states, so there is no index");
        return Ok(None);
    };
    let folder = loaded.run.folder().join(NEAREST_FOLDER);
    let checkpoint = loaded.run.checkpoints().model_sha256(loaded.model.step)?;
    let fingerprint = format!("checkpoint {checkpoint}, data {}", data.content_hash());
    match NearestIndex::open(&folder, &fingerprint, latent.metric(), IndexConfig::default()) {
        Ok(Some(index)) if index.n_rows() as u64 == data.index().n_states() => return Ok(Some(index)),
        Ok(_) => {}
        Err(error) => note(&format!("warning: {error}; the index is built again")),
    }
    let index = build(latent, data)?;
    // If it cannot be written, the index is built again the next time.
    if let Err(error) = index.save(&folder, &fingerprint) {
        note(&format!("warning: {error}"));
    }
    Ok(Some(index))
}

pub fn build(latent: &dyn LatentDistance, data: &Dataset) -> anyhow::Result<NearestIndex> {
    let states = data.index().n_states() as usize;
    let progress = bar(states, "index {wide_bar} {pos}/{len} states, {eta} left");
    let index = NearestIndex::build(latent, data, IndexConfig::default(), &|rows| progress.inc(rows as u64))?;
    progress.finish_and_clear();
    Ok(index)
}
