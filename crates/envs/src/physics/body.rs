//! A body that moves.

use super::Stage;
use crate::maze::{Body, PUSH, Place};
use isochrone_core::rng;
use mujoco_rs::prelude::{MjData, MjModel};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Physics steps per control step.
const PHYSICS_STEPS: usize = 5;

/// Around the model's own posture, everybody starts a little differently.
const START_NOISE: f64 = 0.1;

/// A ball or an ant, and where it is.
pub struct Moving {
    body: Body,
    data: MjData<Arc<MjModel>>,
    at_rest: Vec<f64>,
}

impl Moving {
    /// Puts a body on a stage, at the origin and at rest.
    pub fn new(stage: &Stage) -> Self {
        let data = MjData::new(stage.model.clone());
        Self { body: stage.world.body, at_rest: data.qpos().to_vec(), data }
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
        self.data.reset();
        self.set_state(&positions, &velocities);
    }

    /// Forgets everything, and begins with given positions and velocities.
    pub fn begin_at(&mut self, positions: &[f64], velocities: &[f64]) {
        self.data.reset();
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
        let mut before = self.inputs();
        for _ in 0..PHYSICS_STEPS {
            self.data.step();
            // A step is a function of what it finds: one that changed nothing changes nothing the next time either. A ball that touches no wall stands still after its push.
            let after = self.inputs();
            if before.is_some() && after == before {
                break;
            }
            before = after;
        }
    }

    /// All that a physics step of the ball depends on: positions, velocities, and where the solver begins. Nothing of the ant, which never stands still.
    fn inputs(&self) -> Option<[u64; 6]> {
        let (positions, velocities, guess) = (self.data.qpos(), self.data.qvel(), self.data.qacc_warmstart());
        match (self.body, positions, velocities, guess) {
            (Body::Point, &[x, y], &[vx, vy], &[ax, ay]) => Some([x, y, vx, vy, ax, ay].map(f64::to_bits)),
            _ => None,
        }
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
