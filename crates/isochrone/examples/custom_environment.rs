//! A custom environment, and the success rate of a policy in it.

use isochrone::prelude::*;

/// A point on a line that moves by its action, clipped to one unit. Goals are up to 20 units away.
#[derive(Default)]
struct Line {
    position: [f32; 1],
    goal: [f32; 1],
}

impl Environment for Line {
    fn observation_width(&self) -> usize {
        1
    }
    fn action_width(&self) -> usize {
        1
    }
    fn max_episode_steps(&self) -> usize {
        15
    }
    fn reset(&mut self, seed: u64, number: u64) {
        // The seed and the number of the episode determine all randomness.
        let mut random = isochrone::rng::stream(seed, number);
        self.position = [0.0];
        self.goal = [isochrone::rng::below(&mut random, 21) as f32];
    }
    fn observation(&self) -> &[f32] {
        &self.position
    }
    fn goal(&self) -> &[f32] {
        &self.goal
    }
    fn step(&mut self, action: &[f32]) -> StepResult {
        self.position[0] += action[0].clamp(-1.0, 1.0);
        let success = (self.position[0] - self.goal[0]).abs() < 0.5;
        StepResult { reward: -1.0, success, terminated: success }
    }
}

/// Moves straight towards the goal.
struct Straight;

impl GoalPolicy for Straight {
    fn observation_width(&self) -> usize {
        1
    }
    fn action_width(&self) -> usize {
        1
    }
    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        observations.iter().zip(goals).map(|(position, goal)| goal - position).collect()
    }
}

fn main() {
    let rollouts = RolloutConfig { episodes: 200, seed: 0 }.run(&|| Box::<Line>::default() as _, &Straight);
    println!("success rate {:.3}; goals beyond 15 units take too long", success_rate(&rollouts));
}
