//! A contrastive critic: states (with actions) and goals as points whose product says how likely one follows the other.

use super::{Rows, Size};
use burn::{module::Module, tensor::Tensor};
use isochrone_nn::{
    error::ConfigError,
    module::{Encoder, EncoderConfig, Ensemble, Initialiser, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// The networks of a contrastive critic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContrastConfig {
    /// Hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
    /// Features of the points that are multiplied.
    pub embedding: usize,
    /// One, or two of which the less likely is believed.
    pub ensemble: Ensemble,
}

impl ContrastConfig {
    /// Of a preset.
    pub fn of(size: Size) -> Self {
        Self { trunk: size.trunk(), embedding: 64, ensemble: Ensemble::Single }
    }

    /// For rows and goals of these widths.
    pub fn init(
        &self,
        rows: Rows,
        goal_width: usize,
        init: &mut Initialiser,
    ) -> Result<ContrastiveCritic, ConfigError> {
        let encoder = |inputs: usize, init: &mut Initialiser| {
            EncoderConfig { inputs, outputs: self.embedding, trunk: self.trunk }.init(init)
        };
        let members = (0..self.ensemble.members())
            .map(|_| Ok(Embedding { phi: encoder(rows.width(), init)?, psi: encoder(goal_width, init)? }))
            .collect::<Result<_, ConfigError>>()?;
        Ok(ContrastiveCritic { members })
    }
}

/// One pair of encoders.
#[derive(Module, Debug)]
pub struct Embedding {
    /// Of states, alone or with actions.
    pub phi: Encoder,
    /// Of goals.
    pub psi: Encoder,
}

/// See [`ContrastConfig`]. Parameters are called `members.{i}.phi.…` and `members.{i}.psi.…`.
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
