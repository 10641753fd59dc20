//! Linear layers and layer normalization, each fused with an activation.

use super::Initializer;
use crate::{kernel::Activation, op};
use burn::{
    module::{Module, Param},
    tensor::Tensor,
};

/// A linear layer with an activation: `act(x w + b)`.
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

    /// Applies the layer.
    ///
    /// # Shapes
    /// `x: [n, inputs]` gives `[n, outputs]`.
    pub fn forward(&self, x: Tensor<2>, activation: Activation) -> Tensor<2> {
        op::linear(x, self.weight.val(), self.bias.val(), activation)
    }
}

/// Layer normalization with an activation: `act(gain * (x - mean) / deviation + shift)` for each
/// row.
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

    /// Applies the normalization.
    ///
    /// # Shapes
    /// `x: [n, width]` gives `[n, width]`.
    pub fn forward(&self, x: Tensor<2>, activation: Activation) -> Tensor<2> {
        op::layer_norm(x, self.gain.val(), self.shift.val(), activation)
    }
}
