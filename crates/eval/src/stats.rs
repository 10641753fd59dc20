//! Aggregate scores of several runs, with confidence intervals.
//!
//! Agarwal et al. (2021), *Deep Reinforcement Learning at the Edge of the Statistical Precipice*:
//! means are sensitive to outliers and medians are statistically inefficient, so the interquartile
//! mean, the mean of the middle half, is reported along with the mean. Both have confidence
//! intervals from a stratified bootstrap, which resamples runs within each task.

use isochrone_core::rng;

/// A statistic with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The statistic of all scores.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The default number of bootstrap resamples.
pub const RESAMPLES: usize = 2000;

/// Returns the arithmetic mean; NaN if there are no scores.
pub fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// Returns the mean of the middle half: the lowest and the highest quarter, rounded down, are left
/// out.
pub fn interquartile_mean(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = sorted.len() / 4;
    mean(&sorted[cut..sorted.len() - cut])
}

/// Returns a statistic of all scores with its confidence interval: the 2.5th and the 97.5th
/// percentile over resamples, each of which draws the runs of every task with replacement.
///
/// `tasks[t]` are the scores of the runs at task `t`. Resample `i` uses stream `i` of the seed.
pub fn bootstrap(
    tasks: &[Vec<f64>],
    statistic: impl Fn(&[f64]) -> f64,
    resamples: usize,
    seed: u64,
) -> Estimate {
    let all: Vec<f64> = tasks.concat();
    let mut drawn = Vec::with_capacity(all.len());
    let mut values: Vec<f64> = (0..resamples)
        .map(|number| {
            let mut random = rng::stream(seed, number as u64);
            drawn.clear();
            for scores in tasks {
                drawn.extend((0..scores.len()).map(|_| scores[rng::below(&mut random, scores.len())]));
            }
            statistic(&drawn)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    Estimate { value: statistic(&all), low: percentile(&values, 0.025), high: percentile(&values, 0.975) }
}

/// Returns a percentile of sorted values by linear interpolation; NaN if there are none.
fn percentile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let (below, share) = (place.floor() as usize, place.fract());
    sorted[below] + share * (sorted[last.min(below + 1)] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interquartile_mean_ignores_outliers() {
        assert_eq!(interquartile_mean(&[1.0, 2.0, 3.0, 1000.0]), 2.5);
        assert_eq!(interquartile_mean(&[5.0]), 5.0);
        assert!((interquartile_mean(&[-1e9, 1.0, 2.0, 3.0, 4.0]) - 2.0).abs() < 1e-12);
        assert!(interquartile_mean(&[]).is_nan());
    }

    #[test]
    fn the_interval_of_a_single_run_has_zero_width() {
        let estimate = bootstrap(&[vec![0.25], vec![0.75]], mean, 100, 0);
        assert_eq!(estimate, Estimate { value: 0.5, low: 0.5, high: 0.5 });
    }

    #[test]
    fn resamples_depend_only_on_the_seed() {
        let scores = [vec![0.1, 0.4, 0.3, 0.9, 0.2]];
        let [a, b, c] = [3, 3, 4].map(|seed| bootstrap(&scores, mean, 200, seed));
        assert_eq!(a, b);
        assert_ne!(a, c);
        assert!(a.low < a.value && a.value < a.high);
    }
}
