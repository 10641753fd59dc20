//! Edges between landmarks: recorded segments.

use super::{config::LAGS, rows::Rows};
use rayon::prelude::*;

/// For every row, its nearest landmark and the hop to it in steps.
pub(crate) type Cells = [(u32, f32)];

/// A recorded segment that leads from one landmark to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    /// The number of recorded steps.
    pub lag: u32,
    /// The first row of the segment.
    pub row: u32,
    /// Hop to the first row + lag + hop from the last row, in steps.
    pub cost: f32,
}

/// Which of the segments between two landmarks is used as the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reading {
    /// The fastest: an estimate of the shortest possible time. Observation noise makes it too fast.
    #[default]
    Fastest,
    /// The median: the typical time under the behavior policy.
    Typical,
}

/// Returns all edges, fastest and typical, ordered by start and end landmark. Segments contain no
/// jumps: `jumps_before` counts, for every row, the jumps up to it.
pub(crate) fn recorded(rows: &Rows, cells: &Cells, landmarks: usize, jumps_before: &[u32]) -> [Vec<Edge>; 2] {
    let (first, members) = by_landmark(cells, landmarks);
    let edges: Vec<[Vec<Edge>; 2]> = (0..landmarks)
        .into_par_iter()
        .map(|from| {
            let mut segments = Vec::new();
            for &row in &members[first[from]..first[from + 1]] {
                let start = row as usize;
                let steps_left = rows.last_rows[start] as usize - start;
                for lag in LAGS.into_iter().take_while(|&lag| lag <= steps_left) {
                    let (to, hop_after) = cells[start + lag];
                    if jumps_before[start + lag] != jumps_before[start] {
                        break;
                    }
                    if to as usize != from {
                        let cost = cells[start].1 + lag as f32 + hop_after;
                        segments.push(Edge { from: from as u32, to, lag: lag as u32, row, cost });
                    }
                }
            }
            segments.sort_unstable_by(|a, b| {
                (a.to.cmp(&b.to)).then(a.cost.total_cmp(&b.cost)).then((a.row, a.lag).cmp(&(b.row, b.lag)))
            });
            let same_end = || segments.chunk_by(|a, b| a.to == b.to);
            [
                same_end().map(|some| some[0]).collect(),
                same_end().map(|some| some[(some.len() - 1) / 2]).collect(),
            ]
        })
        .collect();
    let mut all = [Vec::new(), Vec::new()];
    for [fastest, typical] in edges {
        all[0].extend(fastest);
        all[1].extend(typical);
    }
    all
}

/// Groups rows by landmark: returns the offset of the first row of each landmark, and the rows.
fn by_landmark(cells: &Cells, landmarks: usize) -> (Vec<usize>, Vec<u32>) {
    let mut first = vec![0; landmarks + 1];
    cells.iter().for_each(|(landmark, _)| first[*landmark as usize + 1] += 1);
    for landmark in 0..landmarks {
        first[landmark + 1] += first[landmark];
    }
    let (mut next, mut members) = (first.clone(), vec![0; cells.len()]);
    for (row, (landmark, _)) in cells.iter().enumerate() {
        members[next[*landmark as usize]] = row as u32;
        next[*landmark as usize] += 1;
    }
    (first, members)
}
