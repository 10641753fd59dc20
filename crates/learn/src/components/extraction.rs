//! How policies are extracted from distances.

use isochrone_data::sampling::{GoalDistributionConfig, MinOffset};
use isochrone_nn::error::ConfigError;
use serde::{Deserialize, Serialize};

/// How a policy is extracted from a distance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Extraction {
    /// The policy's action minimizes the distance to the goal, regularized by behavior cloning:
    /// `mean d((s, a_pi), g) / mean |d| - bc_weight log pi(a|s, g)`.
    ///
    /// Fujimoto and Gu (2021), with a distance instead of a negative value.
    DdpgBc {
        /// The weight of behavior cloning.
        #[serde(default = "default_bc_weight")]
        bc_weight: f32,
    },
    /// Advantage-weighted regression: actions of the data are cloned with weights that grow with
    /// their advantage in steps, `- mean min(e^(alpha A), max_weight) log pi(a|s, g)`.
    ///
    /// Peng et al. (2019).
    Awr {
        /// The inverse temperature of the weights.
        #[serde(default = "default_alpha")]
        alpha: f32,
        /// The maximum weight of an action.
        #[serde(default = "default_max_weight")]
        max_weight: f32,
        /// The number of steps *n* over which the advantage is measured. With 1, it is that of the
        /// action, `A = d(s_t, g) - d((s_t, a_t), g)`; with more, that of the next *n* actions of
        /// the data, `A = d(s_t, g) - d(s_(t + n), g)`, where the later state never lies beyond the
        /// goal or the end of the episode. Where a single action hardly changes the distance,
        /// several show where the data go.
        #[serde(default = "default_advantage_steps")]
        advantage_steps: u32,
    },
}

fn default_bc_weight() -> f32 {
    0.1
}

fn default_alpha() -> f32 {
    3.0
}

fn default_max_weight() -> f32 {
    100.0
}

fn default_advantage_steps() -> u32 {
    1
}

impl Default for Extraction {
    fn default() -> Self {
        Self::DdpgBc { bc_weight: default_bc_weight() }
    }
}

impl Extraction {
    /// Checks that all settings are in range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (field, value, is_valid) = match *self {
            Self::DdpgBc { bc_weight } => ("bc_weight", bc_weight, bc_weight.is_finite() && bc_weight >= 0.0),
            Self::Awr { advantage_steps: 0, .. } => ("advantage_steps", 0.0, false),
            Self::Awr { alpha, max_weight, .. } if max_weight > 0.0 => {
                ("alpha", alpha, alpha.is_finite() && alpha >= 0.0)
            }
            Self::Awr { max_weight, .. } => ("max_weight", max_weight, false),
        };
        if is_valid {
            return Ok(());
        }
        let hint =
            "typical values are bc_weight = 0.1, alpha = 3, max_weight = 100 and advantage_steps = 1 or 25";
        Err(ConfigError::new(field, value, "is out of range", hint).inside("extraction"))
    }

    /// The distribution of the later states that it needs, which has to be the last one of a
    /// learner's goals; see [`DeviceBatch::later_states`](crate::DeviceBatch::later_states).
    pub fn later_states(&self) -> Option<GoalDistributionConfig> {
        let &Self::Awr { advantage_steps: steps @ 2.., .. } = self else { return None };
        let fixed_offset = Some(u64::from(steps));
        Some(GoalDistributionConfig { min_offset: MinOffset::One, fixed_offset, ..Default::default() })
    }
}
