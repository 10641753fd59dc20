//! Edges between landmarks: recorded segments.

use super::{config::LAGS, rows::Rows};
use rayon::prelude::*;
use std::cmp::Ordering;

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

impl Edge {
    /// Orders segments between the same landmarks, fastest first. Ties are broken by row, so that
    /// the order in which segments are found does not matter.
    pub fn order(&self, other: &Self) -> Ordering {
        self.cost.total_cmp(&other.cost).then((self.row, self.lag).cmp(&(other.row, other.lag)))
    }
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
    let edges_from = |groups: &mut ByEnd, from: usize| {
        let members = &members[first[from]..first[from + 1]];
        let [mut fastest, mut typical] = [Vec::new(), Vec::new()];
        groups.of(segments(rows, cells, jumps_before, members), |same_ends| {
            let middle = (same_ends.len() - 1) / 2;
            let (faster, median, _) = same_ends.select_nth_unstable_by(middle, Edge::order);
            fastest.push(faster.iter().fold(*median, |a, b| if b.order(&a).is_lt() { *b } else { a }));
            typical.push(*median);
        });
        [fastest, typical]
    };
    let new_groups = || ByEnd { counts: vec![0; landmarks], ..ByEnd::default() };
    let edges: Vec<[Vec<Edge>; 2]> =
        (0..landmarks).into_par_iter().map_init(new_groups, edges_from).collect();
    let mut all = [Vec::new(), Vec::new()];
    for [fastest, typical] in edges {
        all[0].extend(fastest);
        all[1].extend(typical);
    }
    all
}

/// Groups segments by end landmark by counting, which is faster than sorting. The memory is reused.
#[derive(Default)]
struct ByEnd {
    /// For every landmark, the number of segments that end there; 0 between calls.
    counts: Vec<u32>,
    ends: Vec<u32>,
    segments: Vec<Edge>,
    grouped: Vec<Edge>,
}

impl ByEnd {
    /// Passes the segments of each end landmark to `read`, in the order of landmarks.
    fn of(&mut self, segments: impl Iterator<Item = Edge>, mut read: impl FnMut(&mut [Edge])) {
        let Self { counts, ends, segments: all, grouped } = self;
        ends.clear();
        all.clear();
        for segment in segments {
            let count = &mut counts[segment.to as usize];
            if *count == 0 {
                ends.push(segment.to);
            }
            *count += 1;
            all.push(segment);
        }
        ends.sort_unstable();
        // From counts to the place of the next segment.
        let mut place = 0;
        for &end in &*ends {
            place += std::mem::replace(&mut counts[end as usize], place);
        }
        grouped.clone_from(all);
        for segment in &*all {
            let place = &mut counts[segment.to as usize];
            grouped[*place as usize] = *segment;
            *place += 1;
        }
        let mut first = 0;
        for &end in &*ends {
            let after = std::mem::take(&mut counts[end as usize]) as usize;
            read(&mut grouped[first..after]);
            first = after;
        }
    }
}

/// Returns the fastest edges, as [`recorded`] does, in less time.
pub(crate) fn fastest(rows: &Rows, cells: &Cells, landmarks: usize, jumps_before: &[u32]) -> Vec<Edge> {
    let (first, members) = by_landmark(cells, landmarks);
    let fastest = |best: &mut Vec<Option<Edge>>, from: usize| {
        best.resize(landmarks, None);
        let mut ends = Vec::new();
        for segment in segments(rows, cells, jumps_before, &members[first[from]..first[from + 1]]) {
            let best = &mut best[segment.to as usize];
            match best {
                None => {
                    ends.push(segment.to);
                    *best = Some(segment);
                }
                Some(best) if segment.order(best).is_lt() => *best = segment,
                Some(_) => {}
            }
        }
        ends.sort_unstable();
        ends.into_iter().filter_map(|to| best[to as usize].take()).collect::<Vec<Edge>>()
    };
    (0..landmarks).into_par_iter().map_init(Vec::new, fastest).flatten_iter().collect()
}

/// Returns the recorded segments that start at rows of one landmark and end at another.
pub(crate) fn segments(
    rows: &Rows,
    cells: &Cells,
    jumps_before: &[u32],
    members: &[u32],
) -> impl Iterator<Item = Edge> {
    members.iter().flat_map(move |&row| {
        let start = row as usize;
        let (from, hop_before) = cells[start];
        let steps_left = rows.last_rows[start] as usize - start;
        LAGS.into_iter()
            .take_while(move |&lag| lag <= steps_left && jumps_before[start + lag] == jumps_before[start])
            .filter_map(move |lag| {
                let (to, hop_after) = cells[start + lag];
                let cost = hop_before + lag as f32 + hop_after;
                (to != from).then_some(Edge { from, to, lag: lag as u32, row, cost })
            })
    })
}

/// Groups rows by landmark: returns the offset of the first row of each landmark, and the rows.
pub(crate) fn by_landmark(cells: &Cells, landmarks: usize) -> (Vec<usize>, Vec<u32>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::rng;

    /// Segments with equal costs, in episodes of several lengths, with jumps.
    #[test]
    fn the_edges_are_those_of_sorting_all_segments() {
        let (n, landmarks) = (4000, 30);
        let mut random = rng::stream(1, 0);
        let last_rows: Vec<u32> = (0..n).map(|row| (row / 250 * 250 + 249).min(n - 1)).collect();
        let rows = Rows { width: 1, values: vec![0.0; n as usize], last_rows };
        let mut draw = |below: usize| rng::below(&mut random, below);
        let cells: Vec<(u32, f32)> =
            (0..n).map(|_| (draw(landmarks) as u32, draw(4) as f32 * 0.25)).collect();
        let jumps_before: Vec<u32> = (0..n).map(|row| row / 170).collect();
        let all: Vec<u32> = (0..n).collect();
        let mut sorted: Vec<Edge> = segments(&rows, &cells, &jumps_before, &all).collect();
        sorted.sort_by(|a, b| (a.from, a.to).cmp(&(b.from, b.to)).then(a.order(b)));
        let same_ends = || sorted.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to));
        let [fast, typical] = recorded(&rows, &cells, landmarks, &jumps_before);
        assert!(same_ends().map(|some| some[0]).eq(fast.iter().copied()));
        assert!(same_ends().map(|some| some[(some.len() - 1) / 2]).eq(typical));
        assert_eq!(fastest(&rows, &cells, landmarks, &jumps_before), fast);
    }
}
