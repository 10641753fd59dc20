//! Paths of recorded segments.

/// A path along recorded segments, from a state to a goal: hop, segment, hop, segment, ... hop.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedPath {
    /// The segments, in order; none if the goal is a single hop away.
    pub segments: Vec<Segment>,
    /// The lengths of all hops, in steps: one before each segment, and one to the goal.
    pub hops: Vec<f64>,
}

/// Consecutive rows of one episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The first row, counted over all episodes of the dataset.
    pub first_row: u64,
    /// The number of steps to the last row.
    pub steps: u32,
}

impl RecordedPath {
    /// Returns the length of the path: the steps of all segments and hops.
    pub fn steps(&self) -> f64 {
        self.hops.iter().sum::<f64>()
            + self.segments.iter().map(|segment| f64::from(segment.steps)).sum::<f64>()
    }
}

impl Segment {
    /// Returns the last row.
    pub fn last_row(&self) -> u64 {
        self.first_row + u64::from(self.steps)
    }
}
