//! The edges of a part of the dataset.

use super::{GraphError, Landmarks};
use crate::refined::{
    RefinedDistance,
    choice::running_count,
    config::LAGS,
    edges::{self, Edge},
    jumps,
    nearest::Points,
    rows::Rows,
    saved::Parts,
};
use isochrone_data::shards::{Part, RowReader, Shards, Unit};
use std::{ops::Range, sync::Arc};

/// The number of rows that are processed at a time.
const CHUNK_ROWS: u64 = 1 << 20;
/// The number of rows after the last of a part that its segments can lead to.
const OVERLAP: u64 = LAGS[LAGS.len() - 1] as u64;
/// The maximum number of landmarks with a table, whatever a file declares: 244 MiB.
const MAX_TABLE_LANDMARKS: usize = 8000;

/// The fastest edge between every pair of landmarks, among the segments that start in some rows of
/// a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphPart {
    pub(super) landmarks: Arc<Landmarks>,
    /// The rows in which segments start, in order, not adjacent.
    pub(super) covered: Vec<Range<u64>>,
    /// The number of jumps that start in these rows.
    pub(super) jumps: u64,
    /// Ordered by start and end landmark.
    pub(super) edges: Vec<Edge>,
    /// The first and the last row of every edge: `[edges, 2, projected width]`
    pub(super) ends: Vec<f32>,
}

impl GraphPart {
    /// Builds a part. Memory does not depend on the number of rows: about a million rows at a time,
    /// and one edge per pair of landmarks that a segment joins.
    ///
    /// # Errors
    /// If the dataset cannot be read, or is not the one that the landmarks were chosen from.
    pub fn build(landmarks: &Arc<Landmarks>, shards: &Shards, part: Part) -> Result<Self, GraphError> {
        if shards.sha256() != landmarks.file.dataset_sha256 {
            return Err(GraphError::OtherData);
        }
        let mut found =
            Self { landmarks: Arc::clone(landmarks), covered: vec![], jumps: 0, edges: vec![], ends: vec![] };
        let units = shards.units(part);
        let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(found) };
        found.read(shards, first, last.first_row + last.rows)?;
        Ok(found)
    }

    /// Reads the rows from a unit on, up to `end`.
    fn read(&mut self, shards: &Shards, unit: &Unit, end: u64) -> Result<(), GraphError> {
        let (columns, points) = (self.landmarks.columns(), self.landmarks.points());
        let width = columns.width;
        let mut reader = RowReader::new(shards, &columns, unit);
        let (mut at, mut states, mut starts) = (unit.first_row, Vec::new(), Vec::new());
        let mut is_end = false;
        while at < end {
            let own = CHUNK_ROWS.min(end - at) as usize;
            let wanted = own + OVERLAP as usize;
            while !is_end && states.len() < wanted * width {
                match reader.next()? {
                    Some(rows) => {
                        starts.extend(rows.starts.iter().map(|start| start + states.len() / width));
                        states.extend(rows.states);
                    }
                    None => is_end = true,
                }
            }
            let n = wanted.min(states.len() / width);
            self.add(Chunk { first: at, states: &states[..n * width], starts: &starts }, own, &points);
            states.drain(..(own * width).min(states.len()));
            starts.retain(|start| *start >= own);
            starts.iter_mut().for_each(|start| *start -= own);
            at += own as u64;
        }
        if unit.first_row < end {
            self.covered.push(unit.first_row..end);
        }
        Ok(())
    }

    /// Adds the segments that start in a chunk. Those that start after its `own` rows are found
    /// again with the next chunk, which does not change a minimum.
    fn add(&mut self, chunk: Chunk<'_>, own: usize, points: &Points) {
        let landmarks = Arc::clone(&self.landmarks);
        let (rows, is_jump) = (chunk.rows(&landmarks), chunk.jumps(&landmarks));
        self.jumps += is_jump.iter().skip(1).take(own).filter(|is_jump| **is_jump).count() as u64;
        let cells = points.nearest(&rows.values);
        let edges = edges::fastest(&rows, &cells, landmarks.n_landmarks(), &running_count(is_jump));
        let ends = edges.iter().flat_map(|edge| [edge.row, edge.row + edge.lag]);
        let ends = ends.flat_map(|row| rows.row(row as usize)).copied().collect();
        // Rows of a dataset with landmarks fit in 32 bits.
        let global = |edge: Edge| Edge { row: edge.row + chunk.first as u32, ..edge };
        self.keep_fastest(edges.into_iter().map(global).collect(), ends);
    }

    /// Merges edges, ordered by start and end landmark, and keeps the faster of each pair.
    fn keep_fastest(&mut self, edges: Vec<Edge>, ends: Vec<f32>) {
        let width = 2 * self.landmarks.metric.projected_width();
        let (old, old_ends) = (std::mem::take(&mut self.edges), std::mem::take(&mut self.ends));
        let (mut left, mut right) = (0, 0);
        while left < old.len() || right < edges.len() {
            let order = match (old.get(left), edges.get(right)) {
                (Some(a), Some(b)) => (a.from, a.to).cmp(&(b.from, b.to)),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let takes_left = order.is_lt() || (order.is_eq() && old[left].order(&edges[right]).is_le());
            let (edge, its_ends) = match takes_left {
                true => (old[left], &old_ends[left * width..][..width]),
                false => (edges[right], &ends[right * width..][..width]),
            };
            self.edges.push(edge);
            self.ends.extend(its_ends);
            left += usize::from(order.is_le());
            right += usize::from(order.is_ge());
        }
    }

    /// Merges two parts: the result is the same in any order and any grouping.
    ///
    /// # Errors
    /// If the parts have different landmarks, or a row is in both.
    pub fn merge(mut self, other: Self) -> Result<Self, GraphError> {
        if self.landmarks != other.landmarks {
            return Err(GraphError::OtherLandmarks);
        }
        self.covered.extend(other.covered);
        self.covered.sort_unstable_by_key(|rows| rows.start);
        for pair in self.covered.windows(2) {
            if pair[0].end > pair[1].start {
                return Err(GraphError::Overlap { rows: pair[1].start..pair[0].end.min(pair[1].end) });
            }
        }
        self.covered.dedup_by(|next, before| {
            let is_adjacent = before.end == next.start;
            if is_adjacent {
                before.end = next.end;
            }
            is_adjacent
        });
        self.jumps += other.jumps;
        self.keep_fastest(other.edges, other.ends);
        Ok(self)
    }

    /// Returns whether this is a part of a dataset with these landmarks.
    pub fn is_part(&self, landmarks: &Landmarks, shards: &Shards, part: Part) -> bool {
        let units = shards.units(part);
        let rows = units.first().zip(units.last()).map(|(a, b)| a.first_row..b.first_row + b.rows);
        let rows: Vec<Range<u64>> = rows.into_iter().filter(|rows| !rows.is_empty()).collect();
        *self.landmarks == *landmarks
            && self.covered == rows
            && shards.sha256() == landmarks.file.dataset_sha256
    }

    /// Returns the landmarks.
    pub fn landmarks(&self) -> &Landmarks {
        &self.landmarks
    }

    /// Returns the number of edges, one for every pair of landmarks that a segment joins.
    pub fn n_edges(&self) -> usize {
        self.edges.len()
    }

    /// Returns the number of rows of the dataset that are covered.
    pub fn n_rows(&self) -> u64 {
        self.covered.iter().map(|rows| rows.end - rows.start).sum()
    }

    /// Returns the distance of the complete graph, which does not need the dataset.
    ///
    /// # Errors
    /// If rows of the dataset are missing.
    pub fn distance(&self) -> Result<RefinedDistance, GraphError> {
        let n_rows = self.landmarks.n_rows();
        let first = self.covered.first().cloned().unwrap_or(0..0);
        if first != (0..n_rows) {
            let next = self.covered.get(1).map_or(n_rows, |rows| rows.start);
            let rows = if first.start > 0 { 0..first.start } else { first.end..next };
            return Err(GraphError::Missing { rows, n_rows });
        }
        let width = self.landmarks.metric.projected_width();
        let ends_of = |edge: &Edge| {
            let found = self.edges.binary_search_by_key(&(edge.from, edge.to), |edge| (edge.from, edge.to));
            let at = 2 * width * found.expect("it is one of the edges");
            [&self.ends[at..at + width], &self.ends[at + width..at + 2 * width]]
        };
        let file = &self.landmarks.file;
        let parts = Parts {
            metric: self.landmarks.metric.clone(),
            radius: file.radius_steps,
            jumps: self.jumps as usize,
            landmark_rows: file.rows.clone(),
            edges: vec![self.edges.clone()],
        };
        // The table grows with the square of the landmarks, of which the file may have any number.
        let table_landmarks = file.table_landmarks.min(MAX_TABLE_LANDMARKS);
        Ok(RefinedDistance::of_parts(parts, self.landmarks.projected(), ends_of, table_landmarks))
    }
}

