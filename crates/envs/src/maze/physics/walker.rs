//! A policy that makes the ant walk in a given direction.

use crate::maze::mjcf::{ANKLE_SIGNS, MOTORS};
use isochrone_core::rng;
use rand_chacha::ChaCha8Rng;
use safetensors::SafeTensors;
use std::{f64::consts::FRAC_PI_2, sync::LazyLock};

/// A small network that makes the ant walk in a given direction, trained by soft actor-critic on an
/// open floor (see `assets/README.md`).
///
/// The ant is symmetric under quarter turns, so the network's inputs are in the frame of the side
/// nearest to the direction: frame leg `i` is leg `i + k` of the body, where `k` is the number of
/// quarter turns from the body's heading to that side.
pub struct AntWalker {
    layers: Vec<Layer>,
}

struct Layer {
    /// `[inputs, outputs]`
    weights: Vec<f32>,
    biases: Vec<f32>,
}

/// The limits of the logarithm of the standard deviation.
const LOG_STD: (f32, f32) = (-5.0, 2.0);

impl AntWalker {
    /// Returns the shared instance, which is read once.
    pub fn get() -> &'static Self {
        static WALKER: LazyLock<AntWalker> = LazyLock::new(AntWalker::read);
        &WALKER
    }

    fn read() -> Self {
        let file = SafeTensors::deserialize(include_bytes!("../../../assets/ant-walker.safetensors"));
        let file = file.expect("the file is valid");
        let numbers = |name: String| -> Vec<f32> {
            let bytes = file.tensor(&name).expect("the file has six tensors").data();
            let (numbers, _) = bytes.as_chunks::<4>();
            numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()
        };
        let layer =
            |number| Layer { weights: numbers(format!("w{number}")), biases: numbers(format!("b{number}")) };
        Self { layers: (0..3).map(layer).collect() }
    }

    /// Returns the mode of the action distribution for walking in a direction of length one.
    /// `observation` has 15 positions and 14 velocities, as in datasets.
    pub fn action(&self, observation: &[f32], direction: [f64; 2]) -> [f32; 8] {
        let (output, k) = self.forward(observation, direction);
        motors(|number| output[number].tanh(), k)
    }

    /// Samples an action from the distribution of the network.
    pub fn sampled_action(
        &self,
        observation: &[f32],
        direction: [f64; 2],
        random: &mut ChaCha8Rng,
    ) -> [f32; 8] {
        let (output, k) = self.forward(observation, direction);
        let (min, max) = LOG_STD;
        let sampled: [f32; 8] = std::array::from_fn(|number| {
            let std = output[8 + number].clamp(min, max).exp();
            (output[number] + std * rng::normal(random) as f32).tanh()
        });
        motors(|number| sampled[number], k)
    }

    /// Returns the output of the network, and the number of quarter turns of its frame.
    fn forward(&self, observation: &[f32], direction: [f64; 2]) -> (Vec<f32>, usize) {
        let (input, k) = network_input(observation, direction);
        let mut values: Vec<f32> = input.into_iter().map(|number| number as f32).collect();
        for (number, layer) in self.layers.iter().enumerate() {
            let mut next = layer.biases.clone();
            for (value, row) in values.iter().zip(layer.weights.chunks_exact(next.len())) {
                for (sum, weight) in next.iter_mut().zip(row) {
                    *sum += value * weight;
                }
            }
            if number + 1 < self.layers.len() {
                next.iter_mut().for_each(|value| *value = value.max(0.0));
            }
            values = next;
        }
        (values, k)
    }
}

/// Maps the actions of the frame, four hips and four ankles, to the motors of the body.
fn motors(of_frame: impl Fn(usize) -> f32, k: usize) -> [f32; 8] {
    let mut torques = [0.0; 8];
    for (slot, leg) in MOTORS.into_iter().enumerate() {
        let frame_leg = (leg + 4 - k) % 4;
        torques[2 * slot] = of_frame(frame_leg);
        torques[2 * slot + 1] = of_frame(4 + frame_leg) * ANKLE_SIGNS[leg] as f32;
    }
    torques
}

