//! A one-way ring of 78 cells, observed in 16 noisy dimensions. One cell behind is 77 cells ahead.

use isochrone_core::{TemporalDistance, rng, statistics};
use isochrone_data::Dataset;
use isochrone_eval::refined::{RefinedConfig, RefinedDistance};

const CELLS: usize = 78;
const WIDTH: usize = 16;
/// The probability of moving to the next cell in one step.
const PACE: f64 = 0.77;

struct Ring {
    noise: f64,
    axes: [Vec<f64>; 2],
    random: rand_chacha::ChaCha8Rng,
}

impl Ring {
    fn new(noise: f64, seed: u64) -> Self {
        let mut random = rng::stream(seed, 0);
        let mut axis = || (0..WIDTH).map(|_| rng::normal(&mut random)).collect::<Vec<f64>>();
        let axes = [axis(), axis()];
        Self { noise, axes, random }
    }

    fn observe(&mut self, cell: usize) -> Vec<f32> {
        let (sin, cos) = (std::f64::consts::TAU * cell as f64 / CELLS as f64).sin_cos();
        let place = |column: usize| cos * self.axes[0][column] + sin * self.axes[1][column];
        let places: Vec<f64> = (0..WIDTH).map(place).collect();
        places.into_iter().map(|x| (x + self.noise * rng::normal(&mut self.random)) as f32).collect()
    }

    /// Collects 400 episodes of 60 rows.
    fn data(&mut self) -> Dataset {
        let episodes: Vec<(Vec<f32>, Vec<f32>)> = (0..400)
            .map(|_| {
                let mut cell = rng::below(&mut self.random, CELLS);
                let mut rows = Vec::new();
                for _ in 0..60 {
                    rows.extend(self.observe(cell));
                    cell = (cell + usize::from(rng::unit_f64(&mut self.random) < PACE)) % CELLS;
                }
                (rows, Vec::new())
            })
            .collect();
        Dataset::from_arrays(WIDTH, 0, episodes).unwrap()
    }

    /// Returns readings between new observations of pairs of cells, the second `ahead` of the
    /// first.
    fn readings(&mut self, distance: &RefinedDistance, ahead: usize) -> Vec<f64> {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            let cell = rng::below(&mut self.random, CELLS);
            from.extend(self.observe(cell));
            to.extend(self.observe(cell + ahead));
        }
        distance.paired_steps(&from, &to).unwrap()
    }
}

#[test]
fn one_behind_is_far_and_one_ahead_is_near() {
    let mut ring = Ring::new(0.02, 1);
    let distance = RefinedDistance::fit(&ring.data(), &RefinedConfig::default()).unwrap();
    let mut median = |ahead: usize| statistics::median(ring.readings(&distance, ahead));
    let readings: Vec<f64> = [0, 1, 10, 30, CELLS - 5, CELLS - 1].map(&mut median).to_vec();
    assert!(readings[0] < 1.0 && readings[1] <= 2.0, "{readings:?}");
    for (reading, truth) in readings[2..].iter().zip([10.0, 30.0, 73.0, 77.0]) {
        // The hop at each end adds to the reading; here it is observation noise.
        assert!((reading - truth).abs() < 0.15 * truth + 0.5, "{readings:?}");
    }
    let state = ring.observe(3);
    assert_eq!(distance.steps(&state, &state).unwrap(), 0.0);
    let (mut read, mut truth) = (Vec::new(), Vec::new());
    for ahead in 1..CELLS {
        read.extend(ring.readings(&distance, ahead));
        truth.resize(read.len(), ahead as f64);
    }
    let correlation = statistics::spearman(&read, &truth);
    assert!(correlation >= 0.99, "{correlation}");
}

/// The path to the cell behind leads around the ring, in its direction.
#[test]
fn no_path_goes_against_the_ring() {
    let mut ring = Ring::new(0.02, 1);
    let data = ring.data();
    let distance = RefinedDistance::fit(&data, &RefinedConfig::default()).unwrap();
    for number in 0..1000 {
        let cell = number % CELLS;
        let (from, to) = (ring.observe(cell), ring.observe(cell + CELLS - 1));
        let path = distance.path(&from, &to).unwrap().expect("a path around the ring exists");
        let recorded: u32 = path.segments.iter().map(|segment| segment.steps).sum();
        assert!(recorded >= CELLS as u32 - 5, "{path:?}");
    }
}
