//! What can be judged: a distance, a policy. Learned, exact or from elsewhere, all look the same from outside.
//!
//! Situations are rows of single-precision numbers, `[n, width]`, row by row.

use crate::Discount;

/// A distance in time between situations, in nats: `d(s, g) = -ln E[gamma^H(s -> g)]`.
pub trait TemporalDistance: Send + Sync {
    /// Numbers of a situation.
    fn width(&self) -> usize;

    /// The discount that its nats are measured with: `steps = nats / ln(1/gamma)`.
    fn discount(&self) -> Discount;

    /// Nats from row `i` of `from` to row `i` of `to`.
    ///
    /// # Shapes
    /// `[n, width]` twice gives `[n]`.
    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32>;

    /// Nats from every row of `from` to every row of `to`.
    ///
    /// # Shapes
    /// `[n, width]` and `[m, width]` give `[n, m]`.
    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32>;
}

/// What to do at a situation to come to another.
pub trait GoalPolicy: Send + Sync {
    /// Numbers of a situation.
    fn observation_width(&self) -> usize;

    /// Numbers of an action.
    fn action_width(&self) -> usize;

    /// The most likely action at row `i` of `observations` towards row `i` of `goals`, both whole situations; in the units of the data.
    ///
    /// # Shapes
    /// `[n, observation width]` twice gives `[n, action width]`.
    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: TemporalDistance + ?Sized> TemporalDistance for $pointer {
            fn width(&self) -> usize {
                (**self).width()
            }

            fn discount(&self) -> Discount {
                (**self).discount()
            }

            fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
                (**self).paired_nats(from, to)
            }

            fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
                (**self).all_pairs_nats(from, to)
            }
        }

        impl<T: GoalPolicy + ?Sized> GoalPolicy for $pointer {
            fn observation_width(&self) -> usize {
                (**self).observation_width()
            }

            fn action_width(&self) -> usize {
                (**self).action_width()
            }

            fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
                (**self).actions(observations, goals)
            }
        }
    )*};
}

forward!(&T, Box<T>, std::sync::Arc<T>);
