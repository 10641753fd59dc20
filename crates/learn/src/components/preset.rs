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

    /// The name of the preset: `small`, `standard` or `paper`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Standard => "standard",
            Self::Paper => "paper",
        }
    }

    /// Hidden layers.
    pub fn trunk(self) -> TrunkConfig {
        let (width, depth, activation, normalization) = match self {
            Self::Small => (64, 2, Activation::Gelu, Normalization::LayerNorm),
            Self::Standard => (256, 3, Activation::Gelu, Normalization::LayerNorm),
            Self::Paper => (512, 4, Activation::Relu, Normalization::None),
        };
        TrunkConfig { width, depth, activation, normalization }
    }

    /// Width of the latent rows that a quasimetric compares.
    pub fn latent(self) -> usize {
        match self {
            Self::Small => 64,
            Self::Standard => 256,
            Self::Paper => 512,
        }
    }
}
