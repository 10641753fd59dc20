//! Non-negative least squares.

/// The maximum number of sweeps; a well-scaled problem needs a few tens.
const MAX_SWEEPS: usize = 5000;
/// The change of coefficients, relative to the largest, below which they have converged.
const TOLERANCE: f64 = 1e-10;

/// Minimizes `|A w - y|^2` over `w >= 0`, given `gram = A^T A`, `[n, n]`, and `moment = A^T y`, by
/// coordinate descent. Coefficients of zero columns are 0.
pub(crate) fn solve(gram: &[f64], moment: &[f64]) -> Vec<f64> {
    let n = moment.len();
    let mut w = vec![0.0; n];
    for _ in 0..MAX_SWEEPS {
        let mut largest_change = 0f64;
        for i in 0..n {
            let row = &gram[i * n..][..n];
            if row[i] <= 0.0 {
                continue;
            }
            let residual = moment[i] - row.iter().zip(&w).map(|(g, w)| g * w).sum::<f64>();
            let next = (w[i] + residual / row[i]).max(0.0);
            largest_change = largest_change.max((next - w[i]).abs());
            w[i] = next;
        }
        if largest_change <= TOLERANCE * w.iter().fold(0.0, |max: f64, w| max.max(*w)) {
            break;
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.optimize.nnls([[1, 2], [3, 4], [5, 6]], [7, 8, 9])` gives [0, 1.7857142857142858].
    #[test]
    fn a_coefficient_that_would_be_negative_is_zero() {
        let (a, y) = ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [7.0, 8.0, 9.0]);
        let product = |i: usize, j: usize| a.iter().map(|row| row[i] * row[j]).sum::<f64>();
        let gram = [product(0, 0), product(0, 1), product(1, 0), product(1, 1)];
        let moment = [0, 1].map(|i: usize| a.iter().zip(y).map(|(row, y)| row[i] * y).sum::<f64>());
        let w = solve(&gram, &moment);
        assert_eq!(w[0], 0.0);
        assert!((w[1] - 1.785_714_285_714_285_8).abs() < 1e-9, "{w:?}");
    }

    #[test]
    fn columns_of_zeros_have_no_weight() {
        assert_eq!(solve(&[0.0, 0.0, 0.0, 2.0], &[0.0, 3.0]), [0.0, 1.5]);
    }
}
