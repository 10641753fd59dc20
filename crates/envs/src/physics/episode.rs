//! An episode: a start, a goal, and what the rules say.

use super::{Moving, Stage};
use crate::{
    maze::{MazeWorld, Place, Rules, apart},
    worlds::TASK_STREAMS,
};
use isochrone_core::{Environment, Step, rng};
use rand_chacha::ChaCha8Rng;

/// Random actions before the posture of a goal is taken.
const SETTLING: usize = 5;

/// Somebody in a maze who wants to get somewhere.
///
/// Episode `number` is an attempt at task `number % tasks`, so that any whole number of rounds has all tasks equally often. Where a teleporter carries somebody off, the situation that is
/// seen is still the one before: the benchmark's data sets have it so.
pub struct MazeEnvironment {
    world: MazeWorld,
    moving: Moving,
    goal_place: Place,
    seen: Vec<f32>,
    goal: Vec<f32>,
    random: ChaCha8Rng,
}

impl MazeEnvironment {
    pub(super) fn new(stage: &Stage) -> Self {
        let mut environment = Self {
            world: stage.world,
            moving: Moving::new(stage),
            goal_place: [0.0; 2],
            seen: Vec::new(),
            goal: Vec::new(),
            random: rng::stream(0, TASK_STREAMS),
        };
        environment.reset(0, 0);
        environment
    }

    /// The body.
    pub fn moving(&self) -> &Moving {
        &self.moving
    }

    /// The body, to be asked what it must compute for.
    pub fn moving_mut(&mut self) -> &mut Moving {
        &mut self.moving
    }

    /// Begins anew with given positions and velocities.
    pub fn begin_at(&mut self, positions: &[f64], velocities: &[f64]) {
        self.moving.begin_at(positions, velocities);
        self.moving.observe(&mut self.seen);
    }

    /// Begins a recording: near the posture at rest, at a place, with all chance from `random`.
    pub(super) fn begin_recording(&mut self, place: Place, mut random: ChaCha8Rng) {
        self.moving.reset(&mut random);
        self.moving.set_place(place);
        self.moving.observe(&mut self.seen);
        self.random = random;
    }

    /// Wants to be elsewhere; what the goal looks like does not change.
    pub(super) fn set_goal_place(&mut self, place: Place) {
        self.goal_place = place;
    }

    pub(super) fn random(&mut self) -> &mut ChaCha8Rng {
        &mut self.random
    }

    /// Acts, where a teleporter leads to the given exit instead of a random one. Whether the goal was reached.
    pub fn step_to_exit(&mut self, action: &[f32], exit: Option<usize>) -> bool {
        self.moving.act(action);
        self.moving.observe(&mut self.seen);
        let place = self.moving.place();
        let is_reached = apart(place, self.goal_place) <= self.world.success_radius();
        let layout = self.world.maze.layout();
        if layout.is_entrance(place) {
            let exit = exit.unwrap_or_else(|| rng::below(&mut self.random, layout.exits().len()));
            self.moving.set_place(layout.exits()[exit].centre());
        }
        is_reached
    }
}

impl Environment for MazeEnvironment {
    fn observation_width(&self) -> usize {
        self.world.body.observation_width()
    }

    fn action_width(&self) -> usize {
        self.world.body.action_width()
    }

    fn step_limit(&self) -> usize {
        self.world.step_limit()
    }

    fn reset(&mut self, seed: u64, number: u64) {
        let random = &mut rng::stream(seed, TASK_STREAMS + number);
        let task = (number % self.world.n_tasks() as u64) as usize;
        let (start, goal) = self.world.task(task, || rng::unit_f64(random));
        self.goal_place = goal;
        match self.world.rules {
            Rules::Ogbench => {
                // A goal is a whole situation: at its place, in a posture after a few random actions.
                self.moving.reset(random);
                for _ in 0..SETTLING {
                    let action: Vec<f32> = (0..self.action_width())
                        .map(|_| (2.0 * rng::unit_f64(random) - 1.0) as f32)
                        .collect();
                    self.moving.act(&action);
                }
                self.moving.set_place(goal);
                self.moving.observe(&mut self.goal);
            }
            Rules::D4rl => {
                self.goal = vec![0.0; self.observation_width()];
                self.goal[..2].copy_from_slice(&goal.map(|metres| metres as f32));
            }
        }
        self.moving.reset(random);
        if self.world.rules == Rules::Ogbench {
            self.moving.set_place(start);
        }
        self.moving.observe(&mut self.seen);
        self.random = random.clone();
    }

    fn observation(&self) -> &[f32] {
        &self.seen
    }

    fn goal(&self) -> &[f32] {
        &self.goal
    }

    fn step(&mut self, action: &[f32]) -> Step {
        let is_reached = self.step_to_exit(action, None);
        Step { reward: f64::from(u8::from(is_reached)), is_reached, is_over: is_reached }
    }
}
