//! The functions of two latent rows that the kernels evaluate.

/// A function of two latent rows `x, y` that a kernel evaluates for many pairs.
///
/// `MaxL2` and `Interval` are quasimetrics: non-negative, exactly zero for equal rows, and subject
/// to the triangle inequality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairForm {
    /// `mean over components of [ max_k relu(x_k - y_k) + ||x' - y'||_2 ]`, where a component is
    /// `max_width` features of the first kind followed by `l2_width` of the second.
    ///
    /// With both widths equal this is the metric residual network of Liu et al. (2023) with the
    /// square root; with `l2_width = 0` it is the max-relu quasimetric, with `max_width = 0` the
    /// Euclidean distance.
    MaxL2 {
        /// The number of independent quasimetrics that are averaged.
        components: usize,
        /// The number of features of the asymmetric part, per component; may be zero.
        max_width: usize,
        /// The number of features of the symmetric part, per component; may be zero.
        l2_width: usize,
    },
    /// Interval quasimetric embedding (Wang and Isola, 2022): the lengths `u_g` of the union of the
    /// intervals `[x_k, max(x_k, y_k)]` of each group, combined as `mix * max_g u_g + (1 - mix) *
    /// mean_g u_g`.
    Interval {
        /// The number of groups.
        groups: usize,
        /// The number of intervals per group.
        group_width: usize,
    },
    /// `x . y`: a similarity, not a distance.
    InnerProduct {
        /// The number of features of a row.
        width: usize,
    },
}

impl PairForm {
    /// Returns the number of features of a latent row.
    pub fn width(self) -> usize {
        match self {
            Self::MaxL2 { components, max_width, l2_width } => components * (max_width + l2_width),
            Self::Interval { groups, group_width } => groups * group_width,
            Self::InnerProduct { width } => width,
        }
    }

    /// Returns the sign of the value in a logit: -1 for distances, +1 for the inner product.
    pub fn logit_sign(self) -> f32 {
        if matches!(self, Self::InnerProduct { .. }) { 1.0 } else { -1.0 }
    }

    /// Returns the number of tape records per pair.
    pub(super) fn slots(self) -> usize {
        match self {
            Self::MaxL2 { components, .. } => components,
            Self::Interval { .. } => 1,
            Self::InnerProduct { .. } => 0,
        }
    }
}
