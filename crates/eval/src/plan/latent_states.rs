//! The latent rows of the states of a graph, computed once.

use crate::nearest::Direction;
use isochrone_core::{LatentMetric, TemporalDistance};
use rayon::prelude::*;
use std::sync::Arc;

/// The latent rows of the states of a graph.
pub(super) struct LatentStates {
    pub metric: Arc<dyn LatentMetric>,
    /// `[n, latent width]`
    pub rows: Vec<f32>,
}

impl LatentStates {
    /// Embeds states; `None` if the distance does not compare latent rows.
    pub fn of(distance: &dyn TemporalDistance, states: &[f32]) -> Option<Self> {
        let latent = distance.as_latent()?;
        Some(Self { metric: latent.metric(), rows: latent.embed(states) })
    }

    /// Returns the nats from every state to each row of `[n, width]`, or from each row to every
    /// state.
    pub fn between(
        &self,
        distance: &dyn TemporalDistance,
        direction: Direction,
        rows: &[f32],
    ) -> Option<Vec<f32>> {
        let rows = distance.as_latent()?.embed(rows);
        let (from, to) = direction.ordered(&rows[..], &self.rows[..]);
        // Pair by pair: to arrange all states for a kernel takes longer than to compare a few rows.
        let (metric, width) = (&*self.metric, self.metric.width());
        let nats_from = |from: &[f32]| {
            to.par_chunks_exact(width).with_min_len(512).map(move |to| metric.nats(from, to)).collect()
        };
        let nats: Vec<Vec<f32>> = from
            .par_chunks_exact(width)
            .with_min_len((512 * width / to.len().max(1)).max(1))
            .map(nats_from)
            .collect();
        Some(nats.concat())
    }
}
