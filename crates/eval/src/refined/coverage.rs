//! Rows that cover a dataset, for planners.

use super::{HopMetric, RefinedConfig, choice::running_count, cover::k_center, jumps};
use isochrone_data::Dataset;

/// Chooses at most `n` of some rows of a dataset such that every one of them is near a chosen one,
/// by the hop metric.
pub(crate) fn covering_rows(data: &Dataset, rows: &[u32], n: usize, seed: u64) -> Vec<u32> {
    let jumps_before = running_count(jumps::find(data, &jumps::largest_steps(data)));
    let pairs = RefinedConfig::default().hop_pairs;
    // If no column is informative about time, all columns count.
    let metric = HopMetric::fit(data, &jumps_before, pairs, seed)
        .unwrap_or_else(|_| HopMetric::new(&vec![1.0; data.spec().observation.width]));
    let mut projected = Vec::with_capacity(rows.len() * metric.projected_width());
    rows.iter().for_each(|&row| metric.project(data.state(u64::from(row)), &mut projected));
    k_center(&projected, metric.projected_width(), n).into_iter().map(|(row, _)| rows[row]).collect()
}
