//! A free scalar per goal.

use super::{Encoder, EncoderConfig, Initializer, TrunkConfig};
use crate::error::ConfigError;
use burn::{module::Module, tensor::Tensor};

/// `c(g)`: what a goal's popularity adds to every logit of its column. Thrown away after training.
#[derive(Module, Debug)]
pub struct Potential {
    network: Encoder,
}

impl Potential {
    /// A potential of rows of `inputs` features.
    ///
    /// # Errors
    /// If a size is zero.
    pub fn new(inputs: usize, trunk: TrunkConfig, init: &mut Initializer) -> Result<Self, ConfigError> {
        Ok(Self { network: EncoderConfig { inputs, outputs: 1, trunk }.init(init)? })
    }

    /// # Shapes
    /// `goals: [n, inputs]` gives `[n]`.
    pub fn forward(&self, goals: Tensor<2>) -> Tensor<1> {
        let [n, _] = goals.dims();
        self.network.forward(goals).reshape([n])
    }
}
