//! Multilayer perceptrons.

use super::{Dense, Initializer, Norm};
use crate::{
    error::{ConfigError, at_least_one},
    kernel::Activation,
    op,
};
use burn::{module::Module, tensor::Tensor};
use serde::{Deserialize, Serialize};

/// The normalization between a hidden layer and its activation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalization {
    /// No normalization.
    #[default]
    None,
    /// Layer normalization (Ba et al., 2016).
    LayerNorm,
}

/// The configuration of the hidden layers of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrunkConfig {
    /// The number of units of a hidden layer.
    pub width: usize,
    /// The number of hidden layers; 0 makes the network linear.
    pub depth: usize,
    /// The activation after every hidden layer.
    pub activation: Activation,
    /// The normalization before every activation.
    pub normalization: Normalization,
}

impl Default for TrunkConfig {
    fn default() -> Self {
        Self { width: 512, depth: 3, activation: Activation::Gelu, normalization: Normalization::LayerNorm }
    }
}

/// Deeper networks are rejected, because a corrupt file may request one.
const MAX_DEPTH: usize = 256;

/// The configuration of a multilayer perceptron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig {
    /// The number of input features.
    pub inputs: usize,
    /// The number of output features.
    pub outputs: usize,
    /// Hidden layers.
    #[serde(default)]
    pub trunk: TrunkConfig,
}

impl EncoderConfig {
    /// Builds the network.
    ///
    /// # Errors
    /// If a size is zero, or the network would be too large.
    pub fn init(&self, init: &mut Initializer) -> Result<Encoder, ConfigError> {
        let TrunkConfig { width, depth, activation, normalization } = self.trunk;
        let mut inputs = at_least_one("inputs", self.inputs)?;
        let outputs = at_least_one("outputs", self.outputs)?;
        if depth > 0 {
            at_least_one("trunk.width", width)?;
        }
        let value = || format!("{depth} x {width}, from {inputs} to {outputs}");
        if depth > MAX_DEPTH {
            let problem = format!("has more than {MAX_DEPTH} hidden layers");
            return Err(ConfigError::new("trunk", value(), &problem, "choose a smaller depth"));
        }
        let widest = width.max(inputs).max(outputs) as f64;
        let parameters = widest * widest * (depth as f64 + 1.0);
        // Approximate, since only networks that are much too large must be rejected.
        if parameters > init.max_parameters() as f64 {
            let problem = format!("would have more than {} parameters", init.max_parameters());
            let hint = "choose a smaller width, depth or latent width";
            return Err(ConfigError::new("trunk", value(), &problem, hint));
        }
        let (mut layers, mut norms) = (Vec::new(), Vec::new());
        for _ in 0..depth {
            layers.push(Dense::new(inputs, width, init));
            if normalization == Normalization::LayerNorm {
                norms.push(Norm::new(width, init));
            }
            inputs = width;
        }
        Ok(Encoder { layers, norms, out: Dense::new(inputs, outputs, init), activation })
    }
}

/// A multilayer perceptron; see [`EncoderConfig`].
///
/// Its parameters are `layers.{i}.weight`, `layers.{i}.bias`, `norms.{i}.gain`, `norms.{i}.shift`,
/// `out.weight` and `out.bias`.
#[derive(Module, Debug)]
pub struct Encoder {
    layers: Vec<Dense>,
    norms: Vec<Norm>,
    out: Dense,
    #[module(skip)]
    activation: Activation,
}

impl Encoder {
    /// Applies the network.
    ///
    /// # Shapes
    /// `x: [n, inputs]` gives `[n, outputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let layer = |dense: &Dense, norm: Option<&Norm>, activation| op::Layer {
            weight: dense.weight.val(),
            bias: dense.bias.val(),
            norm: norm.map(|norm| [norm.gain.val(), norm.shift.val()]),
            activation,
        };
        let hidden = self.hidden().map(|(dense, norm)| layer(dense, norm, self.activation));
        op::mlp(x, hidden.chain([layer(&self.out, None, Activation::Identity)]).collect())
    }

    /// Returns the hidden layers in order, each with its normalization if there is one.
    pub fn hidden(&self) -> impl Iterator<Item = (&Dense, Option<&Norm>)> {
        self.layers.iter().enumerate().map(|(index, layer)| (layer, self.norms.get(index)))
    }

    /// Applies `change` to the weights `[inputs, width]` of the first layer.
    pub(super) fn map_first(mut self, change: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Self {
        let first = self.layers.first_mut().unwrap_or(&mut self.out);
        first.weight = first.weight.clone().map(change);
        self
    }

    /// Returns the output layer, which has no activation.
    pub fn out(&self) -> &Dense {
        &self.out
    }

    /// Returns the activation after every hidden layer.
    pub fn activation(&self) -> Activation {
        self.activation
    }
}
