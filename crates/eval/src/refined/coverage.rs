//! Rows that cover a dataset, for planners.

use super::{HopMetric, RefinedConfig, choice::running_count, cover::k_center, jumps, nearest::Points};
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
    let width = metric.projected_width();
    let centers: Vec<usize> = k_center(&projected, width, n).into_iter().map(|(row, _)| row).collect();
    central(&projected, width, &centers).into_iter().map(|row| rows[row]).collect()
}

/// Replaces each center by the row nearest to the mean of its cell: the rows that are nearest to
/// it. Centers themselves are extreme, such as states at a wall, which policies avoid.
fn central(values: &[f32], width: usize, centers: &[usize]) -> Vec<usize> {
    let row = |number: usize| &values[number * width..][..width];
    let points: Vec<f32> = centers.iter().flat_map(|&center| row(center)).copied().collect();
    let cells = Points::new(&points, width).nearest(values);
    let (mut means, mut counts) = (vec![0.0f64; points.len()], vec![0u32; centers.len()]);
    for (number, cell) in cells.iter().map(|(cell, _)| *cell as usize).enumerate() {
        counts[cell] += 1;
        let sums = means[cell * width..][..width].iter_mut();
        sums.zip(row(number)).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let mut nearest: Vec<(f64, usize)> = centers.iter().map(|&center| (f64::INFINITY, center)).collect();
    for (number, cell) in cells.iter().map(|(cell, _)| *cell as usize).enumerate() {
        let mean = means[cell * width..][..width].iter().map(|sum| sum / f64::from(counts[cell]));
        let square = mean.zip(row(number)).map(|(mean, value)| (mean - f64::from(*value)).powi(2)).sum();
        if square < nearest[cell].0 {
            nearest[cell] = (square, number);
        }
    }
    nearest.into_iter().map(|(_, number)| number).collect()
}
