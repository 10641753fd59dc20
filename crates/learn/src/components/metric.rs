//! The networks of a quasimetric.

use super::{CriticInput, Preset};
use crate::context::LearnerContext;
use isochrone_nn::{
    error::ConfigError,
    module::{EncoderConfig, Ensemble, Initializer, Metric, MetricConfig, PairHeadConfig, TrunkConfig},
    optim::{OptimizerConfig, TrainState},
};
use serde::{Deserialize, Serialize};

/// The networks of a quasimetric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuasimetricConfig {
    /// The hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
    /// The width of the latent states that are compared.
    pub latent: usize,
    /// The distance between latent states.
    pub head: PairHeadConfig,
    /// One network, or two of which the larger distance is used.
    pub ensemble: Ensemble,
}

impl QuasimetricConfig {
    /// Returns a metric residual network, as in the paper.
    pub fn preset(preset: Preset) -> Self {
        let components = if preset == Preset::Paper { 1 } else { 8 };
        Self {
            trunk: preset.trunk(),
            latent: preset.latent(),
            head: PairHeadConfig::Mrn { components },
            ensemble: Ensemble::Single,
        }
    }

    /// Returns an interval quasimetric embedding.
    pub fn with_intervals(preset: Preset) -> Self {
        Self { head: PairHeadConfig::Iqe { group_width: 8 }, ..Self::preset(preset) }
    }

    /// Builds the networks for inputs of width `inputs`.
    ///
    /// # Errors
    /// If a size is invalid, or the head is not a distance.
    pub fn init(&self, inputs: usize, init: &mut Initializer) -> Result<Metric, ConfigError> {
        if self.head == PairHeadConfig::InnerProduct {
            let (problem, hint) = ("is not a distance", "use mrn, iqe, max_relu or asymmetric_euclidean");
            return Err(ConfigError::new("head.kind", "inner_product", problem, hint));
        }
        let encoder = EncoderConfig { inputs, outputs: self.latent, trunk: self.trunk };
        MetricConfig { encoder, head: self.head, ensemble: self.ensemble }.init(init)
    }

    /// Builds the networks for rows of a critic, with parameters of random stream `stream`, and
    /// their optimizer.
    ///
    /// # Errors
    /// If a setting is out of range; the error names it inside `critic` or `critic_optimizer`.
    pub fn train_state(
        &self,
        optimizer: OptimizerConfig,
        input: CriticInput,
        context: &LearnerContext,
        stream: u32,
    ) -> Result<TrainState<Metric>, ConfigError> {
        let metric = self.init(input.width(), &mut context.initializer(stream));
        let metric = metric.map_err(|error| error.inside("critic"))?;
        context.train_state(metric, optimizer).map_err(|error| error.inside("critic_optimizer"))
    }
}
