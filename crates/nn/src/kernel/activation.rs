//! Activation functions and their derivatives.

use super::math::sigmoid;
use serde::{Deserialize, Serialize};

/// An activation function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// `z`
    Identity,
    /// `max(z, 0)`
    #[default]
    Relu,
    /// `z * sigmoid(1.59577 (z + 0.044715 z^3))`: the tanh approximation of the Gaussian error
    /// linear unit.
    Gelu,
    /// `z * sigmoid(z)`, also called swish.
    Silu,
}

/// `2 sqrt(2 / pi)`
pub(crate) const GELU_SLOPE: f32 = 1.595_769;
pub(crate) const GELU_CUBIC: f32 = 0.044_715;

impl Activation {
    /// Applies the activation in place.
    #[inline(always)]
    pub(super) fn apply(self, values: &mut [f32]) {
        match self {
            Self::Identity => {}
            Self::Relu => values.iter_mut().for_each(|z| *z = if *z < 0.0 { 0.0 } else { *z }),
            Self::Gelu => {
                values.iter_mut().for_each(|z| *z *= sigmoid(GELU_SLOPE * (*z + GELU_CUBIC * *z * *z * *z)));
            }
            Self::Silu => values.iter_mut().for_each(|z| *z *= sigmoid(*z)),
        }
    }

    /// Multiplies `gradient` by the derivative at the pre-activations `z`. For `Relu`, the outputs
    /// may be given instead of `z`.
    #[inline(always)]
    pub(super) fn multiply_by_derivative(self, gradient: &mut [f32], z: &[f32]) {
        let each = gradient.iter_mut().zip(z);
        match self {
            Self::Identity => {}
            Self::Relu => each.for_each(|(g, &z)| *g = if z > 0.0 { *g } else { 0.0 }),
            Self::Gelu => each.for_each(|(g, &z)| {
                let gate = sigmoid(GELU_SLOPE * (z + GELU_CUBIC * z * z * z));
                let slope = GELU_SLOPE * (1.0 + 3.0 * GELU_CUBIC * z * z);
                *g *= gate + z * gate * (1.0 - gate) * slope;
            }),
            Self::Silu => each.for_each(|(g, &z)| {
                let gate = sigmoid(z);
                *g *= gate + z * gate * (1.0 - gate);
            }),
        }
    }
}
