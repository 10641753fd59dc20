//! Distances in the steps that recordings took.
//!
//! A contrastive distance says how likely a situation is met, not how long the way to it is: where behaviour wanders, even what is near seems far. What it says of situations that were seen a
//! known number of steps apart tells how to read it.

use isochrone_core::{Discount, TemporalDistance};

/// Offsets, in recorded steps, at which a distance is looked at.
pub const OFFSETS: [usize; 10] = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64];

/// An offset at which a distance says less than this share more than before cannot be told from the one before.
const LEAST_RISE: f32 = 0.02;

/// The share of pairs that came less far than those whose time counts.
const HURRIED: f64 = 0.9;

/// A growing curve from what a distance says to what recordings took: straight between knots, and beyond the last as steep as at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Said and taken, in nats; both grow, from `(0, 0)`.
    knots: Vec<(f32, f32)>,
}

impl Calibration {
    /// Fits to what a distance says, in nats, of pairs of situations that were so many steps apart. Most of the time somebody dawdles, or waits where they wanted to be: of all pairs at an
    /// offset, those count who came far. Offsets at which it does not say more than at smaller ones are left out: it cannot tell
    /// them apart.
    pub fn fit(said: &[(usize, Vec<f32>)], discount: Discount) -> Self {
        let mut knots = vec![(0.0, 0.0)];
        for (steps, nats) in said {
            let Some(far) = quantile(nats, HURRIED) else { continue };
            let (last, _) = knots[knots.len() - 1];
            if far > last * (1.0 + LEAST_RISE) && far.is_finite() {
                knots.push((far, *steps as f32 * discount.nats_per_step() as f32));
            }
        }
        Self { knots }
    }

    /// What recordings took, in nats, given what a distance says.
    pub fn taken(&self, said: f32) -> f32 {
        let knots = &self.knots;
        if knots.len() < 2 || said.is_nan() {
            return said;
        }
        let after = knots.partition_point(|(knot, _)| *knot < said).clamp(1, knots.len() - 1);
        let ((x0, y0), (x1, y1)) = (knots[after - 1], knots[after]);
        y0 + (said - x0) * (y1 - y0) / (x1 - x0)
    }
}

fn quantile(values: &[f32], share: f64) -> Option<f32> {
    let mut values = values.to_vec();
    values.sort_by(f32::total_cmp);
    values.get(((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1))).copied()
}

/// A distance read by a calibration.
pub struct Calibrated<'a> {
    distance: &'a dyn TemporalDistance,
    calibration: Calibration,
}

impl<'a> Calibrated<'a> {
    /// Reads a distance by a calibration.
    pub fn new(distance: &'a dyn TemporalDistance, calibration: Calibration) -> Self {
        Self { distance, calibration }
    }

    fn read(&self, mut nats: Vec<f32>) -> Vec<f32> {
        for value in &mut nats {
            *value = self.calibration.taken(*value);
        }
        nats
    }
}

impl TemporalDistance for Calibrated<'_> {
    fn width(&self) -> usize {
        self.distance.width()
    }

    fn discount(&self) -> Discount {
        self.distance.discount()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.read(self.distance.paired_nats(from, to))
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.read(self.distance.all_pairs_nats(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_read_as_what_was_taken() {
        let discount = Discount::new(0.9).unwrap();
        let unit = discount.nats_per_step() as f32;
        // It says the root of the truth, ten times too large; at 16 it has lost the thread.
        let said: Vec<(usize, Vec<f32>)> =
            [1usize, 4, 9].iter().map(|&steps| (steps, vec![10.0 * (steps as f32).sqrt(); 3])).collect();
        let calibration = Calibration::fit(&[&said[..], &[(16, vec![29.0])]].concat(), discount);
        for (nats, steps) in [(0.0, 0.0), (10.0, 1.0), (20.0, 4.0), (25.0, 6.5), (30.0, 9.0), (40.0, 14.0)] {
            assert!(
                (calibration.taken(nats) / unit - steps).abs() < 1e-4,
                "{nats} is {}",
                calibration.taken(nats) / unit
            );
        }
        assert!(calibration.taken(f32::NAN).is_nan());
        assert_eq!(calibration.taken(f32::INFINITY), f32::INFINITY);
    }
}
