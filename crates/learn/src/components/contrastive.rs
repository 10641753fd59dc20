//! A contrastive critic: states (with actions) and goals as points whose product says how likely one follows the other.

use super::{CriticInput, Preset};
use burn::{module::Module, tensor::Tensor};
use isochrone_nn::{
    error::ConfigError,
    module::{Encoder, EncoderConfig, Ensemble, Initializer, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// The networks of a contrastive critic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContrastiveConfig {
    /// Hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
    /// Width of the embeddings that are multiplied.
    pub embedding: usize,
    /// One critic, or two of which the lower likelihood counts.
    pub ensemble: Ensemble,
}

impl ContrastiveConfig {
    /// The critic of a preset.
    pub fn preset(preset: Preset) -> Self {
        Self { trunk: preset.trunk(), embedding: 64, ensemble: Ensemble::Single }
    }

    /// Builds the networks for rows and goals of these widths; no size may be zero.
    pub fn init(
        &self,
        input: CriticInput,
        goal_width: usize,
        init: &mut Initializer,
    ) -> Result<ContrastiveCritic, ConfigError> {
        let encoder = |inputs: usize, init: &mut Initializer| {
            EncoderConfig { inputs, outputs: self.embedding, trunk: self.trunk }.init(init)
        };
        let members = (0..self.ensemble.members())
            .map(|_| Ok(Embedding { phi: encoder(input.width(), init)?, psi: encoder(goal_width, init)? }))
            .collect::<Result<_, ConfigError>>()?;
        Ok(ContrastiveCritic { members })
    }
}

/// One pair of encoders.
#[derive(Module, Debug)]
pub struct Embedding {
    /// Encoder of states, alone or with actions.
    pub phi: Encoder,
    /// Encoder of goals.
    pub psi: Encoder,
}

/// See [`ContrastiveConfig`]. Parameters are called `members.{i}.phi.…` and `members.{i}.psi.…`.
#[derive(Module, Debug)]
pub struct ContrastiveCritic {
    /// Independent pairs of encoders.
    pub members: Vec<Embedding>,
}

impl Embedding {
    /// `f(x, g) = phi(x) . psi(g) / sqrt(D)` of matched rows, `[n]`.
    pub fn rowwise(&self, rows: Tensor<2>, goals: Tensor<2>) -> Tensor<1> {
        let [n, _] = rows.dims();
        let (phi, psi) = (self.phi.forward(rows), self.psi.forward(goals));
        let scale = (phi.dims()[1] as f32).sqrt();
        (phi * psi).sum_dim(1).reshape([n]) / scale
    }
}
