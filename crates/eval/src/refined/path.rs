//! Paths of recorded segments.

/// A path along recorded segments, from a state to a goal: hop, segment, hop, segment, ... hop.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedPath {
    /// The segments, in order; none where the goal is a hop away.
    pub segments: Vec<Segment>,
    /// Steps of all hops: one before each segment, and one to the goal.
    pub hops: Vec<f64>,
}

/// Rows of one episode that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The first row, all episodes of the dataset counted one after another.
    pub first_row: u64,
    /// Steps to the last row.
    pub steps: u32,
}

impl RecordedPath {
    /// Steps of all segments and hops together.
    pub fn steps(&self) -> f64 {
        self.hops.iter().sum::<f64>()
            + self.segments.iter().map(|segment| f64::from(segment.steps)).sum::<f64>()
    }
}

impl Segment {
    /// The last row.
    pub fn last_row(&self) -> u64 {
        self.first_row + u64::from(self.steps)
    }
}
