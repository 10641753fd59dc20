//! CMD-2: a contrastive critic distilled into a quasimetric.

use super::Loss;
use burn::tensor::{Tensor, activation::relu};
use serde::{Deserialize, Serialize};

/// The distances that a contrastive critic `f = phi(s)^T psi(g)` implies:
/// `T_ij = f(g_j, g_j) - f(s_i, g_j) = (phi(g_j) - phi(s_i))^T psi(g_j)`.
///
/// # Shapes
/// `phi_states, phi_goals, psi_goals: [n, width]` give `[n, n]`.
pub fn contrastive_targets(phi_states: Tensor<2>, phi_goals: Tensor<2>, psi_goals: Tensor<2>) -> Tensor<2> {
    let at_goal = (phi_goals * psi_goals.clone()).sum_dim(1).transpose();
    at_goal - phi_states.matmul(psi_goals.transpose())
}

/// How a one-sided difference is punished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Hinge {
    /// `max(0, e)^2`
    #[default]
    Squared,
    /// The same up to `width`, then linear with the slope it has there.
    Huber {
        /// Where it becomes linear.
        #[serde(default = "usual_hinge_width")]
        width: f32,
    },
}

fn usual_hinge_width() -> f32 {
    1.0
}

impl Hinge {
    fn of(self, difference: Tensor<2>) -> Tensor<2> {
        let excess = relu(difference);
        match self {
            Self::Squared => excess.square(),
            Self::Huber { width } => {
                let inside = excess.clone().clamp_max(width);
                inside.clone().square() + (excess - inside) * (2.0 * width)
            }
        }
    }
}

/// Distillation of the targets `T` into the distances `d`, balanced by the multiplier `lambda > 0`:
///
/// `lambda^(-1/2) * mean_ij hinge(T_ij - d_ij) + lambda^(1/2) * mean_i hinge(d_ii - T_ii)`
///
/// The first term raises every distance to its target; the second, on matched pairs, is the constraint
/// `mean_i hinge(d_ii - T_ii) <= margin` whose multiplier is `lambda`: dividing the Lagrangian by its root keeps the step size
/// when `lambda` grows. Targets are detached. Diagnostics: `raise` (first mean), `violation` (second mean), which is what
/// [`Dual::update`](super::Dual::update) wants.
///
/// # Shapes
/// `distances, targets: [n, n]`
pub fn distil(distances: Tensor<2>, targets: Tensor<2>, lambda: f64, hinge: Hinge) -> Loss {
    let targets = targets.detach();
    let [n, _] = distances.dims();
    let raise = hinge.of(targets.clone() - distances.clone()).mean();
    let diagonal = Tensor::<2>::eye(n, &distances.device());
    let violation = (hinge.of(distances - targets) * diagonal).sum() / n as f32;
    let root = lambda.sqrt();
    Loss::new(raise.clone() / root + violation.clone() * root)
        .with("raise", raise)
        .with("violation", violation)
}
