//! The simulation of a body.

use super::MazeModel;
use crate::{
    Point,
    maze::{Body, PUSH},
};
use isochrone_core::rng;
use mujoco_rs::prelude::{MjData, MjModel};
use rand_chacha::ChaCha8Rng;
use std::{collections::HashMap, sync::Arc};

/// Physics steps per control step.
const PHYSICS_STEPS: usize = 5;

/// The scale of the noise around the rest pose in initial states.
const START_NOISE: f64 = 0.1;

/// The maximum number of cached pushes against walls: more than an episode has.
const MAX_CACHED: usize = 4096;

/// The simulation of a ball or an ant.
pub struct Simulation {
    body: Body,
    data: MjData<Arc<MjModel>>,
    at_rest: Vec<f64>,
    /// The results of earlier actions that pushed the ball against a wall. A ball that is stuck
    /// repeats them.
    pushes: HashMap<Ball, Ball>,
}

/// The bits of everything that a physics step of the ball depends on: position, velocity, and the
/// solver's warm start.
type Ball = [u64; 6];

impl Simulation {
    /// Creates a simulation with the body at the origin, at rest.
    pub fn new(model: &MazeModel) -> Self {
        let data = MjData::new(model.model.clone());
        Self { body: model.config.body, at_rest: data.qpos().to_vec(), data, pushes: HashMap::new() }
    }

    /// Resets to a random state near the rest pose.
    pub fn reset(&mut self, random: &mut ChaCha8Rng) {
        let mut noise = || START_NOISE * (2.0 * rng::unit_f64(random) - 1.0);
        let positions: Vec<f64> = self.at_rest.iter().map(|at_rest| at_rest + noise()).collect();
        let velocities = (0..self.body.velocities()).map(|_| START_NOISE * rng::normal(random));
        let velocities: Vec<f64> = velocities.collect();
        self.reset_to(&positions, &velocities);
    }

    /// Resets to given positions and velocities.
    pub fn reset_to(&mut self, positions: &[f64], velocities: &[f64]) {
        self.data.reset();
        self.pushes.clear();
        self.data.qpos_mut().copy_from_slice(positions);
        self.data.qvel_mut().copy_from_slice(velocities);
        self.data.forward();
    }

    /// Moves the body to another position; its pose and velocities are unchanged.
    pub fn set_place(&mut self, place: Point) {
        self.data.qpos_mut()[..2].copy_from_slice(&place);
        self.data.forward();
    }

    /// Applies an action for a tenth of a second. Values are clipped to `-1..=1`; NaN counts as
    /// zero.
    pub fn act(&mut self, action: &[f32]) {
        let number = |value: &f32| if value.is_nan() { 0.0 } else { f64::from(value.clamp(-1.0, 1.0)) };
        match self.body {
            Body::Point => {
                for (position, push) in self.data.qpos_mut().iter_mut().zip(action) {
                    *position += PUSH * number(push);
                }
                self.data.qvel_mut().fill(0.0);
            }
            Body::Ant => {
                for (motor, torque) in self.data.ctrl_mut().iter_mut().zip(action) {
                    *motor = number(torque);
                }
            }
        }
        let pushed = self.ball();
        if let Some(&result) = pushed.and_then(|ball| self.pushes.get(&ball)) {
            self.set_ball(result);
            return;
        }
        let mut before = pushed;
        for _ in 0..PHYSICS_STEPS {
            self.data.step();
            // A step is a deterministic function of the state: if one step changes nothing, neither
            // do the following ones. A ball that touches no wall does not move after its push.
            let after = self.ball();
            if before.is_some() && after == before {
                return;
            }
            before = after;
        }
        if let (Some(pushed), Some(result)) = (pushed, before)
            && self.pushes.len() < MAX_CACHED
        {
            self.pushes.insert(pushed, result);
        }
    }

    /// Returns the state of the ball; `None` for the ant, whose states never repeat.
    fn ball(&self) -> Option<Ball> {
        let (positions, velocities, guess) = (self.data.qpos(), self.data.qvel(), self.data.qacc_warmstart());
        match (self.body, positions, velocities, guess) {
            (Body::Point, &[x, y], &[vx, vy], &[ax, ay]) => Some([x, y, vx, vy, ax, ay].map(f64::to_bits)),
            _ => None,
        }
    }

    fn set_ball(&mut self, ball: Ball) {
        let [x, y, vx, vy, ax, ay] = ball.map(f64::from_bits);
        self.data.qpos_mut().copy_from_slice(&[x, y]);
        self.data.qvel_mut().copy_from_slice(&[vx, vy]);
        self.data.qacc_warmstart_mut().copy_from_slice(&[ax, ay]);
    }

    /// Returns the position in the plane.
    pub fn place(&self) -> Point {
        [self.positions()[0], self.positions()[1]]
    }

    /// Returns the positions of all joints (`qpos`).
    pub fn positions(&self) -> &[f64] {
        self.data.qpos()
    }

    /// Returns the velocities of all joints (`qvel`).
    pub fn velocities(&self) -> &[f64] {
        self.data.qvel()
    }

    /// Returns the centers of all geoms of the model: floor, walls, body. After a physics step,
    /// MuJoCo's geom positions lag behind the joint positions, so they are recomputed here.
    pub fn geom_centers(&mut self) -> Vec<[f64; 3]> {
        self.data.forward();
        self.data.geom_xpos().to_vec()
    }

    /// Writes the observation: the positions and, for the ant, the velocities.
    pub fn observe(&self, observation: &mut Vec<f32>) {
        observation.clear();
        observation.extend(self.positions().iter().map(|&position| position as f32));
        if self.body == Body::Ant {
            observation.extend(self.velocities().iter().map(|&velocity| velocity as f32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maze::{Benchmark, Maze, MazeConfig};

    #[test]
    fn the_cache_of_pushes_does_not_change_results() {
        let config = MazeConfig { benchmark: Benchmark::Ogbench, body: Body::Point, maze: Maze::Medium };
        let model = MazeModel::new(config);
        let (mut cached, mut uncached) = (Simulation::new(&model), Simulation::new(&model));
        let n_actions = 600;
        for number in 0..n_actions {
            // Pushes into a corner alternate between two directions.
            let action = if number % 2 == 0 { [-1.0, -1.0] } else { [-1.0, -0.5] };
            uncached.pushes.clear();
            for ball in [&mut cached, &mut uncached] {
                ball.act(&action);
            }
            assert_eq!(cached.ball(), uncached.ball(), "after {number} actions");
        }
        assert!(cached.pushes.len() < n_actions / 2, "{} were new", cached.pushes.len());
    }
}
