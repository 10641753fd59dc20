//! Rollouts of a policy in an environment.

use isochrone_core::{Environment, GoalPolicy};
use rayon::prelude::*;

/// Episodes that a policy acts in together. Fixed, so that what is computed does not depend on the number of threads.
const BATCH: u64 = 64;

/// Which rollouts to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutConfig {
    /// How many: numbers `0..episodes` of the seed.
    pub episodes: u64,
    /// Of the tasks and of all chance in them.
    pub seed: u64,
}

/// What became of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollout {
    /// Whether the goal was reached.
    pub success: bool,
    /// Actions until then, or until it was over.
    pub steps: usize,
    /// Rewards, added up.
    pub total_reward: f64,
    /// Where it was to lead.
    pub goal: Vec<f32>,
    /// What was seen, `[steps + 1, observation width]`.
    pub states: Vec<f32>,
}

impl RolloutConfig {
    /// Rolls out a policy on every task, many at a time and in parallel. Results are in the order of the tasks, the same for any number of threads.
    pub fn run(
        &self,
        world: &(dyn Fn() -> Box<dyn Environment> + Sync),
        policy: &dyn GoalPolicy,
    ) -> Vec<Rollout> {
        let groups: Vec<u64> = (0..self.episodes.div_ceil(BATCH)).collect();
        let of_group = |group: &u64| {
            let first = group * BATCH;
            self.group(first..self.episodes.min(first + BATCH), world, policy)
        };
        groups.par_iter().flat_map_iter(of_group).collect()
    }

    fn group(
        &self,
        numbers: std::ops::Range<u64>,
        world: &(dyn Fn() -> Box<dyn Environment> + Sync),
        policy: &dyn GoalPolicy,
    ) -> Vec<Rollout> {
        let mut worlds: Vec<Box<dyn Environment>> = numbers.clone().map(|_| world()).collect();
        let mut rollouts = Vec::with_capacity(worlds.len());
        for (world, number) in worlds.iter_mut().zip(numbers) {
            world.reset(self.seed, number);
            rollouts.push(Rollout {
                success: false,
                steps: 0,
                total_reward: 0.0,
                goal: world.goal().to_vec(),
                states: world.observation().to_vec(),
            });
        }
        let mut going: Vec<usize> = (0..worlds.len()).collect();
        while !going.is_empty() {
            let seen: Vec<f32> = going.iter().flat_map(|&at| worlds[at].observation()).copied().collect();
            let goals: Vec<f32> = going.iter().flat_map(|&at| worlds[at].goal()).copied().collect();
            let actions = policy.actions(&seen, &goals);
            let width = actions.len() / going.len();
            let mut rows = actions.chunks_exact(width);
            going.retain(|&at| {
                let (world, rollout) = (&mut worlds[at], &mut rollouts[at]);
                let step = world.step(rows.next().expect("an action for everybody"));
                rollout.steps += 1;
                rollout.total_reward += step.reward;
                rollout.success |= step.success;
                rollout.states.extend(world.observation());
                !step.terminated && rollout.steps < world.max_episode_steps()
            });
        }
        rollouts
    }
}

/// The share of rollouts that reached their goal.
pub fn success_rate(rollouts: &[Rollout]) -> f64 {
    rollouts.iter().filter(|rollout| rollout.success).count() as f64 / rollouts.len() as f64
}

/// The share of rollouts that reached their goal, for each of so many tasks that take turns.
pub fn success_by_task(rollouts: &[Rollout], n_tasks: usize) -> Vec<f64> {
    let share = |task: usize| {
        let of = rollouts.iter().skip(task).step_by(n_tasks);
        of.clone().filter(|rollout| rollout.success).count() as f64 / of.count() as f64
    };
    (0..n_tasks).map(share).collect()
}

/// As many of the last checkpoints are what a benchmark reports the mean of.
pub const LAST_THREE: usize = 3;

/// Success over checkpoints, under the names that benchmarks use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Success {
    /// At the last checkpoint.
    pub last: f64,
    /// The mean over the last three; nothing of fewer.
    pub last_three: Option<f64>,
    /// The largest.
    pub best: f64,
}

impl Success {
    /// Of checkpoints, first to last; nothing of none.
    pub fn of(checkpoints: &[f64]) -> Option<Self> {
        let last_three =
            checkpoints.last_chunk::<LAST_THREE>().map(|three| three.iter().sum::<f64>() / LAST_THREE as f64);
        let best = checkpoints.iter().copied().fold(0.0, f64::max);
        Some(Self { last: *checkpoints.last()?, last_three, best })
    }
}
