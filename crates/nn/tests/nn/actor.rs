//! Densities and samples of action distributions.

use crate::numbers::numbers;
use burn::tensor::{Device, Tensor, TensorData};
use isochrone_nn::module::ActionDistribution;

fn column(values: Vec<f32>) -> Tensor<2> {
    let n = values.len();
    Tensor::from_data(TensorData::new(values, [n, 1]), &Device::flex())
}

fn rows(value: f32, n: usize) -> Tensor<2> {
    column(vec![value; n])
}

#[test]
fn the_density_of_a_tanh_gaussian_integrates_to_one() {
    let n = 20_000;
    let actions: Vec<f32> = (0..n).map(|i| -0.998 + 1.996 * (i as f32 + 0.5) / n as f32).collect();
    let policy = ActionDistribution::TanhGaussian { mean: rows(0.3, n), log_std: rows(-0.7, n) };
    let density: f64 = numbers(policy.log_prob(column(actions))).iter().map(|l| f64::from(*l).exp()).sum();
    let integral = density * 1.996 / n as f64;
    assert!((integral - 1.0).abs() < 2e-3, "{integral}");
}

#[test]
fn the_density_with_a_fixed_std_integrates_to_one() {
    let n = 10_000;
    let actions: Vec<f32> = (0..n).map(|i| -3.0 + 6.0 * (i as f32 + 0.5) / n as f32).collect();
    let policy = ActionDistribution::FixedStd { mean: rows(0.2, n), std: 0.3 };
    let density: f64 = numbers(policy.log_prob(column(actions))).iter().map(|l| f64::from(*l).exp()).sum();
    assert!((density * 6.0 / n as f64 - 1.0).abs() < 1e-3);
}

#[test]
fn samples_without_noise_are_the_mode_and_samples_are_clipped() {
    let policy = ActionDistribution::TanhGaussian { mean: rows(0.9, 3), log_std: rows(0.0, 3) };
    assert_eq!(numbers(policy.sample(rows(0.0, 3))), numbers(policy.mode()));
    assert!((numbers(policy.mode())[0] - 0.9f32.tanh()).abs() < 1e-6);
    let fixed = ActionDistribution::FixedStd { mean: rows(0.9, 3), std: 0.5 };
    assert_eq!(numbers(fixed.sample(rows(4.0, 3))), [1.0; 3]);
    assert!(numbers(policy.log_prob(rows(1.0, 3))).iter().all(|l| l.is_finite()), "actions at the bound");
}
