//! Parts: which jobs do what.

use std::{fmt, str::FromStr};
use thiserror::Error;

/// One of several parts of a dataset, written as `I/N`: part I of N, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Counted from 0.
    index: u64,
    count: u64,
}

/// The reason why a text is not a part.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{text}' is not a part; hint: give I/N, part I of N counted from 1, such as 1/4")]
pub struct PartError {
    /// The text.
    pub text: String,
}

impl Part {
    /// The complete dataset.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// Returns part `index` of `count`, counted from 0; `None` if there is no such part.
    pub fn new(index: u64, count: u64) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// Returns whether the rows from `first` on, of `total` rows, belong to this part: their middle
    /// decides. Consecutive ranges of rows belong to consecutive parts.
    pub(super) fn contains(self, first: u64, rows: u64, total: u64) -> bool {
        let middle = 2 * u128::from(first) + u128::from(rows);
        let part = (middle * u128::from(self.count)).checked_div(2 * u128::from(total)).unwrap_or(0);
        // The middle of no rows at the end of the dataset is its end.
        part.min(u128::from(self.count - 1)) == u128::from(self.index)
    }
}

impl FromStr for Part {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let parse = || {
            let (index, count) = text.split_once('/')?;
            Self::new(index.parse::<u64>().ok()?.checked_sub(1)?, count.parse().ok()?)
        };
        parse().ok_or_else(|| PartError { text: text.to_owned() })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one() {
        let part: Part = "3/4".parse().unwrap();
        assert_eq!((part, part.to_string().as_str()), (Part::new(2, 4).unwrap(), "3/4"));
        for wrong in ["0/4", "5/4", "1", "a/b", "-1/4", "1/0", ""] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_range_belongs_to_one_part_and_parts_are_consecutive() {
        let ranges = [(0, 10), (10, 1), (11, 0), (11, 40), (51, 49), (100, 0)];
        for count in 1..9 {
            let of = |first, rows| {
                let parts = (0..count).filter_map(|index| Part::new(index, count));
                let owners: Vec<Part> = parts.filter(|part| part.contains(first, rows, 100)).collect();
                assert_eq!(owners.len(), 1, "rows {first} + {rows} of part {owners:?}");
                owners[0].index
            };
            let owners = ranges.map(|(first, rows)| of(first, rows));
            assert!(owners.is_sorted(), "{owners:?}");
        }
        assert!(Part::ALL.contains(0, 0, 0));
    }
}
