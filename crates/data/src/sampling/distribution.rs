//! Goal distributions: which state of the data is the goal of a transition.

use crate::{DataError, EpisodeIndex};
use isochrone_core::{
    Discount,
    rng::{below_from_bits as below, unit_from_bits as unit},
};
use serde::{Deserialize, Serialize};

/// The probabilities of the four kinds of goals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalMixture {
    /// The current state: offset 0.
    pub current: f64,
    /// A later state of the episode, at a geometrically distributed offset.
    pub geometric: f64,
    /// A later state of the episode, sampled uniformly.
    pub uniform: f64,
    /// Any state of the dataset, sampled uniformly.
    pub random: f64,
}

impl Default for GoalMixture {
    /// Geometric offsets only, as contrastive learning needs.
    fn default() -> Self {
        Self { current: 0.0, geometric: 1.0, uniform: 0.0, random: 0.0 }
    }
}

/// The smallest offset of a future goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MinOffset {
    /// `k >= 0`: the state can be its own goal, which anchors d(g, g) = 0. Distances in steps need
    /// it.
    #[default]
    Zero,
    /// `k >= 1`: as in published code; distances then have an unknown offset for every goal.
    One,
}

/// The settings of a goal distribution, which [`GoalDistribution::new`] checks.
///
/// Geometric offsets beyond the last state of an episode are clipped to the last state, which
/// stands for all states that would have followed: `P(k) = (1 - gamma) gamma^k` before the last
/// state and `gamma^k` at the last state, where k is counted from the smallest offset.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalDistributionConfig {
    /// The probabilities of the kinds of goals.
    pub mixture: GoalMixture,
    /// The smallest offset of geometric and uniform goals.
    pub min_offset: MinOffset,
    /// The largest offset of uniform goals; 0 for the end of the episode.
    pub max_offset: u64,
    /// The discount of geometric offsets; that of the run if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount: Option<f64>,
    /// A fixed offset in place of geometric ones, clipped to the last state of the episode.
    #[serde(skip)]
    pub fixed_offset: Option<u64>,
}

/// A goal distribution whose settings have been checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalDistribution {
    config: GoalDistributionConfig,
    /// Cumulative probabilities of current, geometric, uniform; random is the rest.
    below: [f64; 3],
    ln_gamma: f64,
}

/// A sampled goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Goal {
    /// The number of the state, across all episodes.
    pub state: u64,
    /// The episode of the state.
    pub episode: usize,
}

impl GoalDistribution {
    /// Creates a goal distribution after checking that the probabilities sum to 1.
    pub fn new(config: GoalDistributionConfig, discount: Discount) -> Result<Self, DataError> {
        let GoalMixture { current, geometric, uniform, random } = config.mixture;
        let parts = [current, geometric, uniform, random];
        let sum: f64 = parts.iter().sum();
        if parts.iter().any(|part| !(0.0..=1.0).contains(part)) || (sum - 1.0).abs() > 1e-9 {
            let problem = format!(
                "goal mixture with current {current}, geometric {geometric}, uniform {uniform}, random {random}"
            );
            return Err(DataError::setting(problem, "give probabilities that sum to 1"));
        }
        let discount = config.discount.map_or(Ok(discount), Discount::new);
        let discount = discount
            .map_err(|error| DataError::setting(error.to_string(), "give a number between 0 and 1"))?;
        // The last kind that occurs takes the rounding error.
        let mut below = [current, current + geometric, current + geometric + uniform];
        let last = parts.iter().rposition(|&part| part > 0.0).expect("they sum to 1");
        below[last.min(3)..].iter_mut().for_each(|bound| *bound = 1.0);
        Ok(Self { config, below, ln_gamma: discount.gamma().ln() })
    }

    /// Samples a goal for the transition that starts at state number `state` of `episode`. `kind`
    /// and `value` are 64 random bits each.
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
        // A transition never starts at the last state, so there is always a choice.
        let choices = index.states(episode).end - state - first;
        if kind >= self.below[1] {
            let choices = match self.config.max_offset {
                0 => choices,
                last => choices.min(last - first + 1),
            };
            return Goal { state: state + first + below(value, choices), episode };
        }
        let offset = match self.config.fixed_offset {
            Some(offset) => offset.saturating_sub(first),
            // Inverse of the cumulative distribution: 1 - gamma^(k + 1) > u.
            None => ((1.0 - unit(value)).ln() / self.ln_gamma) as u64,
        };
        let offset = offset.min(choices - 1);
        Goal { state: state + first + offset, episode }
    }
}
