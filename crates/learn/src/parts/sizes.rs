//! How large the networks of a preset are.

use isochrone_nn::{
    error::ConfigError,
    kernel::Activation,
    module::{EncoderConfig, Ensemble, Metric, MetricConfig, Normalisation, PairHeadConfig, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// Sizes of networks that go together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// 2 x 64: a minute of training shows something.
    Small,
    /// 3 x 256 with layer normalisation: what two cores train in an hour.
    #[default]
    Standard,
    /// 4 x 512 without normalisation, latent 256 + 256: the paper's `AntMaze` networks.
    Paper,
}

impl Size {
    /// Hidden layers.
    pub fn trunk(self) -> TrunkConfig {
        let (width, depth) = match self {
            Self::Small => (64, 2),
            Self::Standard => (256, 3),
            Self::Paper => (512, 4),
        };
        match self {
            Self::Small | Self::Standard => TrunkConfig {
                width,
                depth,
                activation: Activation::Gelu,
                normalisation: Normalisation::LayerNorm,
            },
            Self::Paper => {
                TrunkConfig { width, depth, activation: Activation::Relu, normalisation: Normalisation::None }
            }
        }
    }

    /// Features of the rows that a quasimetric compares.
    pub fn latent(self) -> usize {
        match self {
            Self::Small => 64,
            Self::Standard => 256,
            Self::Paper => 512,
        }
    }
}

/// The networks of a quasimetric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricSizes {
    /// Hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
    /// Features of the rows that are compared.
    pub latent: usize,
    /// How they are compared; a quasimetric.
    pub head: PairHeadConfig,
    /// One, or two of which the larger is believed.
    pub ensemble: Ensemble,
}

impl MetricSizes {
    /// Of a preset: metric residual networks, as in the paper.
    pub fn of(size: Size) -> Self {
        let components = if size == Size::Paper { 1 } else { 8 };
        Self {
            trunk: size.trunk(),
            latent: size.latent(),
            head: PairHeadConfig::Mrn { components },
            ensemble: Ensemble::Single,
        }
    }

    /// Of a preset, with interval quasimetric embeddings.
    pub fn with_intervals(size: Size) -> Self {
        Self { head: PairHeadConfig::Iqe { group_width: 8 }, ..Self::of(size) }
    }

    /// For rows of `inputs` numbers. Refuses what is not a quasimetric.
    pub fn init(
        &self,
        inputs: usize,
        init: &mut isochrone_nn::module::Initialiser,
    ) -> Result<Metric, ConfigError> {
        if self.head == PairHeadConfig::InnerProduct {
            return Err(ConfigError::new(
                "head.kind",
                "inner_product",
                "is not a quasimetric",
                "use mrn, iqe or max_relu",
            ));
        }
        let encoder = EncoderConfig { inputs, outputs: self.latent, trunk: self.trunk };
        MetricConfig { encoder, head: self.head, ensemble: self.ensemble }.init(init)
    }
}
