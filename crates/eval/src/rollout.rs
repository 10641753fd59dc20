//! Rollouts of a policy in an environment.

use isochrone_core::{Environment, GoalPolicy};
use rayon::prelude::*;

/// The number of episodes per policy call. It is fixed, so that results do not depend on the number
/// of threads.
const BATCH: u64 = 64;

/// The settings of rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutConfig {
    /// The number of episodes: `0..episodes` of the seed.
    pub episodes: u64,
    /// The random seed for tasks and environment randomness.
    pub seed: u64,
}

/// The result of one rollout.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollout {
    /// Whether the episode was a success.
    pub success: bool,
    /// The number of steps until the episode terminated or was truncated.
    pub steps: usize,
    /// The sum of rewards.
    pub total_reward: f64,
    /// The goal.
    pub goal: Vec<f32>,
    /// The observations, `[steps + 1, observation width]`.
    pub states: Vec<f32>,
}

impl RolloutConfig {
    /// Rolls out a policy in all episodes, in parallel. `make_env` creates an environment. Results
    /// are in the order of episodes and do not depend on the number of threads.
    pub fn run(
        &self,
        make_env: &(dyn Fn() -> Box<dyn Environment> + Sync),
        policy: &dyn GoalPolicy,
    ) -> Vec<Rollout> {
        let groups: Vec<u64> = (0..self.episodes.div_ceil(BATCH)).collect();
        let of_group = |group: &u64| {
            let first = group * BATCH;
            self.group(first..self.episodes.min(first + BATCH), make_env, policy)
        };
        groups.par_iter().flat_map_iter(of_group).collect()
    }

    fn group(
        &self,
        numbers: std::ops::Range<u64>,
        make_env: &(dyn Fn() -> Box<dyn Environment> + Sync),
        policy: &dyn GoalPolicy,
    ) -> Vec<Rollout> {
        let mut environments: Vec<Box<dyn Environment>> = numbers.clone().map(|_| make_env()).collect();
        let mut rollouts = Vec::with_capacity(environments.len());
        for (environment, number) in environments.iter_mut().zip(numbers) {
            environment.reset(self.seed, number);
            rollouts.push(Rollout {
                success: false,
                steps: 0,
                total_reward: 0.0,
                goal: environment.goal().to_vec(),
                states: environment.observation().to_vec(),
            });
        }
        let mut active: Vec<usize> = (0..environments.len()).collect();
        let mut episodes = policy.start_episodes(environments.len());
        while !active.is_empty() {
            let observations: Vec<f32> =
                active.iter().flat_map(|&at| environments[at].observation()).copied().collect();
            let goals: Vec<f32> = active.iter().flat_map(|&at| environments[at].goal()).copied().collect();
            let actions = match &mut episodes {
                Some(episodes) => episodes.actions(&active, &observations, &goals),
                None => policy.actions(&observations, &goals),
            };
            let width = actions.len() / active.len();
            let mut rows = actions.chunks_exact(width);
            active.retain(|&at| {
                let (environment, rollout) = (&mut environments[at], &mut rollouts[at]);
                let step = environment.step(rows.next().expect("one action per active episode"));
                rollout.steps += 1;
                rollout.total_reward += step.reward;
                rollout.success |= step.success;
                rollout.states.extend(environment.observation());
                !step.terminated && rollout.steps < environment.max_episode_steps()
            });
        }
        rollouts
    }
}

/// Returns the fraction of rollouts that succeeded.
pub fn success_rate(rollouts: &[Rollout]) -> f64 {
    rollouts.iter().filter(|rollout| rollout.success).count() as f64 / rollouts.len() as f64
}

/// Returns the success rate of each task, where rollout `i` has task `i % n_tasks`.
pub fn success_by_task(rollouts: &[Rollout], n_tasks: usize) -> Vec<f64> {
    let share = |task: usize| {
        let of = rollouts.iter().skip(task).step_by(n_tasks);
        of.clone().filter(|rollout| rollout.success).count() as f64 / of.count() as f64
    };
    (0..n_tasks).map(share).collect()
}

/// Returns the mean number of steps of the rollouts that succeeded; `None` without a success.
pub fn mean_success_steps<'a>(rollouts: impl IntoIterator<Item = &'a Rollout>) -> Option<f64> {
    let successful = rollouts.into_iter().filter(|rollout| rollout.success);
    let steps: Vec<f64> = successful.map(|rollout| rollout.steps as f64).collect();
    (!steps.is_empty()).then(|| steps.iter().sum::<f64>() / steps.len() as f64)
}

/// The number of last checkpoints whose mean success rate OGBench reports.
pub const LAST_THREE: usize = 3;

/// Success rates over checkpoints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Success {
    /// The success rate of the last checkpoint.
    pub last: f64,
    /// The mean over the last three checkpoints; `None` if there are fewer.
    pub last_three: Option<f64>,
    /// The maximum over checkpoints.
    pub best: f64,
}

impl Success {
    /// Summarizes the success rates of checkpoints, first to last; `None` if there are none.
    pub fn of(checkpoints: &[f64]) -> Option<Self> {
        let last_three =
            checkpoints.last_chunk::<LAST_THREE>().map(|three| three.iter().sum::<f64>() / LAST_THREE as f64);
        let best = checkpoints.iter().copied().fold(0.0, f64::max);
        Some(Self { last: *checkpoints.last()?, last_three, best })
    }
}
