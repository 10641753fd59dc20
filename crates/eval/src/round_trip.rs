//! Round-trip distances, which avoid risky transitions.
//!
//! A discounted distance treats a small probability of success like a short path: at a discount of
//! 0.9, a probability of one third costs about as much as ten steps. If a transition is due to
//! chance, there is typically no short path back, so the larger of the two directed distances
//! separates the two cases.

use isochrone_core::{Discount, LatentDistance, LatentMetric, ShapeError, TemporalDistance};
use rayon::prelude::*;
use std::sync::Arc;

/// The larger of the two directed distances between states.
pub struct RoundTrip<D>(pub D);

impl<D: TemporalDistance> TemporalDistance for RoundTrip<D> {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn discount(&self) -> Discount {
        self.0.discount()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let (there, back) = (self.0.paired_nats(from, to), self.0.paired_nats(to, from));
        there.into_iter().zip(back).map(|(there, back)| larger(there, back)).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let (rows, _) = self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        larger_of_all_pairs(self.0.all_pairs_nats(from, to), &self.0.all_pairs_nats(to, from), rows)
    }

    fn as_latent(&self) -> Option<&dyn LatentDistance> {
        self.0.as_latent().map(|_| self as &dyn LatentDistance)
    }
}

impl<D: TemporalDistance> LatentDistance for RoundTrip<D> {
    fn embed(&self, rows: &[f32]) -> Vec<f32> {
        self.0.as_latent().expect("`as_latent` checks it").embed(rows)
    }

    fn metric(&self) -> Arc<dyn LatentMetric> {
        Arc::new(RoundTripMetric(self.0.as_latent().expect("`as_latent` checks it").metric()))
    }
}

/// The larger of the two directed distances between latent rows.
struct RoundTripMetric(Arc<dyn LatentMetric>);

impl LatentMetric for RoundTripMetric {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn nats(&self, from: &[f32], to: &[f32]) -> f32 {
        larger(self.0.nats(from, to), self.0.nats(to, from))
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        let (there, back) = (self.0.all_pairs_nats(from, to), self.0.all_pairs_nats(to, from));
        larger_of_all_pairs(there, &back, from.len() / self.width())
    }
}

/// Returns the larger of `[rows, columns]` and `[columns, rows]` distances.
fn larger_of_all_pairs(mut nats: Vec<f32>, back: &[f32], rows: usize) -> Vec<f32> {
    let columns = (nats.len() / rows.max(1)).max(1);
    nats.par_chunks_mut(columns).enumerate().for_each(|(row, nats)| {
        for (column, there) in nats.iter_mut().enumerate() {
            *there = larger(*there, back[column * rows + row]);
        }
    });
    nats
}

/// Returns the larger value; NaN if one of them is NaN.
fn larger(there: f32, back: f32) -> f32 {
    if there >= back || there.is_nan() { there } else { back }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States on a line: forward costs one per unit, backward three.
    struct Slope;

    impl TemporalDistance for Slope {
        fn width(&self) -> usize {
            1
        }

        fn discount(&self) -> Discount {
            Discount::new(0.9).unwrap()
        }

        fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
            self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
            from.iter().zip(to).map(|(a, b)| if b >= a { b - a } else { 3.0 * (a - b) }).collect()
        }

        fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
            from.iter().flat_map(|&a| to.iter().flat_map(move |&b| Self.paired_nats(&[a], &[b]))).collect()
        }
    }

    #[test]
    fn both_directions_have_the_larger_distance() {
        let round_trip = RoundTrip(Slope);
        assert_eq!(round_trip.paired_nats(&[0.0, 2.0], &[2.0, 0.0]), [6.0, 6.0]);
        assert_eq!(round_trip.all_pairs_nats(&[0.0, 1.0], &[0.0, 1.0, 2.0]), [0.0, 3.0, 6.0, 3.0, 0.0, 3.0]);
    }
}
