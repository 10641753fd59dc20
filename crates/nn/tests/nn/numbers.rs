//! Random test inputs and comparisons.

use burn::tensor::{Device, Tensor, TensorData};
use isochrone_core::rng;

/// Returns uniform numbers in `[-1, 1)` from stream `stream` of seed 5.
pub fn uniform(stream: u64, shape: [usize; 2]) -> Vec<f32> {
    let mut rng = rng::stream(5, stream);
    (0..shape[0] * shape[1]).map(|_| (2.0 * rng::unit_f64(&mut rng) - 1.0) as f32).collect()
}

/// Returns the numbers of [`uniform`] as a matrix.
pub fn matrix(stream: u64, shape: [usize; 2], device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(uniform(stream, shape), shape), device)
}

/// Returns the elements of a tensor.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec::<f32>().unwrap()
}

/// Returns the largest deviation relative to the largest expected number.
pub fn deviation(got: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(got.len(), expected.len());
    assert!(got.iter().chain(expected).all(|v| v.is_finite()), "a value is not finite");
    let scale = expected.iter().fold(1e-3f32, |a, b| a.max(b.abs()));
    got.iter().zip(expected).fold(0.0f32, |a, (g, e)| a.max((g - e).abs())) / scale
}
