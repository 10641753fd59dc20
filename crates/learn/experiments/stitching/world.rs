//! Two corridors that meet in a T: from A to B, and from C by B to D.
//!
//! ```text
//!                     C  (0, 10)
//!                     |
//!   A (-12, 0) ------ B  (0, 0)
//!                     |
//!                     D  (0, -10)
//! ```
//!
//! Every episode stays in one corridor, so that none goes from A to C. Actions are pushes in the plane; walls stop them.

use isochrone_core::rng;
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

/// Half the width of a corridor.
const HALF: f64 = 0.5;
/// How far a full push moves.
pub const STEP: f64 = 0.4;
/// Deviation of what chance adds to a move.
const CHANCE: f64 = 0.05;
/// Deviation of what the walker adds to its push.
const WOBBLE: f64 = 0.5;
const EPISODES: usize = 2000;
const EPISODE_STEPS: usize = 100;

pub type Point = [f64; 2];

/// From A to B.
fn in_first([x, y]: Point) -> bool {
    (-12.0..=HALF).contains(&x) && y.abs() <= HALF
}

/// From C by B to D.
fn in_second([x, y]: Point) -> bool {
    x.abs() <= HALF && y.abs() <= 10.0
}

/// Where a push leads; along a wall it slides.
pub fn moved(from: Point, push: Point, random: &mut ChaCha8Rng, is_inside: impl Fn(Point) -> bool) -> Point {
    let to =
        [0, 1].map(|axis| from[axis] + STEP * push[axis].clamp(-1.0, 1.0) + CHANCE * rng::normal(random));
    let ways = [to, [to[0], from[1]], [from[0], to[1]]];
    ways.into_iter().find(|way| is_inside(*way)).unwrap_or(from)
}

/// In either corridor.
pub fn is_free(point: Point) -> bool {
    in_first(point) || in_second(point)
}

/// The shortest way from a point of the first corridor, left of the crossing, to one of the second above or below it: around the inner corner.
pub fn way(from: Point, to: Point) -> f64 {
    let corner = [-HALF, HALF * to[1].signum()];
    // Straight, where the line passes the corner on the side of the crossing.
    let at_corner = from[1] + (to[1] - from[1]) * (corner[0] - from[0]) / (to[0] - from[0]);
    if at_corner.abs() <= HALF { apart(from, to) } else { apart(from, corner) + apart(corner, to) }
}

pub fn apart(from: Point, to: Point) -> f64 {
    (from[0] - to[0]).hypot(from[1] - to[1])
}

/// A point of the first corridor, or of the second.
fn somewhere(is_first: bool, random: &mut ChaCha8Rng) -> Point {
    let mut between = |low: f64, high: f64| low + (high - low) * rng::unit_f64(random);
    if is_first {
        [between(-12.0, HALF), between(-HALF, HALF)]
    } else {
        [between(-HALF, HALF), between(-10.0, 10.0)]
    }
}

/// Walks to and fro between random points of one corridor.
pub fn walks(seed: u64) -> Dataset {
    let mut random = rng::stream(seed, 77);
    let episodes = (0..EPISODES).map(|number| {
        let is_first = number % 2 == 0;
        let mut at = somewhere(is_first, &mut random);
        let mut target = somewhere(is_first, &mut random);
        let (mut observations, mut actions) = (at.map(|x| x as f32).to_vec(), Vec::new());
        for _ in 0..EPISODE_STEPS {
            if apart(at, target) < STEP {
                target = somewhere(is_first, &mut random);
            }
            let distance = apart(at, target).max(1e-9);
            let push = [0, 1].map(|axis| {
                ((target[axis] - at[axis]) / distance + WOBBLE * rng::normal(&mut random)).clamp(-1.0, 1.0)
            });
            at = moved(at, push, &mut random, if is_first { in_first } else { in_second });
            actions.extend(push.map(|x| x as f32));
            observations.extend(at.map(|x| x as f32));
        }
        (observations, actions)
    });
    Dataset::from_arrays(2, 2, episodes).expect("widths fit")
}
