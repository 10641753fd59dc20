//! Which state of the data is the goal of a transition.

use crate::{DataError, EpisodeIndex};
use isochrone_core::{
    Discount,
    rng::{below_from_bits as below, unit_from_bits as unit},
};
use serde::{Deserialize, Serialize};

/// How often each kind of goal is drawn. The four numbers are probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalMixture {
    /// The state itself: offset 0.
    pub current: f64,
    /// A later state of the episode, at a geometric offset.
    pub geometric: f64,
    /// A later state of the episode, all alike.
    pub uniform: f64,
    /// Any state of the dataset, all alike.
    pub random: f64,
}

impl Default for GoalMixture {
    /// Geometric offsets only: what contrastive learning needs.
    fn default() -> Self {
        Self { current: 0.0, geometric: 1.0, uniform: 0.0, random: 0.0 }
    }
}

/// The smallest offset of a future goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MinOffset {
    /// `k >= 0`: the state can be its own goal, which anchors d(g, g) = 0. Distances in steps need it.
    #[default]
    Zero,
    /// `k >= 1`: as published code has it; distances then carry an unknown offset for every goal.
    One,
}

/// How goals are drawn; checked by [`GoalDistribution::new`].
///
/// Geometric offsets that reach beyond the last state of an episode become the last state: it stands for all that would have followed.
/// `P(k) = (1 - gamma) gamma^k` before the last state and `gamma^k` there, k counted from the smallest offset.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalDistributionConfig {
    /// How often each kind.
    pub mixture: GoalMixture,
    /// The smallest offset of geometric and uniform goals.
    pub min_offset: MinOffset,
}

/// A distribution of goals whose numbers have been checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalDistribution {
    config: GoalDistributionConfig,
    /// Cumulative probabilities of current, geometric, uniform; random is the rest.
    below: [f64; 3],
    ln_gamma: f64,
}

/// A goal that was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Goal {
    /// Its number among all states.
    pub state: u64,
    /// Its episode.
    pub episode: usize,
}

impl GoalDistribution {
    /// Checks that the probabilities sum to 1.
    pub fn new(config: GoalDistributionConfig, discount: Discount) -> Result<Self, DataError> {
        let GoalMixture { current, geometric, uniform, random } = config.mixture;
        let parts = [current, geometric, uniform, random];
        let sum: f64 = parts.iter().sum();
        if parts.iter().any(|part| !(0.0..=1.0).contains(part)) || (sum - 1.0).abs() > 1e-9 {
            let problem = format!(
                "goals drawn current {current}, geometric {geometric}, uniform {uniform}, random {random}"
            );
            return Err(DataError::setting(problem, "give probabilities that sum to 1"));
        }
        // The last kind that occurs takes what rounding left.
        let mut below = [current, current + geometric, current + geometric + uniform];
        let last = parts.iter().rposition(|&part| part > 0.0).expect("they sum to 1");
        below[last.min(3)..].iter_mut().for_each(|bound| *bound = 1.0);
        Ok(Self { config, below, ln_gamma: discount.gamma().ln() })
    }

    /// A goal for the transition that begins at state number `state` of `episode`. `kind` and `value` are 64 random bits each.
    pub(super) fn draw(
        &self,
        index: &EpisodeIndex,
        episode: usize,
        state: u64,
        kind: u64,
        value: u64,
    ) -> Goal {
        let kind = unit(kind);
        if kind >= self.below[2] {
            let state = below(value, index.n_states());
            return Goal { state, episode: index.episode_of_state(state) };
        }
        if kind < self.below[0] {
            return Goal { state, episode };
        }
        let first = self.config.min_offset as u64;
        // A transition never begins at the last state, so there is always a choice.
        let choices = index.states(episode).end - state - first;
        if kind >= self.below[1] {
            return Goal { state: state + first + below(value, choices), episode };
        }
        // Inverse of the cumulative distribution: 1 - gamma^(k + 1) > u.
        let offset = (1.0 - unit(value)).ln() / self.ln_gamma;
        let offset = (offset as u64).min(choices - 1);
        Goal { state: state + first + offset, episode }
    }
}
