//! Waypoints of the data, weighted by their advantage.

use crate::{
    Algorithm,
    error::{ConfigError, LearnError},
};
use isochrone_core::TemporalDistance;
use isochrone_data::{Dataset, EpisodeIndex};

/// Which waypoints of the data a network imitates: those from which the goal is nearer.
///
/// A waypoint is the state `steps` later in the episode, but never beyond the goal. Its weight is
/// `min(e^(alpha A), max_weight)`, with the advantage `A = d(s, g) - d(w, g)` in the steps of a
/// distance, which need not be true steps: `alpha` has to fit its scale.
///
/// Park, Ghosh, Eysenbach, Levine, "HIQL: Offline Goal-Conditioned RL with Latent States as
/// Actions" (2023), with any distance instead of a negative value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advantages {
    /// The number of steps from a state to its waypoint.
    pub steps: u32,
    /// The inverse temperature of the weights.
    pub alpha: f64,
    /// The maximum weight of a waypoint.
    pub max_weight: f64,
}

/// Those of CMD-1.
impl Default for Advantages {
    fn default() -> Self {
        Self::of(Algorithm::Cmd1)
    }
}

impl Advantages {
    /// Returns the settings that suit the distance of an algorithm.
    pub fn of(algorithm: Algorithm) -> Self {
        Self { steps: 25, alpha: algorithm.advantage_alpha(), max_weight: 100.0 }
    }

    /// Checks that all settings are in range.
    pub(super) fn check(&self) -> Result<(), LearnError> {
        let Self { steps, alpha, max_weight } = *self;
        let hint = "25 steps, alpha 0.03 and a max_weight of 100 suit CMD-1 in a maze";
        let wrong = |field, value: f64| Err(ConfigError::new(field, value, "is out of range", hint).into());
        match () {
            () if steps == 0 => wrong("steps", 0.0),
            () if !(alpha.is_finite() && alpha >= 0.0) => wrong("alpha", alpha),
            () if !(max_weight.is_finite() && max_weight > 0.0) => wrong("max_weight", max_weight),
            () => Ok(()),
        }
    }

    /// Describes the waypoints in words.
    pub fn describe(&self) -> String {
        format!("advantages over {} steps of the data, alpha {}", self.steps, self.alpha)
    }

    /// Returns the waypoint of a state, as numbers of states.
    fn waypoint(&self, index: &EpisodeIndex, state: u64, goal: u64) -> u64 {
        let last = index.states(index.episode_of_state(state)).end - 1;
        let later = last.min(state + u64::from(self.steps));
        if (state..later).contains(&goal) { goal } else { later }
    }

    /// Returns the displacements to the waypoints, in the dimensions of a goal, and their weights,
    /// for pairs of the numbers of a state and its goal, whose rows are `states` and `goals`.
    pub(super) fn displacements(
        &self,
        distance: &dyn TemporalDistance,
        data: &Dataset,
        pairs: &[(u64, u64)],
        (states, goals): (&[f32], &[f32]),
    ) -> (Vec<f32>, Vec<f32>) {
        let columns = data.spec().goal_space();
        let (mut waypoints, mut displacements) = (Vec::new(), Vec::new());
        for (&(number, goal), state) in pairs.iter().zip(states.chunks_exact(distance.width())) {
            let waypoint = data.state(self.waypoint(data.index(), number, goal));
            let moved = waypoint[columns.clone()].iter().zip(&state[columns.clone()]);
            displacements.extend(moved.map(|(to, from)| to - from));
            waypoints.extend(waypoint);
        }
        let steps = |from: &[f32]| distance.paired_steps(from, goals).expect("rows of the data");
        let advantages = steps(states).into_iter().zip(steps(&waypoints));
        let weight = |(here, there): (f64, f64)| {
            let log = (self.alpha * (here - there)).min(self.max_weight.ln());
            // Without a path from either.
            if log.is_nan() { 0.0 } else { log.exp() as f32 }
        };
        (displacements, advantages.map(weight).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waypoints_stay_in_the_episode_and_before_the_goal() {
        let walk = |n: usize| ((0..n).map(|x| x as f32).collect::<Vec<_>>(), vec![0.0; n - 1]);
        let data = Dataset::from_arrays(1, 1, [walk(10), walk(10)]).unwrap();
        let of = |state, goal| {
            let advantages = Advantages { steps: 4, ..Advantages::default() };
            advantages.waypoint(data.index(), state, goal)
        };
        assert_eq!(of(2, 15), 6, "a goal in another episode");
        assert_eq!(of(2, 8), 6, "a goal beyond");
        assert_eq!(of(2, 5), 5);
        assert_eq!(of(2, 2), 2, "at the goal");
        assert_eq!(of(2, 1), 6, "a goal in the past");
        assert_eq!(of(7, 15), 9, "the last state of the episode");
        assert_eq!(of(9, 10), 9, "the goal is not the next state of the same episode");
    }
}
