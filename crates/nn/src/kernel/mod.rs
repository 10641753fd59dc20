//! The arithmetic on plain slices: no tensors, no framework. Rayon across rows, vectors within (chosen when the program
//! runs, with a portable path), the same bits for any number of threads.
//!
//! [`block`](self) evaluates a quasimetric on all pairs in blocks of rows; everything else is built from that or is a single
//! pass over memory. The operations that Burn sees are in [`crate::op`].

mod activation;
mod adam;
mod block;
mod contrast;
mod dense;
mod form;
mod interval;
mod math;
mod matrix;
mod max_l2;
mod panel;
mod rows;
mod vectorise;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub(crate) use activation::{GELU_CUBIC, GELU_SLOPE};
pub use adam::AdamStep;
pub use block::{PairGradients, Pairs, Tape, all_pairs, all_pairs_backward};
pub use contrast::{Contrast, Kept, LogSums, Objective, STATISTICS};
pub use dense::{NORM_EPSILON, layer_norm, layer_norm_backward, linear, linear_backward_bias};
pub use form::PairForm;
pub use matrix::{Matrix, multiply, multiply_into};
pub use rows::{rowwise, rowwise_backward};
