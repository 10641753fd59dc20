//! Queries, by exact search or with an index.

use super::{Direction, Neighbor, States, exact};
#[cfg(feature = "nearest")]
use super::{NearestError, NearestIndex, neighbor::nearest_first};
use isochrone_core::{ShapeError, TemporalDistance, shape::check_row};

/// A search for the recorded states that are nearest in time to a state.
pub struct Nearest<'a> {
    distance: &'a dyn TemporalDistance,
    states: &'a dyn States,
    #[cfg(feature = "nearest")]
    index: Option<&'a NearestIndex>,
}

/// The candidates of an index that are ranked by the distance, per result. The index compares
/// latent rows by the same distance: only rounding differs, since a network rounds differently for
/// different batch sizes.
#[cfg(feature = "nearest")]
const CANDIDATES: usize = 2;

impl<'a> Nearest<'a> {
    /// Compares queries with every state.
    pub fn exact(distance: &'a dyn TemporalDistance, states: &'a dyn States) -> Self {
        Self {
            distance,
            states,
            #[cfg(feature = "nearest")]
            index: None,
        }
    }

    /// Takes candidates from an index of the same distance and states, and ranks them by the
    /// distance.
    ///
    /// # Errors
    /// If the index has another number of rows than there are states.
    #[cfg(feature = "nearest")]
    pub fn with_index(
        distance: &'a dyn TemporalDistance,
        states: &'a dyn States,
        index: &'a NearestIndex,
    ) -> Result<Self, NearestError> {
        if index.n_rows() != states.n_states() {
            return Err(NearestError::Rows { index: index.n_rows(), states: states.n_states() });
        }
        Ok(Self { distance, states, index: Some(index) })
    }

    /// Returns the `k` recorded states nearest to the query, nearest first; fewer if there are not
    /// as many. An index may miss some of them, but the distances are those of the model.
    ///
    /// # Errors
    /// If the query does not have the width of a state.
    pub fn search(&self, query: &[f32], direction: Direction, k: usize) -> Result<Vec<Neighbor>, ShapeError> {
        check_row("query", query, self.distance.width())?;
        #[cfg(feature = "nearest")]
        if let (Some(index), Some(latent)) = (self.index, self.distance.as_latent()) {
            let found = index.nearest(&latent.embed(query), direction, k.saturating_mul(CANDIDATES));
            return Ok(self.ranked(found, query, direction, k));
        }
        Ok(exact::nearest(self.distance, self.states, query, direction, k))
    }

    /// Replaces the distances of candidates by those of the model, and returns the nearest.
    #[cfg(feature = "nearest")]
    fn ranked(
        &self,
        mut found: Vec<Neighbor>,
        query: &[f32],
        direction: Direction,
        k: usize,
    ) -> Vec<Neighbor> {
        let candidates: Vec<f32> = found.iter().flat_map(|one| self.states.state(one.row as usize)).collect();
        let (from, to) = direction.ordered(query, &candidates[..]);
        let nats = self.distance.all_pairs_nats(from, to);
        found.iter_mut().zip(nats).for_each(|(found, nats)| found.nats = nats);
        nearest_first(found, k)
    }
}
