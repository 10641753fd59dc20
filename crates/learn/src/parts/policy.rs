//! A policy drawn from a distance, or from the data alone.

use super::{OptimiserConfig, Rows, Size, Trained};
use crate::{
    batch::{DeviceBatch, DeviceGoals},
    ledger::Ledger,
    setting::Setting,
};
use burn::tensor::Tensor;
use isochrone_core::Discount;
use isochrone_data::sampling::{GoalDistributionConfig, GoalMixture, MinOffset};
use isochrone_nn::{
    error::ConfigError,
    loss::{Loss, awr, ddpg_bc},
    module::{Actor, ActorConfig, Spread, TrunkConfig},
};
use serde::{Deserialize, Serialize};

/// How a distance becomes a policy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Extraction {
    /// The policy's own action must come close to the goal, and be like the data's: `mean d((s, a_pi), g) / mean |d| - cloning log pi(a|s, g)`.
    ///
    /// Fujimoto and Gu (2021), with a distance in the place of minus a value.
    DistanceBc {
        /// Weight of likeness.
        #[serde(default = "usual_cloning")]
        cloning: f32,
    },
    /// Actions of the data are copied, the more the nearer they bring: `- mean min(e^(alpha A), largest) log pi(a|s, g)` with
    /// `A = d(s, g) - d((s, a), g)`, in steps.
    ///
    /// Peng et al. (2019).
    Awr {
        /// How sharply good actions are preferred.
        #[serde(default = "usual_alpha")]
        alpha: f32,
        /// No action counts more.
        #[serde(default = "usual_largest_weight")]
        largest_weight: f32,
    },
}

fn usual_cloning() -> f32 {
    0.1
}

fn usual_alpha() -> f32 {
    3.0
}

fn usual_largest_weight() -> f32 {
    100.0
}

impl Default for Extraction {
    fn default() -> Self {
        Self::DistanceBc { cloning: usual_cloning() }
    }
}

impl Extraction {
    fn check(&self) -> Result<(), ConfigError> {
        let (field, value, is_right) = match *self {
            Self::DistanceBc { cloning } => ("cloning", cloning, cloning.is_finite() && cloning >= 0.0),
            Self::Awr { alpha, largest_weight } if largest_weight > 0.0 => {
                ("alpha", alpha, alpha.is_finite() && alpha >= 0.0)
            }
            Self::Awr { largest_weight, .. } => ("largest_weight", largest_weight, false),
        };
        if is_right {
            return Ok(());
        }
        Err(ConfigError::new(
            field,
            value,
            "is out of range",
            "cloning 0.1, alpha 3 and largest_weight 100 are usual",
        ))
    }
}

/// The network of a policy and what it is trained on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PolicyConfig {
    /// Hidden layers.
    #[serde(flatten)]
    pub trunk: TrunkConfig,
    /// How actions scatter.
    pub spread: Spread,
    /// How it is moved.
    pub optimiser: OptimiserConfig,
    /// Where it should learn to go.
    pub goals: GoalDistributionConfig,
}

impl PolicyConfig {
    /// Of a preset: goals are later states of the same episode, all alike.
    pub fn of(size: Size) -> Self {
        let mixture = GoalMixture { geometric: 0.0, uniform: 1.0, ..GoalMixture::default() };
        Self {
            trunk: size.trunk(),
            spread: Spread::FixedStd { std: 1.0 },
            optimiser: OptimiserConfig::default(),
            goals: GoalDistributionConfig { mixture, min_offset: MinOffset::One },
        }
    }
}

/// A policy in training.
pub struct Policy {
    actor: Trained<Actor>,
}

impl Policy {
    /// Number of the random stream of its parameters.
    const STREAM: u32 = 100;

    /// A policy, if there are actions to learn.
    pub fn new(config: &PolicyConfig, setting: &Setting) -> Result<Option<Self>, ConfigError> {
        if !setting.has_actions() {
            return Ok(None);
        }
        let inputs = setting.observation_width + setting.goal.len();
        let actor =
            ActorConfig { inputs, actions: setting.action_width, trunk: config.trunk, spread: config.spread };
        let actor =
            actor.init(&mut setting.initialiser(Self::STREAM)).map_err(|error| error.inside("policy"))?;
        let actor = Trained::new(actor, config.optimiser, setting.steps);
        Ok(Some(Self { actor: actor.map_err(|error| error.inside("policy.optimiser"))? }))
    }

    /// Refuses extraction settings that cannot work.
    pub fn check(extraction: &Extraction) -> Result<(), ConfigError> {
        extraction.check().map_err(|error| error.inside("extraction"))
    }

    /// One step of extraction, all distances in steps: then one `alpha` fits all. `distance` gives `d((s_i, a_i), g_i)` for actions `[n, action width]` of the batch's rows, `expected` gives `d(s_i, g_i)`.
    pub fn extract(
        &mut self,
        extraction: Extraction,
        batch: &DeviceBatch,
        goals: &DeviceGoals,
        distance: impl Fn(Tensor<2>) -> Tensor<1>,
        expected: impl FnOnce() -> Tensor<1>,
    ) -> Loss {
        let actions = self.actor.network().forward(batch.observations.clone(), goals.for_policy.clone());
        let log_probs = actions.log_prob(batch.actions.clone());
        let loss = match extraction {
            // At the mode, as the policy is used.
            Extraction::DistanceBc { cloning } => ddpg_bc(distance(actions.mode()), log_probs, cloning, true),
            Extraction::Awr { alpha, largest_weight } => {
                let advantages = expected().detach() - distance(batch.actions.clone()).detach();
                awr(log_probs, advantages, alpha, largest_weight)
            }
        };
        self.actor.descend(loss.value.clone());
        loss
    }

    /// The same for a critic that is shown rows: `nats` gives the distances of rows `[n, width]` to the goals.
    pub fn extract_from_rows(
        &mut self,
        extraction: Extraction,
        batch: &DeviceBatch,
        goals: &DeviceGoals,
        (rows, discount): (Rows, Discount),
        nats: impl Fn(Tensor<2>) -> Tensor<1>,
    ) -> Loss {
        let states = &batch.observations;
        let in_steps = |rows: Tensor<2>| nats(rows) / discount.nats_per_step();
        let of_action = |actions: Tensor<2>| in_steps(rows.state_actions(states.clone(), actions));
        let of_state = || in_steps(rows.states(states.clone()));
        self.extract(extraction, batch, goals, of_action, of_state)
    }

    /// One step of cloning: `- mean log pi(a|s, g)`.
    pub fn clone_behaviour(&mut self, batch: &DeviceBatch, goals: &DeviceGoals) -> Loss {
        let actions = self.actor.network().forward(batch.observations.clone(), goals.for_policy.clone());
        let log_probs = actions.log_prob(batch.actions.clone());
        let nothing = log_probs.zeros_like();
        let loss = awr(log_probs, nothing, 1.0, 1.0);
        self.actor.descend(loss.value.clone());
        loss
    }

    /// The network as it is.
    pub fn actor(&self) -> &Actor {
        self.actor.network()
    }

    /// The network, to be used and not trained.
    pub fn frozen(&self) -> Actor {
        self.actor.frozen()
    }

    /// See [`Learner::exchange`](crate::learner::Learner::exchange).
    pub fn exchange(&mut self, ledger: &mut Ledger) -> Result<(), String> {
        ledger.trained("actor", &mut self.actor)
    }
}
