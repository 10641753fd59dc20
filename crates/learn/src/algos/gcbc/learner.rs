use super::GcbcConfig;
use crate::{
    algos::check,
    batch::DeviceBatch,
    learner::{Learner, Metrics, TensorDistance},
    ledger::Ledger,
    parts::Policy,
    setting::Setting,
};
use isochrone_data::sampling::GoalDistributionConfig;
use isochrone_nn::{error::ConfigError, module::Actor};

/// Goal-conditioned behaviour cloning: do what the data did on the way to a later state, `- mean log pi(a|s, g)`.
///
/// Ghosh et al., "Learning to Reach Goals via Iterated Supervised Learning" (2021). It knows no distance.
pub struct Gcbc {
    config: GcbcConfig,
    policy: Policy,
}

impl Gcbc {
    /// At its start.
    ///
    /// # Errors
    /// If a setting is impossible, or the data have no actions.
    pub fn new(config: GcbcConfig, setting: &Setting) -> Result<Self, ConfigError> {
        check::needs_actions("gcbc", setting)?;
        let policy = Policy::new(&config.policy, setting)?.expect("there are actions");
        Ok(Self { config, policy })
    }
}

impl Learner for Gcbc {
    fn goals(&self) -> Vec<GoalDistributionConfig> {
        vec![self.config.policy.goals]
    }

    fn update(&mut self, batch: &DeviceBatch) -> Metrics {
        let mut metrics = Metrics::default();
        metrics.add("actor", &self.policy.clone_behaviour(batch, &batch.goals[0]));
        metrics
    }

    fn distance(&self) -> Option<Box<dyn TensorDistance>> {
        None
    }

    fn policy(&self) -> Option<Actor> {
        Some(self.policy.frozen())
    }

    fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String> {
        self.policy.exchange(ledger)
    }
}
