//! Exact search: the query is compared with every recorded state.

use super::{Direction, Neighbor, States, neighbor::nearest_first};
use isochrone_core::{LatentMetric, TemporalDistance};
use rayon::prelude::*;

/// The number of states that are compared at a time.
const CHUNK: usize = 8192;

/// Returns the `k` nearest of all states by a distance.
pub(super) fn nearest(
    distance: &dyn TemporalDistance,
    states: &dyn States,
    query: &[f32],
    direction: Direction,
    k: usize,
) -> Vec<Neighbor> {
    let n = states.n_states();
    let mut best = Vec::new();
    // A network computes in parallel within a chunk.
    for start in (0..n).step_by(CHUNK) {
        let chunk = states.states(start..n.min(start + CHUNK));
        let (from, to) = direction.ordered(query, &chunk[..]);
        let nats = distance.all_pairs_nats(from, to);
        best.extend(nats.into_iter().zip(start as u64..).map(|(nats, row)| Neighbor { row, nats }));
        best = nearest_first(best, k);
    }
    best
}

/// Returns the `k` nearest of all latent rows to one latent row.
///
/// # Shapes
/// `query: [width]`, `latent: [n, width]`.
pub fn nearest_latent(
    metric: &dyn LatentMetric,
    latent: &[f32],
    query: &[f32],
    direction: Direction,
    k: usize,
) -> Vec<Neighbor> {
    let chunks = latent.par_chunks(CHUNK * metric.width()).enumerate();
    let best: Vec<Vec<Neighbor>> = chunks
        .map(|(chunk, latent)| {
            let (from, to) = direction.ordered(query, latent);
            let nats = metric.all_pairs_nats(from, to).into_iter();
            let rows = (chunk * CHUNK) as u64..;
            nearest_first(nats.zip(rows).map(|(nats, row)| Neighbor { row, nats }).collect(), k)
        })
        .collect();
    nearest_first(best.concat(), k)
}
