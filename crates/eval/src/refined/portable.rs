//! The graph as plain numbers, for evaluation by other programs, such as a browser.

use super::{
    RefinedDistance, RefinedError,
    graph::Graph,
    rows::apart,
    search::{NONE, Search},
};
use isochrone_core::TemporalDistance as _;
use isochrone_data::Dataset;
use rayon::prelude::*;

/// The number of landmarks between the ends of an edge by which its segment is drawn.
const VIA: usize = 3;

/// All that is needed to read the refined distance between any two states, without the dataset.
///
/// Shortest paths are searched with the costs of edges. The length of a path then uses the direct
/// hops between consecutive segments; they are listed for all pairs of edges that follow each other
/// on a shortest path, so that the size does not depend on the width of states.
#[derive(Debug, Clone, PartialEq)]
pub struct PortableGraph {
    /// The number of columns of a state.
    pub width: usize,
    /// For every column, the steps per unit of the hop metric; 0 for columns without weight.
    pub column_scales: Vec<f32>,
    /// The cover radius, in steps.
    pub radius_steps: f32,
    /// The rows of the dataset that are landmarks, counted over all episodes.
    pub landmark_rows: Vec<u32>,
    /// The landmarks in the units of the dataset: `[landmarks, width]`
    pub landmarks: Vec<f32>,
    /// The edges, ordered by end and start landmark.
    pub edges: Vec<PortableEdge>,
    /// The direct hops from the end of a segment to the start of the next, ordered by edge.
    pub connections: Vec<Connection>,
}

/// A recorded segment between two landmarks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PortableEdge {
    /// The landmark at the start.
    pub from: u32,
    /// The landmark at the end.
    pub to: u32,
    /// The first row of the segment, counted over all episodes.
    pub row: u32,
    /// The number of recorded steps.
    pub steps: u32,
    /// The cost in the search: hop to the first row + steps + hop from the last row.
    pub cost: f32,
    /// The hop from the start landmark to the first row, in steps.
    pub hop_before: f32,
    /// The hop from the last row to the end landmark, in steps.
    pub hop_after: f32,
    /// Landmarks near the segment, at equal times between its ends.
    pub via: [u32; VIA],
}

/// The direct hop between two edges that follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Connection {
    /// The index of the first edge.
    pub edge: u32,
    /// The end landmark of the next edge, which starts where the first ends.
    pub next_to: u32,
    /// The hop from the last row of the first edge to the first row of the next, in steps.
    pub hop: f32,
}

impl RefinedDistance {
    /// Returns the graph of this reading as plain numbers.
    ///
    /// # Errors
    /// If there are more landmarks than a table of all pairs may have: distances are then read
    /// differently.
    ///
    /// # Panics
    /// If the dataset is not the one that the graph was built from.
    pub fn portable(&self, data: &Dataset) -> Result<PortableGraph, RefinedError> {
        if !self.has_table() {
            return Err(RefinedError::NoTable { landmarks: self.n_landmarks() });
        }
        let graph = self.graph();
        let landmarks = self.landmark_rows().iter().flat_map(|&row| data.state(u64::from(row)));
        Ok(PortableGraph {
            width: self.width(),
            column_scales: self.metric().column_scales(),
            radius_steps: self.radius_steps() as f32,
            landmark_rows: self.landmark_rows().to_vec(),
            landmarks: landmarks.copied().collect(),
            edges: (0..graph.edges.len()).into_par_iter().map(|edge| self.edge(edge, data)).collect(),
            connections: connections(graph),
        })
    }

    fn edge(&self, edge: usize, data: &Dataset) -> PortableEdge {
        let graph = self.graph();
        let found = graph.edges[edge];
        let via = std::array::from_fn(|place| {
            let row = found.row + found.lag * (place as u32 + 1) / (VIA as u32 + 1);
            self.nearest_landmark(data.state(u64::from(row)))
        });
        PortableEdge {
            from: found.from,
            to: found.to,
            row: found.row,
            steps: found.lag,
            cost: found.cost,
            hop_before: apart(graph.landmark(found.from as usize), graph.end(edge, 0)),
            hop_after: apart(graph.end(edge, 1), graph.landmark(found.to as usize)),
            via,
        }
    }
}

