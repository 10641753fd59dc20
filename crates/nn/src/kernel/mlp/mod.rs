//! Multilayer perceptrons, forward and backward, each as one operation.
//!
//! A layer is `act(norm(x w + b))`. Waking another thread takes as long as a small network takes
//! for a batch, so that one thread computes small batches, and larger ones are divided into blocks
//! of rows: a task takes its rows through all layers. Large networks are computed layer by layer,
//! with matrix products on all threads. The division depends only on sizes, and sums over blocks
//! are added in their order, so that results do not depend on the number of threads.

mod backward;
mod forward;
mod rows;

pub use backward::{LayerGradients, MlpGradients};
pub use forward::MlpTape;
pub use rows::NORM_EPSILON;

use super::{Activation, matrix::Threads};
use rayon::prelude::*;

/// One layer on plain slices.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    /// `[inputs, outputs]`
    pub weight: &'a [f32],
    /// `[outputs]`
    pub bias: &'a [f32],
    /// Gain and shift of a layer normalization, each `[outputs]`.
    pub norm: Option<[&'a [f32]; 2]>,
    /// The activation after it.
    pub activation: Activation,
}

impl Layer<'_> {
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn inputs(&self) -> usize {
        self.weight.len() / self.bias.len()
    }

    /// Whether the derivative of the activation needs more than the outputs.
    fn keeps_preactivations(&self) -> bool {
        matches!(self.activation, Activation::Gelu | Activation::Silu)
    }
}

/// A multilayer perceptron on plain slices: its layers from input to output.
#[derive(Clone, Copy)]
pub struct Mlp<'a>(pub &'a [Layer<'a>]);

/// How the rows of a batch are divided.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plan {
    /// The number of rows of a block.
    block_rows: usize,
    /// Whether blocks are divided among threads.
    blocks_in_parallel: bool,
    /// The threads that compute a block.
    inside: Threads,
}

/// The number of rows of a block, if there are several.
const BLOCK_ROWS: usize = 128;
/// The number of rows of a task inside a block that all threads compute.
const TASK_ROWS: usize = 32;
/// Networks whose widest weight matrix has more elements are computed layer by layer.
const MAX_BLOCK_WEIGHTS: usize = 128 * 128;
/// One thread computes a forward pass of fewer multiplications, in about 0.03 ms.
const PARALLEL_FROM: usize = 1 << 21;

impl Mlp<'_> {
    fn inputs(&self) -> usize {
        self.0[0].inputs()
    }

    fn outputs(&self) -> usize {
        self.0[self.0.len() - 1].outputs()
    }

    fn plan(&self, rows: usize) -> Plan {
        let weights: usize = self.0.iter().map(|layer| layer.weight.len()).sum();
        let widest = self.0.iter().map(|layer| layer.weight.len()).max();
        let one_block = |inside| Plan { block_rows: rows.max(1), blocks_in_parallel: false, inside };
        if rows * weights < PARALLEL_FROM {
            one_block(Threads::One)
        } else if widest <= Some(MAX_BLOCK_WEIGHTS) {
            Plan { block_rows: BLOCK_ROWS, blocks_in_parallel: true, inside: Threads::One }
        } else {
            one_block(Threads::All)
        }
    }
}

/// Maps tasks in order, on all threads if `parallel`.
fn map_tasks<T: Send, R: Send>(tasks: Vec<T>, parallel: bool, f: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    match parallel {
        true => tasks.into_par_iter().with_max_len(1).map(f).collect(),
        false => tasks.into_iter().map(f).collect(),
    }
}
