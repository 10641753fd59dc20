//! A contrastive critic: the inner product of an embedded state (with or without action) and an
//! embedded goal is the log-likelihood ratio of reaching the goal.

use super::{CriticInput, Preset};
use crate::export::{Graph, Value};
use burn::{module::Module, tensor::Tensor};
use isochrone_nn::{
    error::ConfigError,
    module::{Encoder, EncoderConfig, Ensemble, Initializer, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// The networks of a contrastive critic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContrastiveConfig {
    /// The hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
    /// The width of the embeddings.
    pub embedding: usize,
    /// One critic, or two of which the smaller likelihood is used.
    pub ensemble: Ensemble,
}

impl ContrastiveConfig {
    /// Returns the critic of a preset.
    pub fn preset(preset: Preset) -> Self {
        Self { trunk: preset.trunk(), embedding: 64, ensemble: Ensemble::Single }
    }

    /// Builds the networks for inputs and goals of these widths.
    ///
    /// # Errors
    /// If a size is zero.
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

/// A pair of encoders.
#[derive(Module, Debug)]
pub struct Embedding {
    /// The encoder of states, with or without actions.
    pub phi: Encoder,
    /// The encoder of goals.
    pub psi: Encoder,
}

/// See [`ContrastiveConfig`]. The parameters are named `members.{i}.phi.…` and `members.{i}.psi.…`.
#[derive(Module, Debug)]
pub struct ContrastiveCritic {
    /// Independent pairs of encoders.
    pub members: Vec<Embedding>,
}

impl Embedding {
    /// Returns `f(x, g) = phi(x) . psi(g) / sqrt(D)` for matched rows, `[n]`.
    pub fn rowwise(&self, rows: Tensor<2>, goals: Tensor<2>) -> Tensor<1> {
        let [n, _] = rows.dims();
        let (phi, psi) = (self.phi.forward(rows), self.psi.forward(goals));
        let scale = (phi.dims()[1] as f32).sqrt();
        (phi * psi).sum_dim(1).reshape([n]) / scale
    }

    /// Adds [`rowwise`](Self::rowwise) to a graph, with `psi` of the goals.
    pub fn onnx(&self, graph: &mut Graph, rows: &Value, psi: &Value) -> Value {
        let phi = graph.encoder(&self.phi, rows);
        let [_, width] = self.phi.out().weight.dims();
        let products = graph.op("Mul", &[&phi, psi]);
        let (sum, scale) = (graph.reduce("ReduceSum", &products, 1), graph.number((width as f64).sqrt()));
        graph.op("Div", &[&sum, &scale])
    }
}
