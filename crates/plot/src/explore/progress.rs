//! The progress of states, from a table with one row per frame.

use super::ExploreError;
use isochrone_data::{
    Dataset,
    formats::{Extras, ReadOptions},
};
use std::path::Path;

const EPISODE: &str = "episode_index";
const PROGRESS: &str = "progress_sparse";

/// Returns the progress of every state in `states`. The table has the episodes of the dataset, in
/// the same order and complete; the reader checks `frame_index`.
pub(super) fn read(path: &Path, data: &Dataset, states: &[u64]) -> Result<Vec<f32>, ExploreError> {
    let options = ReadOptions {
        observations: vec![PROGRESS.to_owned()],
        episode: Some(EPISODE.to_owned()),
        extras: Extras::Named(Vec::new()),
        ..ReadOptions::default()
    };
    let table = Dataset::load(path, &options)?;
    let fail = |problem: String| {
        let hint = "give the progress of the same dataset, with a row for every frame";
        Err(ExploreError::Layer { path: path.into(), problem, hint })
    };
    let (found, expected) = (table.n_episodes(), data.n_episodes());
    if found != expected {
        return fail(format!("{found} episodes, but the dataset has {expected}"));
    }
    let differs = |&episode: &usize| table.index().states(episode) != data.index().states(episode);
    if let Some(episode) = (0..expected).find(differs) {
        let [found, expected] = [&table, data].map(|data| data.index().steps(episode) + 1);
        return fail(format!("{found} frames in episode {episode}, but the dataset has {expected}"));
    }
    Ok(states.iter().map(|&state| table.state(state)[0]).collect())
}
