//! Readable reference implementations in double precision, for tests of the kernels.

use super::PairForm;

/// Returns the value of one pair.
pub(crate) fn value(form: PairForm, x: &[f64], y: &[f64], mix: f64) -> f64 {
    match form {
        PairForm::MaxL2 { components, max_width, l2_width } => {
            let width = max_width + l2_width;
            let parts = x.chunks(width).zip(y.chunks(width)).map(|(x, y)| {
                let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
                let largest = differences[..max_width].iter().fold(0.0f64, |a, &b| a.max(b));
                let squares: f64 = differences[max_width..].iter().map(|d| d * d).sum();
                largest + squares.sqrt()
            });
            parts.sum::<f64>() / components as f64
        }
        PairForm::Interval { groups, group_width } => {
            let pairs = x.chunks(group_width).zip(y.chunks(group_width));
            let lengths: Vec<f64> = pairs.map(|(x, y)| union_length(x, y)).collect();
            let largest = lengths.iter().fold(0.0f64, |a, &b| a.max(b));
            mix * largest + (1.0 - mix) * lengths.iter().sum::<f64>() / groups as f64
        }
        PairForm::InnerProduct { .. } => x.iter().zip(y).map(|(x, y)| x * y).sum(),
    }
}

/// Returns the length of the union of `[x_k, max(x_k, y_k)]`, as a sum over neighboring end points.
fn union_length(x: &[f64], y: &[f64]) -> f64 {
    let intervals: Vec<(f64, f64)> = x.iter().zip(y).map(|(&x, &y)| (x, x.max(y))).collect();
    let mut points: Vec<f64> = intervals.iter().flat_map(|&(a, b)| [a, b]).collect();
    points.sort_by(f64::total_cmp);
    let pieces = points.windows(2).filter(|p| intervals.iter().any(|&(a, b)| a <= p[0] && p[1] <= b));
    pieces.map(|p| p[1] - p[0]).sum()
}

/// Returns the values of all pairs, `[n, m]`.
pub(crate) fn all_pairs(form: PairForm, x: &[f64], y: &[f64], mix: f64) -> Vec<f64> {
    let width = form.width();
    x.chunks(width).flat_map(|x| y.chunks(width).map(move |y| value(form, x, y, mix))).collect()
}

/// Returns the gradient of `f` at `at` by central differences.
pub(crate) fn differences(at: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-6;
    let mut point = at.to_vec();
    (0..at.len())
        .map(|i| {
            let mut value = |offset: f64| {
                point[i] = at[i] + offset;
                f(&point)
            };
            let slope = (value(STEP) - value(-STEP)) / (2.0 * STEP);
            point[i] = at[i];
            slope
        })
        .collect()
}
