//! Units: ranges of row groups.

use super::Shard;
use std::{ops::Range, path::PathBuf};

/// Row groups are combined to units of up to this many rows; a larger row group is a unit alone.
const UNIT_ROWS: u64 = 1 << 20;

/// Consecutive row groups of a shard. Units depend on the shards alone, not on the number of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The shard, by index.
    pub shard: usize,
    /// The row groups.
    pub groups: Range<usize>,
    /// The first row, counted over all shards.
    pub first_row: u64,
    /// The number of rows.
    pub rows: u64,
    /// The path of its output, relative to the output folder: the name of the shard, with the
    /// number of the unit if the shard has several.
    pub output: PathBuf,
}

/// Returns the units of all shards, in order. A shard without rows is one unit.
pub(super) fn all(shards: &[Shard]) -> Vec<Unit> {
    let (mut units, mut first_row) = (Vec::new(), 0);
    for (shard, source) in shards.iter().enumerate() {
        let ranges = ranges(&source.group_rows);
        let count = ranges.len();
        for (number, groups) in ranges.into_iter().enumerate() {
            let rows = source.group_rows[groups.clone()].iter().sum();
            let output = match count {
                1 => source.name.clone(),
                _ => source.name.with_extension(format!("{number:05}-of-{count:05}.parquet")),
            };
            units.push(Unit { shard, groups, first_row, rows, output });
            first_row += rows;
        }
    }
    units
}

fn ranges(group_rows: &[u64]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut first, mut rows) = (0, 0u64);
    for (group, &more) in group_rows.iter().enumerate() {
        if group > first && rows.saturating_add(more) > UNIT_ROWS {
            ranges.push(first..group);
            (first, rows) = (group, 0);
        }
        rows = rows.saturating_add(more);
    }
    ranges.push(first..group_rows.len());
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_row_groups_are_combined_and_large_ones_stay_alone() {
        const M: u64 = UNIT_ROWS;
        assert_eq!(ranges(&[]), vec![0..0; 1]);
        assert_eq!(ranges(&[3, 4, 5]), vec![0..3; 1]);
        assert_eq!(ranges(&[M, 1, M - 1, 1]), [0..1, 1..3, 3..4]);
        assert_eq!(ranges(&[1, 5 * M, 1]), [0..1, 1..2, 2..3]);
    }
}
