//! A body that moves.

use super::Stage;
use crate::maze::{Body, PUSH, Place};
use isochrone_core::rng;
use mujoco_rs::prelude::{MjData, MjModel};
use rand_chacha::ChaCha8Rng;
use std::{collections::HashMap, sync::Arc};

/// Physics steps per control step.
const PHYSICS_STEPS: usize = 5;

/// Around the model's own posture, everybody starts a little differently.
const START_NOISE: f64 = 0.1;

/// Pushes against walls that are remembered, at most: more than an episode has.
const REMEMBERED: usize = 4096;

/// A ball or an ant, and where it is.
pub struct Moving {
    body: Body,
    data: MjData<Arc<MjModel>>,
    at_rest: Vec<f64>,
    /// What became of the ball by earlier actions that pushed it against a wall: one that is stuck comes by the same again and again.
    pushes: HashMap<Ball, Ball>,
}

/// All that a physics step of the ball depends on, in bits: position, velocity, and where the solver begins.
type Ball = [u64; 6];

impl Moving {
    /// Puts a body on a stage, at the origin and at rest.
    pub fn new(stage: &Stage) -> Self {
        let data = MjData::new(stage.model.clone());
        Self { body: stage.world.body, at_rest: data.qpos().to_vec(), data, pushes: HashMap::new() }
    }

    /// Forgets everything, and begins near the posture at rest.
    pub fn reset(&mut self, random: &mut ChaCha8Rng) {
        let positions: Vec<f64> = self
            .at_rest
            .iter()
            .map(|at_rest| at_rest + START_NOISE * (2.0 * rng::unit_f64(random) - 1.0))
            .collect();
        let velocities: Vec<f64> =
            (0..self.body.velocities()).map(|_| START_NOISE * rng::normal(random)).collect();
        self.begin_at(&positions, &velocities);
    }

    /// Forgets everything, and begins with given positions and velocities.
    pub fn begin_at(&mut self, positions: &[f64], velocities: &[f64]) {
        self.data.reset();
        self.pushes.clear();
        self.set_state(positions, velocities);
    }

    fn set_state(&mut self, positions: &[f64], velocities: &[f64]) {
        self.data.qpos_mut().copy_from_slice(positions);
        self.data.qvel_mut().copy_from_slice(velocities);
        self.data.forward();
    }

    /// Carries the body elsewhere; posture and momentum stay.
    pub fn set_place(&mut self, place: Place) {
        self.data.qpos_mut()[..2].copy_from_slice(&place);
        self.data.forward();
    }

    /// Acts for a tenth of a second. Numbers beyond `-1..=1` count as these, those that are none as zero.
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
        if let Some(&became) = pushed.and_then(|ball| self.pushes.get(&ball)) {
            self.set_ball(became);
            return;
        }
        let mut before = pushed;
        for _ in 0..PHYSICS_STEPS {
            self.data.step();
            // A step is a function of what it finds: one that changed nothing changes nothing the next time either. A ball that touches no wall stands still after its push.
            let after = self.ball();
            if before.is_some() && after == before {
                return;
            }
            before = after;
        }
        if let (Some(pushed), Some(became)) = (pushed, before)
            && self.pushes.len() < REMEMBERED
        {
            self.pushes.insert(pushed, became);
        }
    }

    /// Nothing of the ant, which never comes by the same again.
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

    /// Where it is.
    pub fn place(&self) -> Place {
        [self.positions()[0], self.positions()[1]]
    }

    /// The positions of all joints.
    pub fn positions(&self) -> &[f64] {
        self.data.qpos()
    }

    /// Their velocities.
    pub fn velocities(&self) -> &[f64] {
        self.data.qvel()
    }

    /// The middles of all geoms of the model: floor, walls, body. As of the last physics step but for its final motion: brought up to date here.
    pub fn geom_middles(&mut self) -> Vec<[f64; 3]> {
        self.data.forward();
        self.data.geom_xpos().to_vec()
    }

    /// What the body sees of itself: positions; the ant, velocities as well.
    pub fn observe(&self, seen: &mut Vec<f32>) {
        seen.clear();
        seen.extend(self.positions().iter().map(|&position| position as f32));
        if self.body == Body::Ant {
            seen.extend(self.velocities().iter().map(|&velocity| velocity as f32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maze::{Maze, MazeWorld, Rules};

    #[test]
    fn a_ball_that_is_stuck_is_where_physics_says() {
        let world = MazeWorld { rules: Rules::Ogbench, body: Body::Point, maze: Maze::Medium };
        let stage = Stage::new(world);
        let (mut remembers, mut forgets) = (Moving::new(&stage), Moving::new(&stage));
        let n_actions = 600;
        for number in 0..n_actions {
            // Into a corner, a little differently every other time.
            let action = if number % 2 == 0 { [-1.0, -1.0] } else { [-1.0, -0.5] };
            forgets.pushes.clear();
            for ball in [&mut remembers, &mut forgets] {
                ball.act(&action);
            }
            assert_eq!(remembers.ball(), forgets.ball(), "after {number} actions");
        }
        assert!(remembers.pushes.len() < n_actions / 2, "{} were new", remembers.pushes.len());
    }
}
