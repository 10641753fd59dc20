//! Network sizes that go together.

use isochrone_nn::module::{Activation, Normalization, TrunkConfig};
use serde::{Deserialize, Serialize};

/// Network sizes that go together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// 2 x 64 with layer normalization: a minute of training shows something.
    Small,
    /// 3 x 256 with layer normalization: what two cores train in an hour.
    #[default]
    Standard,
    /// 4 x 512 without normalization, latent 256 + 256: the `AntMaze` networks of the paper.
    Paper,
}

impl Preset {
    /// All presets, small to large.
    pub const ALL: [Self; 3] = [Self::Small, Self::Standard, Self::Paper];

    /// Hidden layers.
    pub fn trunk(self) -> TrunkConfig {
        let (width, depth, activation, normalization) = match self {
            Self::Small => (64, 2, Activation::Gelu, Normalization::LayerNorm),
            Self::Standard => (256, 3, Activation::Gelu, Normalization::LayerNorm),
            Self::Paper => (512, 4, Activation::Relu, Normalization::None),
        };
        TrunkConfig { width, depth, activation, normalization }
    }

    /// Width of the latent rows that a quasimetric compares: that of the hidden layers.
    pub fn latent(self) -> usize {
        self.trunk().width
    }
}
