//! Kernels on plain slices, without tensors or a framework. They use Rayon across rows and SIMD
//! within rows (selected at run time, with a portable fallback). Results are bit-identical for any
//! number of threads.
//!
//! [`block`](self) evaluates a quasimetric on all pairs in blocks of rows; the other kernels use it
//! or take a single pass over memory. [`crate::op`] contains the corresponding operations on Burn
//! tensors.

mod activation;
mod adam;
mod block;
mod contrast;
mod form;
mod interval;
#[cfg(target_arch = "x86_64")]
mod limited_product;
mod math;
mod matrix;
mod max_l2;
mod mlp;
mod narrow;
mod panel;
mod rows;
mod threads;
mod union;
mod vectorize;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub(crate) use activation::{GELU_CUBIC, GELU_SLOPE};
pub use adam::AdamStep;
pub use block::{PairGradients, Pairs, Tape, all_pairs, all_pairs_backward};
pub use contrast::{Contrast, ForwardCache, LogSums, Objective, PartialSum, STATISTICS};
pub use form::PairForm;
pub use matrix::{Matrix, multiply, multiply_into};
pub use mlp::{Layer, LayerGradients, Mlp, MlpGradients, MlpTape, NORM_EPSILON};
pub use rows::{pair, rowwise, rowwise_backward};
