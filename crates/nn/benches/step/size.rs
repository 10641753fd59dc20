//! The sizes of networks that are measured.

use isochrone_nn::module::{Activation, Normalization, PairHeadConfig, TrunkConfig};

/// A network size by name: `512`, `256`, `128` or `64`.
///
/// The first is that of the paper, without normalization; the others are small, with layer
/// normalization as in the presets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub width: usize,
    pub depth: usize,
    pub layer_norm: bool,
}

impl Size {
    pub fn of_width(width: usize) -> Self {
        match width {
            512 => Self { width, depth: 4, layer_norm: false },
            256 => Self { width, depth: 3, layer_norm: true },
            _ => Self { width, depth: 2, layer_norm: true },
        }
    }

    pub fn trunk(self, normalization: Normalization) -> TrunkConfig {
        TrunkConfig { width: self.width, depth: self.depth, activation: Activation::Relu, normalization }
    }

    pub fn normalization(self) -> Normalization {
        if self.layer_norm { Normalization::LayerNorm } else { Normalization::None }
    }

    /// The width of the latent states, equal to that of the hidden layers.
    pub fn latent(self) -> usize {
        self.width
    }

    pub fn head(components: usize) -> PairHeadConfig {
        PairHeadConfig::Mrn { components }
    }
}
