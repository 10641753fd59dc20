//! Two corridors that meet in a T: from A to B, and from C through B to D.
//!
//! ```text
//!                     C  (0, 10)
//!                     |
//!   A (-12, 0) ------ B  (0, 0)
//!                     |
//!                     D  (0, -10)
//! ```
//!
//! Every episode stays in one corridor, so that none leads from A to C. Actions are displacements
//! in the plane, which walls block.

use isochrone_core::rng;
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

/// Half of the width of a corridor.
const HALF: f64 = 0.5;
/// The displacement of an action of length 1.
pub const STEP_LENGTH: f64 = 0.4;
/// The standard deviation of the noise of a transition.
const TRANSITION_NOISE: f64 = 0.05;
/// The standard deviation of the behavior policy's action noise.
const ACTION_NOISE: f64 = 0.5;
const EPISODES: usize = 2000;
const EPISODE_STEPS: usize = 100;

pub type Point = [f64; 2];

/// Whether a point is in the corridor from A to B.
fn in_first([x, y]: Point) -> bool {
    (-12.0..=HALF).contains(&x) && y.abs() <= HALF
}

/// Whether a point is in the corridor from C through B to D.
fn in_second([x, y]: Point) -> bool {
    x.abs() <= HALF && y.abs() <= 10.0
}

/// Returns the state after an action; it slides along walls.
pub fn step(from: Point, action: Point, random: &mut ChaCha8Rng, is_inside: impl Fn(Point) -> bool) -> Point {
    let to = [0, 1].map(|axis| {
        from[axis] + STEP_LENGTH * action[axis].clamp(-1.0, 1.0) + TRANSITION_NOISE * rng::normal(random)
    });
    let candidates = [to, [to[0], from[1]], [from[0], to[1]]];
    candidates.into_iter().find(|point| is_inside(*point)).unwrap_or(from)
}

/// Whether a point is in either corridor.
pub fn is_free(point: Point) -> bool {
    in_first(point) || in_second(point)
}

/// Returns the length of the shortest path from a point of the first corridor, left of the
/// junction, to a point of the second above or below it: around the inner corner.
pub fn shortest_path(from: Point, to: Point) -> f64 {
    let corner = [-HALF, HALF * to[1].signum()];
    // Straight, if the line passes the corner on the side of the junction.
    let at_corner = from[1] + (to[1] - from[1]) * (corner[0] - from[0]) / (to[0] - from[0]);
    if at_corner.abs() <= HALF {
        euclidean(from, to)
    } else {
        euclidean(from, corner) + euclidean(corner, to)
    }
}

pub fn euclidean(from: Point, to: Point) -> f64 {
    (from[0] - to[0]).hypot(from[1] - to[1])
}

/// Samples a point of the first or of the second corridor.
fn random_point(is_first: bool, random: &mut ChaCha8Rng) -> Point {
    let mut between = |low: f64, high: f64| low + (high - low) * rng::unit_f64(random);
    if is_first {
        [between(-12.0, HALF), between(-HALF, HALF)]
    } else {
        [between(-HALF, HALF), between(-10.0, 10.0)]
    }
}

/// Collects episodes between random points of one corridor.
pub fn walks(seed: u64) -> Dataset {
    let mut random = rng::stream(seed, 77);
    let episodes = (0..EPISODES).map(|number| {
        let is_first = number % 2 == 0;
        let mut state = random_point(is_first, &mut random);
        let mut target = random_point(is_first, &mut random);
        let (mut observations, mut actions) = (state.map(|x| x as f32).to_vec(), Vec::new());
        for _ in 0..EPISODE_STEPS {
            if euclidean(state, target) < STEP_LENGTH {
                target = random_point(is_first, &mut random);
            }
            let distance = euclidean(state, target).max(1e-9);
            let action = [0, 1].map(|axis| {
                ((target[axis] - state[axis]) / distance + ACTION_NOISE * rng::normal(&mut random))
                    .clamp(-1.0, 1.0)
            });
            state = step(state, action, &mut random, if is_first { in_first } else { in_second });
            actions.extend(action.map(|x| x as f32));
            observations.extend(state.map(|x| x as f32));
        }
        (observations, actions)
    });
    Dataset::from_arrays(2, 2, episodes).expect("widths fit")
}
