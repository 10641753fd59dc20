//! A quasimetric with a steep direction: a metric residual network over smooth random features of
//! positions, of which climbing is cheap and descending is expensive.

use isochrone_core::{Discount, LatentDistance, LatentMetric, ShapeError, TemporalDistance, rng};
use std::sync::Arc;

/// The number of coordinates of a position.
pub const WIDTH: usize = 4;
const COMPONENTS: usize = 4;
/// The number of features of each half of a component.
const HALF: usize = 8;
const LATENT: usize = COMPONENTS * 2 * HALF;
const HIDDEN: usize = 32;
/// The cost of a descent, relative to the random features.
const STEEPNESS: f32 = 1.2;

/// `d(x, y) = mean over components of [ max_k relu(x_k - y_k) + ||x' - y'||_2 ]`.
#[derive(Clone, Copy)]
pub struct Residual;

impl LatentMetric for Residual {
    fn width(&self) -> usize {
        LATENT
    }

    fn nats(&self, from: &[f32], to: &[f32]) -> f32 {
        let parts = from.chunks_exact(2 * HALF).zip(to.chunks_exact(2 * HALF));
        let sum: f32 = parts.map(|(from, to)| component(from, to)).sum();
        sum / COMPONENTS as f32
    }
}

fn component(from: &[f32], to: &[f32]) -> f32 {
    let (mut max, mut squares) = ([0f32; HALF], [0f32; HALF]);
    for lane in 0..HALF {
        let rise = from[lane] - to[lane];
        max[lane] = if rise > 0.0 { rise } else { 0.0 };
        let apart = from[HALF + lane] - to[HALF + lane];
        squares[lane] = apart * apart;
    }
    let largest = max.iter().fold(0f32, |a, &b| if b > a { b } else { a });
    largest + squares.iter().sum::<f32>().sqrt()
}

/// The distance between positions in a cube.
pub struct Slope {
    /// `[HIDDEN, WIDTH + 1]`, the last column is the bias.
    inner: Vec<f32>,
    /// `[LATENT, HIDDEN]`
    outer: Vec<f32>,
}

impl Slope {
    pub fn new(seed: u64) -> Self {
        let mut random = rng::stream(seed, 0);
        let mut draw = |n: usize, scale: f64| -> Vec<f32> {
            (0..n).map(|_| (scale * rng::normal(&mut random)) as f32).collect()
        };
        Self { inner: draw(HIDDEN * (WIDTH + 1), 1.0), outer: draw(LATENT * HIDDEN, 0.2) }
    }

    /// Returns `n` positions in the unit cube, `[n, WIDTH]`.
    pub fn positions(n: usize, seed: u64) -> Vec<f32> {
        let mut random = rng::stream(seed, 1);
        (0..n * WIDTH).map(|_| rng::unit_f64(&mut random) as f32).collect()
    }
}

impl TemporalDistance for Slope {
    fn width(&self) -> usize {
        WIDTH
    }

    fn discount(&self) -> Discount {
        Discount::new(0.99).unwrap()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let (from, to) = (self.embed(from), self.embed(to));
        from.chunks_exact(LATENT).zip(to.chunks_exact(LATENT)).map(|(x, y)| Residual.nats(x, y)).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        Residual.all_pairs_nats(&self.embed(from), &self.embed(to))
    }

    fn as_latent(&self) -> Option<&dyn LatentDistance> {
        Some(self)
    }
}

impl LatentDistance for Slope {
    fn embed(&self, rows: &[f32]) -> Vec<f32> {
        let dot =
            |weights: &[f32], values: &[f32]| weights.iter().zip(values).map(|(w, x)| w * x).sum::<f32>();
        let mut latent = Vec::with_capacity(rows.len() / WIDTH * LATENT);
        for row in rows.chunks_exact(WIDTH) {
            let hidden: Vec<f32> = self
                .inner
                .chunks_exact(WIDTH + 1)
                .map(|w| (dot(&w[..WIDTH], row) + w[WIDTH]).tanh())
                .collect();
            let features = self.outer.chunks_exact(HIDDEN).map(|w| dot(w, &hidden));
            latent.extend(features.enumerate().map(|(feature, value)| {
                let height = if feature % (2 * HALF) < HALF { STEEPNESS * row[0] } else { 0.0 };
                value + height
            }));
        }
        latent
    }

    fn metric(&self) -> Arc<dyn LatentMetric> {
        Arc::new(Residual)
    }
}

/// Returns the asymmetry of a distance over random pairs of rows: the mean of
/// `|d(a, b) - d(b, a)|`, divided by the mean of `max(d(a, b), d(b, a))`.
#[cfg(feature = "nearest")]
pub fn asymmetry(distance: &dyn TemporalDistance, rows: &[f32]) -> f64 {
    let half = rows.len() / distance.width() / 2 * distance.width();
    let (a, b) = (&rows[..half], &rows[half..2 * half]);
    let (there, back) = (distance.paired_nats(a, b), distance.paired_nats(b, a));
    let pairs = || there.iter().zip(&back).map(|(&there, &back)| (f64::from(there), f64::from(back)));
    let gap: f64 = pairs().map(|(there, back)| (there - back).abs()).sum();
    gap / pairs().map(|(there, back)| there.max(back)).sum::<f64>()
}

/// A distance without latent rows.
pub struct Opaque<D>(pub D);

impl<D: TemporalDistance> TemporalDistance for Opaque<D> {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn discount(&self) -> Discount {
        self.0.discount()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.0.paired_nats(from, to)
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.0.all_pairs_nats(from, to)
    }
}
