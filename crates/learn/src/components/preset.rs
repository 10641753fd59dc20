//! Presets of network sizes.

use isochrone_nn::module::{Activation, Normalization, TrunkConfig};
use serde::{Deserialize, Serialize};

/// A preset of network sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// 2 x 64 with layer normalization: first results after a minute of training.
    Small,
    /// 3 x 256 with layer normalization: trains in about an hour on two cores.
    #[default]
    Standard,
    /// 4 x 512 without normalization, latent 256 + 256: the `AntMaze` networks of the paper.
    Paper,
}

impl Preset {
    /// All presets, from small to large.
    pub const ALL: [Self; 3] = [Self::Small, Self::Standard, Self::Paper];

    /// The hidden layers.
    pub fn trunk(self) -> TrunkConfig {
        let (width, depth, activation, normalization) = match self {
            Self::Small => (64, 2, Activation::Gelu, Normalization::LayerNorm),
            Self::Standard => (256, 3, Activation::Gelu, Normalization::LayerNorm),
            Self::Paper => (512, 4, Activation::Relu, Normalization::None),
        };
        TrunkConfig { width, depth, activation, normalization }
    }

    /// The width of the latent states that a quasimetric compares, equal to that of the hidden
    /// layers.
    pub fn latent(self) -> usize {
        self.trunk().width
    }
}
