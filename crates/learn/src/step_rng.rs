//! Random numbers of a training step: pure functions of (seed, purpose, step).

use burn::tensor::{Device, Tensor, TensorData};
use isochrone_core::rng;

/// Streams with this bit belong to updates; sampling and parameters have others.
const UPDATES: u64 = 1 << 62;

/// `[rows, 1]`: 1 with this probability, otherwise 0, for step `step` of a run.
pub fn bernoulli_mask(seed: u64, step: u64, rows: usize, probability: f64, device: &Device) -> Tensor<2> {
    let mut random = rng::stream(seed, UPDATES | step);
    let mask = (0..rows).map(|_| f32::from(u8::from(rng::unit_f64(&mut random) < probability))).collect();
    Tensor::from_data(TensorData::new(mask, [rows, 1]), device)
}
