//! A learned scalar function of the goal.

use super::{Encoder, EncoderConfig, Initializer, TrunkConfig};
use crate::error::ConfigError;
use burn::{module::Module, tensor::Tensor};

/// `c(g)`: a term that is added to every logit of a goal's column and absorbs the goal's marginal
/// probability. It is discarded after training.
#[derive(Module, Debug)]
pub struct Potential {
    network: Encoder,
}

impl Potential {
    /// Creates a potential of rows of `inputs` features.
    ///
    /// # Errors
    /// If a size is zero.
    pub fn new(inputs: usize, trunk: TrunkConfig, init: &mut Initializer) -> Result<Self, ConfigError> {
        Ok(Self { network: EncoderConfig { inputs, outputs: 1, trunk }.init(init)? })
    }

    /// Returns the potentials of goals.
    ///
    /// # Shapes
    /// `goals: [n, inputs]` gives `[n]`.
    pub fn forward(&self, goals: Tensor<2>) -> Tensor<1> {
        let [n, _] = goals.dims();
        self.network.forward(goals).reshape([n])
    }
}