/// Consecutive rows of a dataset.
struct Chunk<'a> {
    /// The first row, counted over all shards.
    first: u64,
    /// `[n, width]`
    states: &'a [f32],
    /// The rows at which episodes start, in order.
    starts: &'a [usize],
}

impl Chunk<'_> {
    /// Returns the rows, projected.
    fn rows(&self, landmarks: &Landmarks) -> Rows {
        let n = self.states.len() / landmarks.metric.width();
        let mut values = Vec::with_capacity(n * landmarks.metric.projected_width());
        landmarks.metric.project(self.states, &mut values);
        let mut last_rows = Vec::with_capacity(n);
        for &start in self.starts.iter().filter(|&&start| start > 0 && start < n).chain([&n]) {
            last_rows.resize(start, start as u32 - 1);
        }
        Rows { width: landmarks.metric.projected_width(), values, last_rows }
    }

    /// Returns, for every row, whether the step that leads to it is a jump. A step from or to a
    /// state that is not finite counts as one.
    fn jumps(&self, landmarks: &Landmarks) -> Vec<bool> {
        let limits = &landmarks.file.jump_limits;
        let mut starts = self.starts.iter().copied().peekable();
        let (mut before, mut before_is_finite) = (&[][..], true);
        let mut jumps = Vec::with_capacity(self.states.len() / limits.len());
        for (number, row) in self.states.chunks_exact(limits.len()).enumerate() {
            let is_finite = row.iter().all(|value| value.is_finite());
            let is_first = starts.next_if_eq(&number).is_some() || number == 0;
            let is_step = before_is_finite && is_finite;
            jumps.push(!is_first && (!is_step || jumps::is_jump(before, row, limits)));
            (before, before_is_finite) = (row, is_finite);
        }
        jumps
    }
}
