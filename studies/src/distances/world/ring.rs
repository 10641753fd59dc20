//! A one-way ring: one cell behind is 77 cells ahead.

use super::{ExactPairs, PAIRS, WorldData};
use isochrone_core::rng;
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

const CELLS: usize = 78;
const WIDTH: usize = 16;
/// The chance to go on to the next cell at a step: the fastest drive takes a step for each cell.
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
    fn observe(&mut self, cell: usize) -> Vec<f32> {
        let (sin, cos) = (std::f64::consts::TAU * cell as f64 / CELLS as f64).sin_cos();
        let [first, second] = &self.axes;
        let places = first.iter().zip(second).map(|(first, second)| cos * first + sin * second);
        places.map(|place| (place + self.noise * rng::normal(&mut self.random)) as f32).collect()
    }

    fn drives(&mut self, episodes: usize) -> Dataset {
        let episode = |_| {
            let mut cell = rng::below(&mut self.random, CELLS);
            let mut rows = Vec::new();
            let mut pushes = Vec::new();
            for row in 0..ROWS {
                rows.extend(self.observe(cell));
                if row + 1 < ROWS {
                    let moves = rng::unit_f64(&mut self.random) < PACE;
                    pushes.push(f32::from(u8::from(moves)));
                    cell = (cell + usize::from(moves)) % CELLS;
                }
            }
            (rows, pushes)
        };
        let episodes: Vec<_> = (0..episodes).map(episode).collect();
        Dataset::from_arrays(WIDTH, 1, episodes).expect("widths fit")
    }

    /// Fresh observations of cells that are so many ahead.
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

pub fn open(noise: f64) -> WorldData {
    let mut random = rng::stream(SEED, 0);
    let mut axis = || (0..WIDTH).map(|_| rng::normal(&mut random)).collect::<Vec<f64>>();
    let axes = [axis(), axis()];
    let mut ring = Ring { noise, axes, random };
    WorldData {
        data: ring.drives(EPISODES),
        held_out: ring.drives(EPISODES / 10),
        pairs: ring.pairs(PAIRS, |random| rng::below(random, CELLS)),
        ahead: ring.pairs(PAIRS / 10, |_| 1),
        behind: ring.pairs(PAIRS / 10, |_| CELLS - 1),
        goal_radius: None,
    }
}
