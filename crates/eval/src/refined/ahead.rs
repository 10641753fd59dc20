//! States ahead on recorded paths.

use super::{RefinedDistance, edges::Edge, graph::Graph, place::Place, route::Route, rows::apart};
use isochrone_core::{ShapeError, TemporalDistance as _};
use rayon::prelude::*;

/// The state a given number of steps ahead on the path to a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// The goal itself.
    Goal,
    /// A row of the dataset, counted over all episodes.
    Row(u64),
    /// No path is known.
    NoPath,
}

impl RefinedDistance {
    /// Returns the state `steps` ahead on the path from each row of `from` to the same row of
    /// `goals`, `[n, width]` twice. Searches are cached per goal.
    pub(crate) fn ahead(&self, from: &[f32], goals: &[f32], steps: f64) -> Vec<Ahead> {
        self.check_paired(from, goals).unwrap_or_else(ShapeError::panic);
        let (from, goals) = (self.places(from), self.places(goals));
        let state = |(from, goal): (Place<'_>, Place<'_>)| match self.best_route(from, goal) {
            Route::Hop(_) => Ahead::Goal,
            Route::None => Ahead::NoPath,
            Route::Along { first, last } => {
                let found = self.search(last);
                let edges = Graph::path(&found.first_edges, &self.graph().edges, first, last);
                self.row_ahead(from.projected, edges, steps)
            }
        };
        match from.len() {
            1 => vec![state((from.get(0), goals.get(0)))],
            n => (0..n).into_par_iter().map(|row| state((from.get(row), goals.get(row)))).collect(),
        }
    }

    /// Returns the row that is `steps` ahead on a path of edges.
    fn row_ahead(&self, from: &[f32], edges: impl Iterator<Item = usize>, steps: f64) -> Ahead {
        let (graph, mut here, mut left) = (self.graph(), from, steps as f32);
        for edge in edges {
            let Edge { row, lag, .. } = graph.edges[edge];
            left = (left - apart(here, graph.end(edge, 0))).max(0.0);
            if left <= lag as f32 {
                return Ahead::Row(u64::from(row) + left as u64);
            }
            left -= lag as f32;
            here = graph.end(edge, 1);
        }
        Ahead::Goal
    }
}
