//! The direction of a query.

/// Which of the two directed distances between a query state and recorded states is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Recorded states `s` with the smallest `d(s, query)`: the query is the goal.
    To,
    /// Recorded states `g` with the smallest `d(query, g)`: the query is the start.
    From,
}

impl Direction {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::To, Self::From];

    /// Orders the query and a recorded value as start and goal.
    pub fn ordered<T>(self, query: T, recorded: T) -> (T, T) {
        match self {
            Self::To => (recorded, query),
            Self::From => (query, recorded),
        }
    }
}
