//! Which contrastive problem is solved.

use crate::kernel::{Objective, PairForm};

/// Which contrastive problem: the form of the pairs, the factor of the value in a logit (with its sign), the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContrastSpec {
    /// How rows are compared.
    pub form: PairForm,
    /// `f_ij = potential_j + slope * value_ij`
    pub slope: f32,
    /// What is learned from the logits.
    pub objective: Objective,
}
