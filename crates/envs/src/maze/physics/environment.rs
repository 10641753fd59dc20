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

/// The number of random actions taken before the pose of a goal is recorded.
const SETTLING: usize = 5;

/// A maze environment.
///
/// Episode `number` has the task `number % n_tasks`, so any multiple of `n_tasks` episodes contains
/// every task equally often. The observation right after a teleport is the state before it, as in
/// the benchmark's datasets.
pub struct MazeEnvironment {
    config: MazeConfig,
    /// The simulation of the body.
    pub simulation: Simulation,
    /// The position that success is measured at. Changing it does not change the goal observation.
    pub(super) goal_place: Point,
    observation: Vec<f32>,
    goal: Vec<f32>,
    pub(super) random: ChaCha8Rng,
}

impl MazeModel {
    /// Returns an environment in this maze, reset to the first task of seed 0.
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

    /// Starts a dataset episode: near the rest pose, at the given position, with `random` as the
    /// source of all randomness.
    pub(super) fn reset_at(&mut self, place: Point, mut random: ChaCha8Rng) {
        self.simulation.reset(&mut random);
        self.simulation.set_place(place);
        self.simulation.observe(&mut self.observation);
        self.random = random;
    }

    /// Applies an action and returns whether the episode succeeds. Teleporters lead to the given
    /// exit; `None` chooses a random one.
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
                // A goal is a full state: the pose after a few random actions, moved to the goal
                // position.
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