/// Returns the hops between all edges that follow each other on a shortest path.
fn connections(graph: &Graph) -> Vec<Connection> {
    let of_goal = |goal: usize| {
        let Search { first_edges, order, .. } = graph.search(goal);
        let follow = |&landmark: &u32| {
            let edge = first_edges[landmark as usize];
            let next = first_edges[graph.edges[edge as usize].to as usize];
            (next != NONE).then_some((edge, next))
        };
        order[1..].iter().filter_map(follow).collect::<Vec<(u32, u32)>>()
    };
    let mut pairs: Vec<(u32, u32)> =
        (0..graph.n_landmarks()).into_par_iter().flat_map_iter(of_goal).collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    let connection = |(edge, next): (u32, u32)| Connection {
        edge,
        next_to: graph.edges[next as usize].to,
        hop: apart(graph.end(edge as usize, 1), graph.end(next as usize, 0)),
    };
    pairs.into_iter().map(connection).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refined::RefinedConfig;
    use isochrone_core::rng;

    /// Walks that turn at random on a plane, of which the first column is in other units.
    fn walks() -> Dataset {
        let mut random = rng::stream(3, 0);
        let mut walk = || {
            let (mut at, mut angle) = ([0f32; 2], 6.3 * rng::unit_f64(&mut random) as f32);
            let mut states = Vec::new();
            for _ in 0..300 {
                angle += rng::unit_f64(&mut random) as f32 - 0.5;
                at = [at[0] + 0.1 * angle.cos(), at[1] + 0.1 * angle.sin()].map(|x| x.clamp(-2.0, 2.0));
                states.extend([10.0 * at[0], at[1]]);
            }
            (states, Vec::new())
        };
        Dataset::from_arrays(2, 0, (0..20).map(|_| walk()).collect::<Vec<_>>()).unwrap()
    }

    /// The steps of every landmark to a goal, from the portable numbers alone.
    fn to_goal(graph: &PortableGraph, goal: u32) -> Vec<f32> {
        let n = graph.landmark_rows.len();
        let (mut cost, mut first) = (vec![f32::INFINITY; n], vec![usize::MAX; n]);
        cost[goal as usize] = 0.0;
        // Bellman-Ford: slow, and independent of the order in which the library searches.
        loop {
            let before = cost.clone();
            for (number, edge) in graph.edges.iter().enumerate() {
                let through = cost[edge.to as usize] + edge.cost;
                if through < cost[edge.from as usize] {
                    (cost[edge.from as usize], first[edge.from as usize]) = (through, number);
                }
            }
            if cost == before {
                break;
            }
        }
        let length = |from: usize| {
            let (mut at, mut steps, mut last): (usize, f32, Option<usize>) = (from, 0.0, None);
            while at != goal as usize {
                if first[at] == usize::MAX {
                    return f32::INFINITY;
                }
                let edge = &graph.edges[first[at]];
                let hop = |last: usize| {
                    let found = graph.connections.iter();
                    let mut found = found.filter(|c| c.edge as usize == last && c.next_to == edge.to);
                    found.next().expect("edges that follow each other are listed").hop
                };
                steps += last.map_or(edge.hop_before, hop) + edge.steps as f32;
                (at, last) = (edge.to as usize, Some(first[at]));
            }
            steps + last.map_or(0.0, |last| graph.edges[last].hop_after)
        };
        (0..n).map(length).collect()
    }

    #[test]
    fn the_portable_numbers_give_the_lengths_of_paths_between_landmarks() {
        let data = walks();
        let config = RefinedConfig { landmarks: 60, ..RefinedConfig::default() };
        let refined = RefinedDistance::fit(&data, &config).unwrap();
        let portable = refined.portable(&data).unwrap();
        assert_eq!(portable.landmarks.len(), 60 * 2);
        let table = refined.graph().table();
        for goal in [0, 17, 59] {
            let found = to_goal(&portable, goal);
            for (found, expected) in found.iter().zip(&table[goal as usize * 60..][..60]) {
                let is_equal = found == expected || (found - expected).abs() < 1e-3 * expected;
                assert!(is_equal, "{found} {expected}");
            }
        }
    }

    #[test]
    fn a_graph_without_a_table_is_refused() {
        let config = RefinedConfig { landmarks: 60, table_landmarks: 10, ..RefinedConfig::default() };
        let data = walks();
        let error = RefinedDistance::fit(&data, &config).unwrap().portable(&data).unwrap_err();
        assert!(error.to_string().starts_with("60 landmarks"), "{error}");
    }
}
