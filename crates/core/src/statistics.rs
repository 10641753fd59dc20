//! Summary statistics.

/// Returns Spearman's rank correlation of two columns of equal length. Equal values share their
/// mean rank. NaN if a column is constant or contains a NaN.
///
/// # Panics
/// If the lengths differ.
pub fn spearman(left: &[f64], right: &[f64]) -> f64 {
    assert_eq!(left.len(), right.len(), "the columns have equal lengths");
    if left.iter().chain(right).any(|value| value.is_nan()) {
        return f64::NAN;
    }
    pearson(&ranks(left), &ranks(right))
}

/// Returns the median; for an even number of values, the mean of the middle two. NaN if there are
/// no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n.is_multiple_of(2) => 0.5 * (values[half - 1] + values[half]),
        _ => values[half],
    }
}

/// Returns the `share` quantile, linear between neighboring values. Values may be infinite. NaN if
/// there are no values.
pub fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_unstable_by(f64::total_cmp);
    let place = share * (values.len() - 1) as f64;
    let (below, part) = (place as usize, place.fract());
    // `0 * infinity` would be NaN.
    if part == 0.0 { values[below] } else { values[below] * (1.0 - part) + values[below + 1] * part }
}

fn pearson(left: &[f64], right: &[f64]) -> f64 {
    let n = left.len() as f64;
    let (mean_left, mean_right) = (left.iter().sum::<f64>() / n, right.iter().sum::<f64>() / n);
    let (mut product, mut square_left, mut square_right) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (left - mean_left, right - mean_right);
        product += left * right;
        square_left += left * left;
        square_right += right * right;
    }
    product / (square_left * square_right).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let shared = before as f64 + 0.5 * (tied.len() - 1) as f64;
        tied.iter().for_each(|&place| ranks[place] = shared);
        before += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_linear_and_values_may_be_infinite() {
        assert_eq!(quantile(vec![3.0, 1.0, 2.0], 0.0), 1.0);
        assert_eq!(quantile(vec![3.0, 1.0, 2.0], 0.25), 1.5);
        assert_eq!(quantile(vec![3.0, 1.0, f64::INFINITY], 0.5), 3.0);
        assert_eq!(quantile(vec![3.0, 1.0, f64::INFINITY], 0.6), f64::INFINITY);
        assert!(quantile(vec![], 0.5).is_nan());
    }

    #[test]
    fn rank_correlation_depends_only_on_the_order() {
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        let bent: Vec<f64> = rising.iter().map(|x| x.exp()).collect();
        let falling: Vec<f64> = rising.iter().map(|x| -x).collect();
        assert!((spearman(&rising, &bent) - 1.0).abs() < 1e-12);
        assert!((spearman(&rising, &falling) + 1.0).abs() < 1e-12);
        assert!(spearman(&rising, &[3.0; 20]).is_nan());
        assert!(spearman(&rising, &[f64::NAN; 20]).is_nan());
    }

    /// `scipy.stats.spearmanr([1, 2, 2, 3, 5], [2, 1, 4, 3, 5])` gives 0.6668859.
    #[test]
    fn ties_share_their_rank() {
        let correlation = spearman(&[1.0, 2.0, 2.0, 3.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]);
        assert!((correlation - 0.666_885_93).abs() < 1e-6, "{correlation}");
    }

    #[test]
    fn the_median_of_an_even_number_of_values_is_a_mean() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }
}
