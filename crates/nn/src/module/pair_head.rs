//! Heads that map two latent rows to a number: quasimetrics and the inner product.

use super::Initializer;
use crate::{
    error::{ConfigError, at_least_one},
    kernel::PairForm,
    op,
};
use burn::{
    module::{Module, Param},
    tensor::{Tensor, activation::sigmoid},
};
use serde::{Deserialize, Serialize};

/// The configuration of a pair head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PairHeadConfig {
    /// Metric residual network, with the square root:
    /// `d(x, y) = mean over components of [ max_k relu(h_k(x) - h_k(y)) + ||g(x) - g(y)||_2 ]`,
    /// where `h` and `g` are the halves of a component.
    ///
    /// Liu, Feng, Liu, Abbeel, Stone, "Metric Residual Networks for Sample Efficient
    /// Goal-Conditioned Reinforcement Learning" (2023). Unlike in published code, no epsilon is
    /// added under the root: `d(x, x)` is 0, and its gradient there is defined as 0.
    Mrn {
        /// The number of independent quasimetrics that are averaged. The latent width must be a
        /// multiple of twice this number.
        #[serde(default = "default_parts")]
        components: usize,
    },
    /// Interval quasimetric embedding with maxmean reduction: per group of features the length of
    /// the union of the intervals `[x_k, max(x_k, y_k)]`, then `a * max + (1 - a) * mean` over
    /// groups with a learned `a` in `(0, 1)`.
    ///
    /// Wang and Isola, "Improved Representation of Asymmetrical Distances with Interval Quasimetric
    /// Embeddings" (2022).
    Iqe {
        /// The number of features of a group. The latent width must be a multiple of it.
        #[serde(default = "default_parts")]
        group_width: usize,
    },
    /// `d(x, y) = mean over components of max_k relu(x_k - y_k)`: only the asymmetric part of
    /// `Mrn`.
    MaxRelu {
        /// The number of independent quasimetrics that are averaged. The latent width must be a
        /// multiple of it.
        #[serde(default = "default_parts")]
        components: usize,
    },
    /// `x . y`: a similarity for contrastive learning. Not a quasimetric.
    InnerProduct,
}

fn default_parts() -> usize {
    8
}

/// The maximum number of features of a component, or of groups, whose indices are stored in 16
/// bits.
const MAX_INDEX: usize = 1 << 15;

impl PairHeadConfig {
    /// Returns the form for latent rows of `width` features.
    ///
    /// # Errors
    /// If the width is not divisible as required.
    #[doc(hidden)]
    pub fn form(self, width: usize) -> Result<PairForm, ConfigError> {
        at_least_one("latent width", width)?;
        let divided = |field: &str, parts: usize, unit: usize| {
            at_least_one(field, parts)?;
            if !parts.checked_mul(unit).is_some_and(|multiple| width.is_multiple_of(multiple)) {
                let hint = format!("choose a latent width that is a multiple of {unit} x {parts}");
                let problem = format!("does not divide a latent width of {width}");
                return Err(ConfigError::new(field, parts, &problem, hint));
            }
            if width / parts > MAX_INDEX {
                let problem = format!(
                    "leaves {} features of a latent width of {width}, more than {MAX_INDEX}",
                    width / parts
                );
                return Err(ConfigError::new(field, parts, &problem, "choose a smaller latent width"));
            }
            Ok(width / parts)
        };
        Ok(match self {
            Self::Mrn { components } => {
                let half = divided("components", components, 2)? / 2;
                PairForm::MaxL2 { components, max_width: half, l2_width: half }
            }
            Self::MaxRelu { components } => {
                PairForm::MaxL2 { components, max_width: divided("components", components, 1)?, l2_width: 0 }
            }
            Self::Iqe { group_width } => {
                PairForm::Interval { groups: divided("group_width", group_width, 1)?, group_width }
            }
            Self::InnerProduct => PairForm::InnerProduct { width },
        })
    }

    /// Builds the head for latent rows of `width` features.
    ///
    /// # Errors
    /// If the width is not divisible as required.
    pub fn init(self, width: usize, init: &mut Initializer) -> Result<PairHead, ConfigError> {
        let form = self.form(width)?;
        let mix_logit = matches!(self, Self::Iqe { .. }).then(|| init.constant(1, 0.0));
        Ok(PairHead { form, mix_logit })
    }
}

/// A pair head; see [`PairHeadConfig`].
#[derive(Module, Debug)]
pub struct PairHead {
    #[module(skip)]
    form: PairForm,
    /// `a = sigmoid(mix_logit)` of an interval quasimetric embedding, `[1]`
    mix_logit: Option<Param<Tensor<1>>>,
}

impl PairHead {
    /// Returns the form of the comparison.
    #[doc(hidden)]
    pub fn form(&self) -> PairForm {
        self.form
    }

    /// Returns the mix of an interval form, `[1]`; zero for other forms.
    pub fn mix(&self, like: &Tensor<2>) -> Tensor<1> {
        match &self.mix_logit {
            Some(mix_logit) => sigmoid(mix_logit.val()),
            None => Tensor::zeros([1], &like.device()),
        }
    }

    /// Returns the mix of an interval form as a number; zero for other forms.
    #[doc(hidden)]
    pub fn mix_value(&self) -> f32 {
        let mix = self.mix_logit.as_ref().map(|mix_logit| sigmoid(mix_logit.val()));
        mix.map_or(0.0, |mix| mix.into_data().try_into_vec::<f32>().expect("single precision")[0])
    }

    /// Returns the values of all pairs.
    ///
    /// # Shapes
    /// `x: [n, width]`, `y: [m, width]` give `[n, m]`.
    pub fn all_pairs(&self, x: Tensor<2>, y: Tensor<2>) -> Tensor<2> {
        let mix = self.mix(&x);
        op::all_pairs(self.form, x, y, mix)
    }

    /// Returns the values of the pairs `(x_i, y_i)`.
    ///
    /// # Shapes
    /// `x, y: [n, width]` give `[n]`.
    pub fn rowwise(&self, x: Tensor<2>, y: Tensor<2>) -> Tensor<1> {
        let mix = self.mix(&x);
        op::rowwise(self.form, x, y, mix)
    }
}
