//! Settings of the distillation of a policy.

use crate::{
    device::ComputeDevice,
    error::{ConfigError, LearnError},
};

/// The maximum number of actions of a teacher, all of which are in memory.
const MAX_ROWS: usize = 20_000_000;

/// Settings of [`distill_policy`](super::distill_policy).
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyDistillConfig {
    /// The number of goals, which are random states of the dataset.
    pub goals: usize,
    /// The number of random states of the dataset from which the teacher acts towards each goal.
    pub starts_per_goal: usize,
    /// The number of updates.
    pub updates: u64,
    /// The number of rows of an update.
    pub batch_size: usize,
    /// The width of three hidden layers.
    pub width: usize,
    /// The learning rate at the start of a cosine schedule.
    pub learning_rate: f64,
    /// The random seed.
    pub seed: u64,
    /// The device that trains the network and acts.
    pub device: ComputeDevice,
}

impl Default for PolicyDistillConfig {
    fn default() -> Self {
        Self {
            goals: 2000,
            starts_per_goal: 64,
            updates: 10_000,
            batch_size: 256,
            width: 256,
            learning_rate: 1e-3,
            seed: 0,
            device: ComputeDevice::Cpu,
        }
    }
}

impl PolicyDistillConfig {
    /// The default settings of [`distill_waypoints`](super::distill_waypoints), which suit a body
    /// with many joints.
    pub fn waypoints() -> Self {
        Self { goals: 3000, starts_per_goal: 128, updates: 15_000, ..Self::default() }
    }

    /// Checks that all numbers are in range.
    pub(super) fn check(&self) -> Result<(), LearnError> {
        let hint = "2000 goals, 64 starts per goal, 10000 updates of 256 rows and a width of 256 suit a maze";
        let counts = [
            ("goals", self.goals, 2),
            ("starts_per_goal", self.starts_per_goal, 1),
            ("updates", self.updates as usize, 1),
            ("batch_size", self.batch_size, 1),
            ("width", self.width, 1),
        ];
        for (field, value, min) in counts {
            if value < min {
                return Err(ConfigError::new(field, value, &format!("must be at least {min}"), hint).into());
            }
        }
        let rows = self.goals.saturating_mul(self.starts_per_goal);
        if rows > MAX_ROWS {
            let problem = format!("together with goals, more than {MAX_ROWS} plans");
            return Err(ConfigError::new("starts_per_goal", self.starts_per_goal, &problem, hint).into());
        }
        Ok(())
    }
}
