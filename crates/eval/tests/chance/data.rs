//! Walks in a square room with planted teleporters.

use isochrone_core::rng;
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

/// The side of the room, in meters.
pub const SIDE: f64 = 14.0;
/// The length of a step, in meters.
pub const STEP: f64 = 0.2;
/// The radius of an entry.
pub const RADIUS: f64 = 1.0;

/// A room with teleporters.
#[derive(Clone, Default)]
pub struct Room {
    pub entries: Vec<[f64; 2]>,
    pub exits: Vec<[f64; 2]>,
    /// The number of other columns, which are noise.
    pub noise_columns: usize,
}

/// A walk, and what happened.
pub struct Walk {
    pub states: Vec<f32>,
    pub actions: Vec<f32>,
    /// The entry and the exit of each jump.
    pub jumps: Vec<(usize, usize)>,
}

pub fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

impl Room {
    /// Two entries, three exits.
    pub fn with_teleporters() -> Self {
        let entries = vec![[4.0, 7.0], [10.0, 3.0]];
        Self { entries, exits: vec![[1.0, 1.0], [7.0, 13.0], [13.0, 7.0]], noise_columns: 0 }
    }

    /// Moves one step. In an entry, the state is observed before the jump, as in the benchmark.
    pub fn step(
        &self,
        here: &mut [f64; 2],
        action: [f64; 2],
        random: &mut ChaCha8Rng,
    ) -> Option<(usize, usize)> {
        for axis in 0..2 {
            here[axis] = (here[axis] + STEP * action[axis].clamp(-1.0, 1.0)).clamp(0.0, SIDE);
        }
        self.entries
            .iter()
            .position(|entry| apart(*entry, *here) <= RADIUS)
            .map(|entry| (entry, rng::below(random, self.exits.len())))
    }

    /// Walks from target to target.
    pub fn walk(&self, steps: usize, random: &mut ChaCha8Rng) -> Walk {
        let draw = |random: &mut ChaCha8Rng| [0, 1].map(|_| SIDE * rng::unit_f64(random));
        let is_free = |place: [f64; 2]| self.entries.iter().all(|entry| apart(*entry, place) > RADIUS);
        let mut here = loop {
            let place = draw(random);
            if is_free(place) {
                break place;
            }
        };
        let mut target = draw(random);
        let mut walk = Walk { states: Vec::new(), actions: Vec::new(), jumps: Vec::new() };
        self.observe(here, random, &mut walk.states);
        for _ in 0..steps {
            if apart(here, target) < 2.0 * STEP {
                target = draw(random);
            }
            let length = apart(here, target);
            let action = [0, 1].map(|axis| (target[axis] - here[axis]) / length + 0.3 * rng::normal(random));
            let jump = self.step(&mut here, action, random);
            self.observe(here, random, &mut walk.states);
            walk.actions.extend(action.map(|x| x.clamp(-1.0, 1.0) as f32));
            if let Some((entry, exit)) = jump {
                here = self.exits[exit];
                walk.jumps.push((entry, exit));
            }
        }
        walk
    }

    fn observe(&self, here: [f64; 2], random: &mut ChaCha8Rng, states: &mut Vec<f32>) {
        states.extend(here.map(|x| x as f32));
        states.extend((0..self.noise_columns).map(|_| rng::normal(random) as f32));
    }

    /// Walks of several episodes, and the number of jumps from each entry to each exit that the
    /// data show.
    pub fn data(&self, episodes: u64, steps: usize, seed: u64) -> (Dataset, Vec<Vec<u32>>) {
        let mut counts = vec![vec![0; self.exits.len()]; self.entries.len()];
        let mut walks = Vec::new();
        for episode in 0..episodes {
            let mut walk = self.walk(steps, &mut rng::stream(seed, episode));
            let width = 2 + self.noise_columns;
            // The landing of a jump in the last step is not observed.
            let last: Vec<f64> =
                walk.states[walk.states.len() - width..][..2].iter().map(|x| f64::from(*x)).collect();
            if self.entries.iter().any(|entry| apart(*entry, [last[0], last[1]]) <= RADIUS) {
                walk.jumps.pop();
            }
            walk.jumps.iter().for_each(|&(entry, exit)| counts[entry][exit] += 1);
            walks.push((walk.states, walk.actions));
        }
        (Dataset::from_arrays(2 + self.noise_columns, 2, walks).unwrap(), counts)
    }
}
