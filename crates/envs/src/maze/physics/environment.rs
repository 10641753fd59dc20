//! Episodes in a maze: a start, a goal, and the rules of the benchmark.

use super::{MazeModel, Simulation};
use crate::{
    Point,
    definition::TASK_STREAMS,
    geometry::distance,
    maze::{Benchmark, MazeConfig},
};
use isochrone_core::{Environment, StepResult, rng};
use rand_chacha::ChaCha8Rng;

/// Random actions before the posture of a goal is sampled.
const SETTLING: usize = 5;

/// An agent in a maze that acts towards a goal.
///
/// Episode `number` has the task `number % tasks`, so that any whole number of rounds has all tasks equally
/// often. After a teleport, the observation is still the state before it, as in the benchmark's datasets.
pub struct MazeEnvironment {
    config: MazeConfig,
    /// The simulation of the body.
    pub simulation: Simulation,
    /// Where the episode succeeds; the goal's observation does not follow it.
    pub(super) goal_place: Point,
    observation: Vec<f32>,
    goal: Vec<f32>,
    pub(super) random: ChaCha8Rng,
}

impl MazeModel {
    /// An environment in this maze, at the first task of seed 0.
    pub fn environment(&self) -> MazeEnvironment {
        let mut environment = MazeEnvironment {
            config: self.config,
            simulation: Simulation::new(self),
            goal_place: [0.0; 2],
            observation: Vec::new(),
            goal: Vec::new(),
            random: rng::stream(0, TASK_STREAMS),
        };
        environment.reset(0, 0);
        environment
    }
}

impl MazeEnvironment {
    /// Resets the body to given positions and velocities.
    pub fn reset_to(&mut self, positions: &[f64], velocities: &[f64]) {
        self.simulation.reset_to(positions, velocities);
        self.simulation.observe(&mut self.observation);
    }

    /// Starts an episode of a dataset: near the posture at rest, at a place, with all randomness
    /// from `random`.
    pub(super) fn reset_at(&mut self, place: Point, mut random: ChaCha8Rng) {
        self.simulation.reset(&mut random);
        self.simulation.set_place(place);
        self.simulation.observe(&mut self.observation);
        self.random = random;
    }

    /// Applies an action, where teleporters lead to the given exit instead of a random one. Returns
    /// whether the goal is reached.
    pub fn step_to_exit(&mut self, action: &[f32], exit: Option<usize>) -> bool {
        self.simulation.act(action);
        self.simulation.observe(&mut self.observation);
        let place = self.simulation.place();
        let success = distance(place, self.goal_place) <= self.config.success_radius();
        let layout = self.config.maze.layout();
        if layout.is_entrance(place) {
            let exit = exit.unwrap_or_else(|| rng::below(&mut self.random, layout.exits().len()));
            self.simulation.set_place(layout.exits()[exit].center());
        }
        success
    }
}

impl Environment for MazeEnvironment {
    fn observation_width(&self) -> usize {
        self.config.body.observation_width()
    }

    fn action_width(&self) -> usize {
        self.config.body.action_width()
    }

    fn max_episode_steps(&self) -> usize {
        self.config.max_episode_steps()
    }

    fn reset(&mut self, seed: u64, number: u64) {
        let random = &mut rng::stream(seed, TASK_STREAMS + number);
        let task = (number % self.config.n_tasks() as u64) as usize;
        let (start, goal) = self.config.task(task, || rng::unit_f64(random));
        self.goal_place = goal;
        match self.config.benchmark {
            Benchmark::Ogbench => {
                // A goal is a full state: at its place, in a posture after a few random actions.
                self.simulation.reset(random);
                for _ in 0..SETTLING {
                    let action: Vec<f32> = (0..self.action_width())
                        .map(|_| (2.0 * rng::unit_f64(random) - 1.0) as f32)
                        .collect();
                    self.simulation.act(&action);
                }
                self.simulation.set_place(goal);
                self.simulation.observe(&mut self.goal);
            }
            Benchmark::D4rl => {
                self.goal = vec![0.0; self.observation_width()];
                self.goal[..2].copy_from_slice(&goal.map(|meters| meters as f32));
            }
        }
        self.simulation.reset(random);
        if self.config.benchmark == Benchmark::Ogbench {
            self.simulation.set_place(start);
        }
        self.simulation.observe(&mut self.observation);
        self.random = random.clone();
    }

    fn observation(&self) -> &[f32] {
        &self.observation
    }

    fn goal(&self) -> &[f32] {
        &self.goal
    }

    fn step(&mut self, action: &[f32]) -> StepResult {
        let success = self.step_to_exit(action, None);
        StepResult { reward: f64::from(u8::from(success)), success, terminated: success }
    }
}
