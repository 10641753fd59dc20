//! The shape of an ant in a given pose.

use super::mjcf::{ANKLE_AXES, LEGS};
use crate::geometry::Capsule;

/// Returns the torso and the twelve capsules of the legs, in meters, in the pose of an observation,
/// which starts with the position, the orientation and the joint angles.
pub fn ant_shape(observation: &[f32]) -> Vec<Capsule> {
    let at = |index: usize| f64::from(observation[index]);
    let origin = [at(0), at(1), at(2)];
    let norm = (3..7).map(|index| at(index).powi(2)).sum::<f64>().sqrt().max(1e-9);
    let torso = [3, 4, 5, 6].map(|index| at(index) / norm);
    let to_global = |point: [f64; 3]| {
        let offset = rotated(torso, point);
        [0, 1, 2].map(|axis| origin[axis] + offset[axis])
    };
    let mut capsules = vec![Capsule { from: origin, to: origin, radius: 0.25 }];
    for (leg, (x, y)) in LEGS.into_iter().enumerate() {
        let along = [x, y, 0.0];
        let shoulder = along.map(|part| 0.2 * part);
        let hip = quaternion([0.0, 0.0, 1.0], at(7 + 2 * leg));
        let knee = add(shoulder, rotated(hip, shoulder));
        let ankle = quaternion(ANKLE_AXES[leg].map(|part| part / 2f64.sqrt()), at(8 + 2 * leg));
        let foot = add(knee, rotated(hip, rotated(ankle, along.map(|part| 0.4 * part))));
        for (from, to) in [([0.0; 3], shoulder), (shoulder, knee), (knee, foot)] {
            capsules.push(Capsule { from: to_global(from), to: to_global(to), radius: 0.08 });
        }
    }
    capsules
}

fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Returns the quaternion of a rotation about a unit axis.
fn quaternion(axis: [f64; 3], angle: f64) -> [f64; 4] {
    let (sin, cos) = (angle / 2.0).sin_cos();
    [cos, sin * axis[0], sin * axis[1], sin * axis[2]]
}

/// Returns a vector rotated by a unit quaternion.
fn rotated([w, x, y, z]: [f64; 4], [a, b, c]: [f64; 3]) -> [f64; 3] {
    let cross = |[a, b, c]: [f64; 3]| [y * c - z * b, z * a - x * c, x * b - y * a];
    let once = cross([a, b, c]).map(|part| 2.0 * part);
    let twice = cross(once);
    [a + w * once[0] + twice[0], b + w * once[1] + twice[1], c + w * once[2] + twice[2]]
}
