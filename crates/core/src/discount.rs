//! The discount factor and the unit of distance that it defines.

use thiserror::Error;

/// A discount factor `gamma` between zero and one, with the conversion between nats and steps that
/// it defines.
///
/// Distances are computed in nats of log-discount, `d = -ln E[gamma^H]`, and shown in **effective
/// steps**, `d / ln(1/gamma)`: exactly the number of steps if the dynamics are deterministic, and
/// otherwise at most the smallest expected number of steps (Jensen).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discount {
    gamma: f64,
    nats_per_step: f64,
}

/// A discount outside the range that the solvers support.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "discount gamma = {0} is not in [{min:e}, {max}]; hint: 0.99 looks about 100 steps ahead, 0.999 about 1000",
    min = Discount::MIN_GAMMA,
    max = Discount::MAX_GAMMA
)]
pub struct DiscountError(pub f64);

impl Discount {
    /// The largest supported `gamma`. Above it, `1 - gamma` has fewer than ten significant digits
    /// and no useful error bound can be certified in double precision.
    pub const MAX_GAMMA: f64 = 1.0 - 1e-6;

    /// The smallest supported `gamma`. Powers of smaller values underflow after a few steps.
    pub const MIN_GAMMA: f64 = 1e-100;

    /// Creates a discount.
    ///
    /// # Errors
    /// If `gamma` is not in `[1e-100, 1 - 1e-6]`.
    pub fn new(gamma: f64) -> Result<Self, DiscountError> {
        if (Self::MIN_GAMMA..=Self::MAX_GAMMA).contains(&gamma) {
            Ok(Self { gamma, nats_per_step: -gamma.ln() })
        } else {
            Err(DiscountError(gamma))
        }
    }

    /// Returns `gamma`.
    pub fn gamma(self) -> f64 {
        self.gamma
    }

    /// Returns `ln(1/gamma)`, the length in nats of one deterministic step.
    pub fn nats_per_step(self) -> f64 {
        self.nats_per_step
    }

    /// Converts a distance in nats to effective steps.
    pub fn steps_from_nats(self, nats: f64) -> f64 {
        nats / self.nats_per_step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_is_enforced_and_the_message_names_the_value() {
        for bad in [0.0, 1e-300, -0.5, 1.0, 1.5, f64::NAN, 1.0 - 1e-7] {
            assert!(Discount::new(bad).is_err(), "{bad} should be rejected");
        }
        assert!(Discount::new(1.5).unwrap_err().to_string().contains("1.5"));
        assert!(Discount::new(Discount::MAX_GAMMA).is_ok());
    }

    #[test]
    fn one_step_is_one_step() {
        let discount = Discount::new(0.97).unwrap();
        assert_eq!(discount.steps_from_nats(discount.nats_per_step()), 1.0);
    }
}
