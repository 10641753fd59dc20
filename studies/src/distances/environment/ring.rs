//! A one-way ring: one cell behind is 77 cells ahead.

use super::{EnvironmentData, ExactPairs, PAIRS};
use isochrone_core::rng;
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

const CELLS: usize = 78;
const WIDTH: usize = 16;
/// The probability of moving to the next cell at a step; the fastest trajectory takes one step per
/// cell.
const PACE: f64 = 0.77;
const EPISODES: usize = 400;
const ROWS: usize = 60;
const SEED: u64 = 1;

struct Ring {
    noise: f64,
    /// Cells lie on a circle in a random plane.
    axes: [Vec<f64>; 2],
    random: ChaCha8Rng,
}

impl Ring {
    /// The position of a cell.
    fn place(&self, cell: usize) -> Vec<f64> {
        let (sin, cos) = (std::f64::consts::TAU * cell as f64 / CELLS as f64).sin_cos();
        let [first, second] = &self.axes;
        first.iter().zip(second).map(|(first, second)| cos * first + sin * second).collect()
    }

    fn observe(&mut self, cell: usize) -> Vec<f32> {
        let place = self.place(cell).into_iter();
        place.map(|place| (place + self.noise * rng::normal(&mut self.random)) as f32).collect()
    }

    fn collect(&mut self, episodes: usize) -> Dataset {
        let episode = |_| {
            let mut cell = rng::below(&mut self.random, CELLS);
            let mut rows = Vec::new();
            let mut actions = Vec::new();
            for row in 0..ROWS {
                rows.extend(self.observe(cell));
                if row + 1 < ROWS {
                    let moves = rng::unit_f64(&mut self.random) < PACE;
                    actions.push(f32::from(u8::from(moves)));
                    cell = (cell + usize::from(moves)) % CELLS;
                }
            }
            (rows, actions)
        };
        let episodes: Vec<_> = (0..episodes).map(episode).collect();
        Dataset::from_arrays(WIDTH, 1, episodes).expect("widths fit")
    }

    /// Samples observations of pairs of cells, the second `ahead` cells after the first.
    fn pairs(&mut self, n: usize, ahead: impl Fn(&mut ChaCha8Rng) -> usize) -> ExactPairs {
        let mut pairs = ExactPairs::default();
        for _ in 0..n {
            let (cell, ahead) = (rng::below(&mut self.random, CELLS), ahead(&mut self.random));
            let (from, to) = (self.observe(cell), self.observe(cell + ahead));
            pairs.push(&from, &to, ahead as f64);
        }
        pairs
    }
}

pub fn open(noise: f64) -> EnvironmentData {
    let mut random = rng::stream(SEED, 0);
    let mut axis = || (0..WIDTH).map(|_| rng::normal(&mut random)).collect::<Vec<f64>>();
    let axes = [axis(), axis()];
    let mut ring = Ring { noise, axes, random };
    let in_f32 = |place: Vec<f64>| place.into_iter().map(|place| place as f32).collect();
    let places: Vec<Vec<f32>> = (0..CELLS).map(|cell| in_f32(ring.place(cell))).collect();
    EnvironmentData {
        data: ring.collect(EPISODES),
        held_out: ring.collect(EPISODES / 10),
        pairs: ring.pairs(PAIRS, |random| rng::below(random, CELLS)),
        ahead: ring.pairs(PAIRS / 10, |_| 1),
        behind: ring.pairs(PAIRS / 10, |_| CELLS - 1),
        goal_radius: None,
        is_connected: Box::new(move |from, to| cells_ahead(&places, from, to) < CELLS / 2),
    }
}

/// The number of cells from the first of two observations to the second.
fn cells_ahead(places: &[Vec<f32>], from: &[f32], to: &[f32]) -> usize {
    let apart = |place: &[f32], observation: &[f32]| -> f32 {
        place.iter().zip(observation).map(|(a, b)| (a - b).powi(2)).sum()
    };
    let cell = |observation: &[f32]| {
        let of = |a: &usize, b: &usize| {
            apart(&places[*a], observation).total_cmp(&apart(&places[*b], observation))
        };
        (0..CELLS).min_by(of).expect("the ring has cells")
    };
    (cell(to) + CELLS - cell(from)) % CELLS
}
