//! The latent rows of the states of a graph, computed once.

use crate::nearest::Direction;
use isochrone_core::{LatentMetric, TemporalDistance};
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
        Some(self.metric.all_pairs_nats(from, to))
    }
}
