//! The parameters of linear layers and layer normalization.

use super::Initializer;
use burn::{
    module::{Module, Param},
    tensor::Tensor,
};

/// A linear layer, `x w + b`.
#[derive(Module, Debug)]
pub struct Dense {
    /// `[inputs, outputs]`
    pub weight: Param<Tensor<2>>,
    /// `[outputs]`
    pub bias: Param<Tensor<1>>,
}

impl Dense {
    pub(super) fn new(inputs: usize, outputs: usize, init: &mut Initializer) -> Self {
        Self { weight: init.weight(inputs, outputs), bias: init.constant(outputs, 0.0) }
    }
}

/// Layer normalization: `gain * (x - mean) / deviation + shift` for each row.
#[derive(Module, Debug)]
pub struct Norm {
    /// `[width]`
    pub gain: Param<Tensor<1>>,
    /// `[width]`
    pub shift: Param<Tensor<1>>,
}

impl Norm {
    pub(super) fn new(width: usize, init: &mut Initializer) -> Self {
        Self { gain: init.constant(width, 1.0), shift: init.constant(width, 0.0) }
    }
}