/// Returns the 28 inputs of the network (height, up vector, hips, ankles, velocities, joint rates,
/// direction), and the number of quarter turns of the frame.
fn network_input(observation: &[f32], direction: [f64; 2]) -> ([f64; 28], usize) {
    let at = |index: usize| f64::from(observation[index]);
    let norm = (3..7).map(|index| at(index).powi(2)).sum::<f64>().sqrt();
    let [w, x, y, z] = [3, 4, 5, 6].map(|index| at(index) / norm);
    let yaw = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
    let quarters = ((direction[1].atan2(direction[0]) - yaw) / FRAC_PI_2).round_ties_even();
    let k = quarters.rem_euclid(4.0) as usize;
    let (body_turn, global_turn) = (-quarters * FRAC_PI_2, -(yaw + quarters * FRAC_PI_2));
    let turned = |[x, y]: [f64; 2], angle: f64| {
        let (sin, cos) = angle.sin_cos();
        [cos * x - sin * y, sin * x + cos * y]
    };
    let up = turned([2.0 * (x * z - w * y), 2.0 * (y * z + w * x)], body_turn);
    let linear = turned([at(15), at(16)], global_turn);
    let angular = turned([at(18), at(19)], body_turn);
    let wanted = turned(direction, global_turn);
    let mut input = [0.0; 28];
    input[..4].copy_from_slice(&[at(2), up[0], up[1], 1.0 - 2.0 * (x * x + y * y)]);
    for frame_leg in 0..4 {
        let leg = (frame_leg + k) % 4;
        input[4 + frame_leg] = at(7 + 2 * leg);
        input[8 + frame_leg] = at(8 + 2 * leg) * ANKLE_SIGNS[leg];
        input[18 + frame_leg] = 0.2 * at(21 + 2 * leg);
        input[22 + frame_leg] = 0.2 * at(22 + 2 * leg) * ANKLE_SIGNS[leg];
    }
    input[12..18].copy_from_slice(&[linear[0], linear[1], at(17), angular[0], angular[1], at(20)]);
    input[26..].copy_from_slice(&wanted);
    (input, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renumbering the legs from the next one on rotates the body frame by a quarter turn; every
    /// leg must still get the same action.
    #[test]
    fn actions_do_not_depend_on_which_leg_is_first() {
        let walker = AntWalker::get();
        let mut random = rng::stream(3, 0);
        for _ in 0..50 {
            let mut seen: Vec<f32> = (0..29).map(|_| (0.4 * rng::normal(&mut random)) as f32).collect();
            // Upright, because the heading of a tilted body is not exactly a quarter turn from that
            // of its side.
            (seen[2], seen[3], seen[4], seen[5]) = (0.6, 1.0, 0.0, 0.0);
            let angle = std::f64::consts::TAU * rng::unit_f64(&mut random);
            let one = walker.action(&seen, [angle.cos(), angle.sin()]);
            let mut turned = seen.clone();
            // Rotates the body frame by a quarter turn about its vertical axis, and changes angular
            // velocities and leg numbers accordingly.
            let (sin, cos) = (FRAC_PI_2 / 2.0).sin_cos();
            let [w, x, y, z] = [3, 4, 5, 6].map(|index| f64::from(seen[index]));
            let quaternion = [w * cos - z * sin, x * cos + y * sin, y * cos - x * sin, z * cos + w * sin];
            for (index, part) in quaternion.into_iter().enumerate() {
                turned[3 + index] = part as f32;
            }
            (turned[18], turned[19]) = (seen[19], -seen[18]);
            for leg in 0..4 {
                let from = (leg + 1) % 4;
                let sign = (ANKLE_SIGNS[leg] * ANKLE_SIGNS[from]) as f32;
                (turned[7 + 2 * leg], turned[8 + 2 * leg]) = (seen[7 + 2 * from], sign * seen[8 + 2 * from]);
                (turned[21 + 2 * leg], turned[22 + 2 * leg]) =
                    (seen[21 + 2 * from], sign * seen[22 + 2 * from]);
            }
            let other = walker.action(&turned, [angle.cos(), angle.sin()]);
            for (slot, leg) in MOTORS.into_iter().enumerate() {
                let from = MOTORS.iter().position(|&other| other == (leg + 1) % 4).expect("four legs");
                let sign = (ANKLE_SIGNS[leg] * ANKLE_SIGNS[(leg + 1) % 4]) as f32;
                assert!((other[2 * slot] - one[2 * from]).abs() < 1e-3, "{one:?} {other:?}");
                assert!((other[2 * slot + 1] - sign * one[2 * from + 1]).abs() < 1e-3, "{one:?} {other:?}");
            }
        }
    }
}
