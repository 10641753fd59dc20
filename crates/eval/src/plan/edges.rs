//! The edges of a large graph, found with indices of nearest states.
//!
//! The nearest states alone would give only short edges, and paths of many of them. Every state is
//! therefore linked with its nearest states among all states, among every 8th, every 64th, and so
//! on, up to the maximum edge length. If few states are within that length, all of them are found
//! at the first scale. Lengths are those of the distance.

use super::latent_states::LatentStates;
use crate::nearest::{Direction, IndexConfig, NearestError, NearestIndex, SliceStates};
use isochrone_core::{LatentDistance, LatentMetric};
use rayon::prelude::*;
use std::sync::Arc;

/// The number of neighbors at each scale and in each direction.
const NEIGHBORS: usize = 64;
/// The ratio between the numbers of states at successive scales.
const STRIDE: usize = 8;

/// Latent rows that are their own latent rows.
impl LatentDistance for LatentStates {
    fn embed(&self, rows: &[f32]) -> Vec<f32> {
        rows.to_vec()
    }

    fn metric(&self) -> Arc<dyn LatentMetric> {
        self.metric.clone()
    }
}

impl LatentStates {
    /// Returns, for every state, the states with an edge to it and the edge lengths in nats.
    ///
    /// # Errors
    /// If memory is exhausted.
    pub fn edges_into(&self, max_edge: f32) -> Result<Vec<Vec<(u32, f32)>>, NearestError> {
        let width = self.metric.width();
        let n = self.rows.len() / width;
        let mut into = vec![Vec::new(); n];
        let mut stride = 1;
        // The states with more neighbors within the maximum edge length than were found so far.
        let mut open: Vec<(usize, Direction)> =
            (0..n).flat_map(|state| Direction::ALL.map(|direction| (state, direction))).collect();
        while !open.is_empty() && n / stride > NEIGHBORS {
            let scale: Vec<f32> = self.rows.chunks_exact(width).step_by(stride).flatten().copied().collect();
            let states = SliceStates { values: &scale, width };
            let index = NearestIndex::build(self, &states, IndexConfig::default(), &|_| ())?;
            let found: Vec<Vec<(u32, f32)>> = open
                .par_iter()
                .map(|&(state, direction)| {
                    let latent = &self.rows[state * width..][..width];
                    // The state itself is among its neighbors.
                    let found = index.nearest(latent, direction, NEIGHBORS + 1).into_iter();
                    let within = found.filter(|other| other.nats <= max_edge);
                    within.map(|other| (other.row as u32 * stride as u32, other.nats.max(0.0))).collect()
                })
                .collect();
            let mut next = Vec::new();
            for ((state, direction), found) in open.into_iter().zip(found) {
                for &(other, nats) in found.iter().filter(|(other, _)| *other as usize != state) {
                    match direction {
                        Direction::To => into[state].push((other, nats)),
                        Direction::From => into[other as usize].push((state as u32, nats)),
                    }
                }
                if found.len() > NEIGHBORS {
                    next.push((state, direction));
                }
            }
            open = next;
            stride *= STRIDE;
        }
        into.par_iter_mut().for_each(|edges| {
            edges.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            edges.dedup_by_key(|(from, _)| *from);
        });
        Ok(into)
    }
}
