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
use std::ops::Range;

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
    /// `d(x, y) = ||x_S - y_G||_2`, where `x_S` is the first half of the features and `y_G` the
    /// second: a state and a goal are embedded differently.
    ///
    /// It is not negative, but not a quasimetric: `d(x, x)` may be positive, and the triangle
    /// inequality may be violated. Unlike a quasimetric, it can represent any distances between
    /// states and goals.
    AsymmetricEuclidean,
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
            Self::AsymmetricEuclidean if !width.is_multiple_of(2) => {
                let problem = format!("needs two halves of a latent width of {width}");
                let hint = "choose an even latent width";
                return Err(ConfigError::new("kind", "asymmetric_euclidean", &problem, hint));
            }
            Self::AsymmetricEuclidean => PairForm::MaxL2 { components: 1, max_width: 0, l2_width: width / 2 },
            Self::InnerProduct => PairForm::InnerProduct { width },
        })
    }

    /// Returns whether the head is a quasimetric for any latent rows.
    pub fn is_quasimetric(self) -> bool {
        !matches!(self, Self::AsymmetricEuclidean | Self::InnerProduct)
    }

    /// Builds the head for latent rows of `width` features.
    ///
    /// # Errors
    /// If the width is not divisible as required.
    pub fn init(self, width: usize, init: &mut Initializer) -> Result<PairHead, ConfigError> {
        let form = self.form(width)?;
        let mix_logit = matches!(self, Self::Iqe { .. }).then(|| init.constant(1, 0.0));
        let has_sides = self == Self::AsymmetricEuclidean;
        Ok(PairHead { form, has_sides, is_quasimetric: self.is_quasimetric(), mix_logit })
    }
}

/// A pair head; see [`PairHeadConfig`].
#[derive(Module, Debug)]
pub struct PairHead {
    #[module(skip)]
    form: PairForm,
    /// Whether the form compares the first half of one row with the second half of the other.
    #[module(skip)]
    has_sides: bool,
    #[module(skip)]
    is_quasimetric: bool,
    /// `a = sigmoid(mix_logit)` of an interval quasimetric embedding, `[1]`
    mix_logit: Option<Param<Tensor<1>>>,
}

impl PairHead {
    /// Returns the form of the comparison, between the features of [`sides`](Self::sides).
    #[doc(hidden)]
    pub fn form(&self) -> PairForm {
        self.form
    }

    /// Returns whether the head is a quasimetric for any latent rows.
    pub fn is_quasimetric(&self) -> bool {
        self.is_quasimetric
    }

    /// Returns the number of features of a latent row.
    pub fn width(&self) -> usize {
        let (from, to) = self.columns();
        from.end.max(to.end)
    }

    /// Returns the features of the first and of the second row that are compared.
    pub fn columns(&self) -> (Range<usize>, Range<usize>) {
        let width = self.form.width();
        (0..width, if self.has_sides { width..2 * width } else { 0..width })
    }

    /// Returns the features of `x: [n, width]` and `y: [m, width]` that are compared.
    pub(crate) fn sides(&self, x: Tensor<2>, y: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        if !self.has_sides {
            return (x, y);
        }
        let (from, to) = self.columns();
        (x.narrow(1, from.start, from.len()), y.narrow(1, to.start, to.len()))
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
        let (x, y) = self.sides(x, y);
        op::all_pairs(self.form, x, y, mix)
    }

    /// Returns the values of the pairs `(x_i, y_i)`.
    ///
    /// # Shapes
    /// `x, y: [n, width]` give `[n]`.
    pub fn rowwise(&self, x: Tensor<2>, y: Tensor<2>) -> Tensor<1> {
        let mix = self.mix(&x);
        let (x, y) = self.sides(x, y);
        op::rowwise(self.form, x, y, mix)
    }
}
