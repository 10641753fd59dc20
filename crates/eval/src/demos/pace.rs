//! The pace of operators: readings of the refined distance in frames of typical demonstrations.

use isochrone_core::statistics::{median, quantile};

/// The number of knots, and the quantile of readings that they cover.
const KNOTS: usize = 24;
const LARGEST: f64 = 0.95;

/// An increasing, piecewise linear map through (0, 0). Beyond the last knot, it continues with the
/// ratio of the last knot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pace {
    knots: Vec<(f64, f64)>,
}

impl Pace {
    /// Fits observed values as a function of readings, from pairs of a reading and an observed
    /// value for each episode. In every interval of readings, an episode counts once, with its
    /// median: the frames of a long stall are no more than those of others. Readings that are not
    /// finite are ignored; without any, the map is the identity.
    pub fn fit(episodes: &[Vec<(f64, f64)>]) -> Self {
        let is_used = |pair: &&(f64, f64)| pair.0.is_finite() && pair.0 > 0.0;
        let readings = episodes.iter().flatten().filter(is_used).map(|pair| pair.0).collect();
        let interval = quantile(readings, LARGEST) / KNOTS as f64;
        if !interval.is_finite() {
            return Self::through(Vec::new());
        }
        let knot = |at: usize| {
            let is_inside = |pair: &&(f64, f64)| is_used(pair) && (pair.0 / interval) as usize == at;
            let of_episode = |pairs: &Vec<(f64, f64)>| {
                let inside = || pairs.iter().filter(is_inside);
                let reading = median(inside().map(|pair| pair.0).collect());
                let observed = median(inside().map(|pair| pair.1).collect());
                (!reading.is_nan()).then_some((reading, observed))
            };
            let found: Vec<(f64, f64)> = episodes.iter().filter_map(of_episode).collect();
            let reading = median(found.iter().map(|pair| pair.0).collect());
            (reading, median(found.into_iter().map(|pair| pair.1).collect()))
        };
        Self::through((0..KNOTS).map(knot).collect())
    }

    /// Creates the map through the points that are larger than all before them in both coordinates.
    pub fn through(points: Vec<(f64, f64)>) -> Self {
        let mut knots = vec![(0.0, 0.0)];
        for point in points {
            let last = knots[knots.len() - 1];
            if point.0 > last.0 && point.1 > last.1 {
                knots.push(point);
            }
        }
        Self { knots }
    }

    /// Returns the observed value that is typical of a reading.
    pub fn of(&self, reading: f64) -> f64 {
        let after = self.knots.partition_point(|knot| knot.0 <= reading);
        match (self.knots.get(after.wrapping_sub(1)), self.knots.get(after)) {
            (Some(before), Some(next)) => {
                let part = (reading - before.0) / (next.0 - before.0);
                before.1 + part * (next.1 - before.1)
            }
            (Some(last), None) if last.0 > 0.0 => reading * last.1 / last.0,
            _ => reading,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_become_the_median_of_what_was_observed_and_order_is_kept() {
        // Observed: three times the reading, in 4 of 5 episodes.
        let episode = |number: u32| {
            let pairs = (1..=480).map(|n| f64::from(n) / 10.0);
            let outlier = if number == 2 { 10.0 } else { 1.0 };
            pairs.map(|reading| (reading, 3.0 * outlier * reading)).collect::<Vec<_>>()
        };
        let pace = Pace::fit(&(0..5).map(episode).collect::<Vec<_>>());
        for reading in [0.5, 5.0, 20.0, 40.0, 100.0] {
            assert!(
                (pace.of(reading) / (3.0 * reading) - 1.0).abs() < 0.05,
                "{reading}: {}",
                pace.of(reading)
            );
        }
        assert!(pace.of(0.0) == 0.0 && pace.of(f64::INFINITY).is_infinite());
        let read: Vec<f64> = (0..2000).map(|n| pace.of(f64::from(n) * 0.05)).collect();
        assert!(read.is_sorted());
    }

    #[test]
    fn without_observations_readings_are_kept() {
        assert_eq!(Pace::fit(&[vec![(f64::INFINITY, 3.0), (f64::NAN, 1.0)]]).of(7.0), 7.0);
    }
}
