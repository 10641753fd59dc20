//! The interface of temporal distances between states.

use crate::{
    discount::Discount,
    latent::LatentDistance,
    shape::{ShapeError, check_pairs, check_row, check_rows},
};
use std::sync::Arc;

/// A temporal distance between states, in nats: `d(s, g) = -ln E[gamma^H(s -> g)]`.
///
/// States are row-major slices of `f32`, `[n, width]`. The required methods panic if shapes are
/// wrong; the provided methods, which return steps, return an error instead.
pub trait TemporalDistance: Send + Sync {
    /// Returns the width of a state.
    fn width(&self) -> usize;

    /// Returns the discount that converts nats to steps: `steps = nats / ln(1/gamma)`.
    fn discount(&self) -> Discount;

    /// Returns the distance in nats from row `i` of `from` to row `i` of `to`, for every `i`.
    ///
    /// # Shapes
    /// `from, to: [n, width]` give `[n]`.
    ///
    /// # Panics
    /// If [`check_paired`](Self::check_paired) fails, with its message.
    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32>;

    /// Returns the distance in nats from every row of `from` to every row of `to`.
    ///
    /// # Shapes
    /// `from: [n, width]` and `to: [m, width]` give `[n, m]`.
    ///
    /// # Panics
    /// If [`check_all_pairs`](Self::check_all_pairs) fails, with its message.
    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32>;

    /// Returns the latent rows that the distance compares; `None` if it is not a function of latent
    /// rows.
    fn as_latent(&self) -> Option<&dyn LatentDistance> {
        None
    }

    /// Returns the distance from one state to another in effective steps.
    ///
    /// # Errors
    /// If one of the states does not have [`width`](Self::width) numbers.
    fn steps(&self, from: &[f32], to: &[f32]) -> Result<f64, ShapeError> {
        check_row("from", from, self.width())?;
        check_row("to", to, self.width())?;
        Ok(self.paired_steps(from, to)?[0])
    }

    /// Like [`paired_nats`](Self::paired_nats), in effective steps.
    ///
    /// # Errors
    /// If [`check_paired`](Self::check_paired) fails.
    fn paired_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        self.check_paired(from, to)?;
        Ok(steps_from_nats(self.discount(), self.paired_nats(from, to)))
    }

    /// Like [`all_pairs_nats`](Self::all_pairs_nats), in effective steps.
    ///
    /// # Errors
    /// If [`check_all_pairs`](Self::check_all_pairs) fails.
    fn all_pairs_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        self.check_all_pairs(from, to)?;
        Ok(steps_from_nats(self.discount(), self.all_pairs_nats(from, to)))
    }

    /// Returns the number of pairs that [`paired_nats`](Self::paired_nats) would compare.
    ///
    /// # Errors
    /// If the length of an argument is not a multiple of the width, or the numbers of rows differ.
    fn check_paired(&self, from: &[f32], to: &[f32]) -> Result<usize, ShapeError> {
        check_pairs(("from", from), ("to", to), self.width())
    }

    /// Returns the numbers of rows and columns that [`all_pairs_nats`](Self::all_pairs_nats) would
    /// return.
    ///
    /// # Errors
    /// If the length of an argument is not a multiple of the width.
    fn check_all_pairs(&self, from: &[f32], to: &[f32]) -> Result<(usize, usize), ShapeError> {
        Ok((check_rows("from", from, self.width())?, check_rows("to", to, self.width())?))
    }
}

fn steps_from_nats(discount: Discount, nats: Vec<f32>) -> Vec<f64> {
    // Rounding may produce a negative zero; `+ 0.0` makes it positive.
    nats.into_iter().map(|nats| discount.steps_from_nats(f64::from(nats)) + 0.0).collect()
}

forward!(TemporalDistance for &T | Box<T> | Arc<T>, {
    fn width() -> usize;
    fn discount() -> Discount;
    fn paired_nats(from: &[f32], to: &[f32]) -> Vec<f32>;
    fn all_pairs_nats(from: &[f32], to: &[f32]) -> Vec<f32>;
    fn as_latent() -> Option<&dyn LatentDistance>;
});

#[cfg(test)]
mod tests {
    use super::*;

    /// The signed difference of the first coordinates of two points in the plane, in nats.
    struct FirstAxis;

    impl TemporalDistance for FirstAxis {
        fn width(&self) -> usize {
            2
        }

        fn discount(&self) -> Discount {
            Discount::new(0.9).unwrap()
        }

        fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
            self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
            from.chunks(2).zip(to.chunks(2)).map(|(from, to)| to[0] - from[0]).collect()
        }

        fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
            self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
            from.chunks(2).flat_map(|from| to.chunks(2).map(move |to| to[0] - from[0])).collect()
        }
    }

    #[test]
    fn steps_are_nats_over_nats_per_step_and_zero_is_positive() {
        let unit = FirstAxis.discount().nats_per_step();
        assert_eq!(FirstAxis.steps(&[0.0, 0.0], &[3.0, 9.0]).unwrap(), 3.0 / unit);
        let steps = FirstAxis.all_pairs_steps(&[0.0, 0.0, 1.0, 0.0], &[-0.0, 0.0, 1.0, 0.0]).unwrap();
        assert_eq!(steps, [0.0, 1.0 / unit, -1.0 / unit, 0.0]);
        let zero = FirstAxis.paired_steps(&[0.0, 0.0], &[-0.0, 0.0]).unwrap();
        assert!(zero[0].is_sign_positive());
    }

    #[test]
    fn shape_errors_name_the_argument_its_length_and_the_width() {
        let error = FirstAxis.steps(&[0.0; 2], &[0.0; 3]).unwrap_err();
        assert_eq!(error, ShapeError::NotOneRow { argument: "to", numbers: 3, width: 2 });
        // Two rows are not one state.
        assert!(FirstAxis.steps(&[0.0; 4], &[0.0; 4]).is_err());
        let error = FirstAxis.paired_steps(&[0.0; 3], &[0.0; 2]).unwrap_err();
        assert_eq!(error, ShapeError::NotRows { argument: "from", numbers: 3, width: 2 });
        let error = FirstAxis.paired_steps(&[0.0; 4], &[0.0; 2]).unwrap_err();
        assert_eq!(
            error,
            ShapeError::RowCounts { argument: "from", rows: 2, other: "to", other_rows: 1, width: 2 }
        );
        assert_eq!(
            error.to_string(),
            "`from` has 2 rows of width 2 and `to` has 1; hint: pass the same number of rows in both"
        );
        assert!(FirstAxis.all_pairs_steps(&[0.0; 4], &[0.0; 3]).is_err());
        assert_eq!(FirstAxis.all_pairs_steps(&[0.0; 4], &[]).unwrap(), Vec::<f64>::new());
    }

    #[test]
    fn pointers_to_distances_are_distances() {
        fn width(distance: impl TemporalDistance) -> usize {
            distance.width()
        }
        let boxed: Box<dyn TemporalDistance> = Box::new(FirstAxis);
        assert_eq!([width(&FirstAxis), width(&*boxed), width(boxed), width(Arc::new(FirstAxis))], [2; 4]);
    }
}
