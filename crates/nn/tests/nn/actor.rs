//! Densities and samples of action distributions.

use crate::numbers::numbers;
use burn::tensor::{Device, Tensor, TensorData};
use isochrone_nn::module::{
    ActionDistribution, ActorConfig, Initializer, Mixture, PolicyDistribution, TrunkConfig,
};

fn column(values: Vec<f32>) -> Tensor<2> {
    let n = values.len();
    Tensor::from_data(TensorData::new(values, [n, 1]), &Device::flex())
}

fn rows(value: f32, n: usize) -> Tensor<2> {
    column(vec![value; n])
}

/// An actor of displacements equals one of goals, with hidden layers and without.
#[test]
fn displacements_are_part_of_the_first_layer() {
    let device = Device::flex();
    let random = |shape: [usize; 2], seed: f32| {
        let values = (0..shape[0] * shape[1]).map(|at| (1.7 * at as f32 + seed).sin()).collect();
        Tensor::<2>::from_data(TensorData::new(values, shape), &device)
    };
    let (states, factor) = (random([7, 5], 0.3), [3.0, 0.5]);
    for (depth, goal) in [(2, 1..3), (0, 0..2), (1, 3..5)] {
        let trunk = TrunkConfig { width: 8, depth, ..TrunkConfig::default() };
        let distribution = PolicyDistribution::FixedStd { std: 1.0 };
        let actor = ActorConfig { inputs: 7, actions: 3, trunk, distribution };
        let actor = actor.init(&mut Initializer::new(1, 0, &device)).unwrap();
        let goals = random([7, 2], 0.9);
        let scale = Tensor::<2>::from_data(TensorData::new(factor.to_vec(), [1, 2]), &device);
        let displacements = (goals.clone() - states.clone().narrow(1, goal.start, 2)) * scale;
        let expected = numbers(actor.forward(states.clone(), displacements).mode());
        let found = numbers(actor.with_displacements(goal, &factor).forward(states.clone(), goals).mode());
        let close = expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(close, "{depth} layers: {expected:?} {found:?}");
    }
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

/// Two components on one dimension: a light one at -0.5 and a heavy one at 0.6.
fn two_modes(n: usize) -> ActionDistribution {
    let outputs = [-0.5f32.atanh(), 0.6f32.atanh(), -1.5, -2.0, 0.0, 1.0];
    let rows = TensorData::new(outputs.repeat(n), [n, outputs.len()]);
    ActionDistribution::Mixture(Mixture::new(Tensor::from_data(rows, &Device::flex()), 2, 1, (-5.0, 2.0)))
}

#[test]
fn the_density_of_a_mixture_integrates_to_one_and_has_two_modes() {
    let n = 10_000;
    let actions: Vec<f32> = (0..n).map(|i| -3.0 + 6.0 * (i as f32 + 0.5) / n as f32).collect();
    let density: Vec<f64> =
        numbers(two_modes(n).log_prob(column(actions.clone()))).iter().map(|l| f64::from(*l).exp()).collect();
    assert!((density.iter().sum::<f64>() * 6.0 / n as f64 - 1.0).abs() < 1e-3);
    let at = |action: f32| density[actions.iter().position(|&known| known >= action).unwrap()];
    assert!(at(-0.5) > 3.0 * at(0.0) && at(0.6) > 3.0 * at(0.0) && at(0.6) > at(-0.5));
    // One Gaussian alone has the density of its formula.
    let weight = 1f64.exp() / (1.0 + 1f64.exp());
    let expected = weight / ((-2f64).exp() * std::f64::consts::TAU.sqrt());
    assert!((at(0.6) / expected - 1.0).abs() < 0.02, "{} {expected}", at(0.6));
}

#[test]
fn a_mixture_acts_by_its_heaviest_component() {
    let policy = two_modes(3);
    assert!(numbers(policy.mode()).iter().all(|action| (action - 0.6).abs() < 1e-6));
    assert_eq!(numbers(policy.sample(rows(0.0, 3))), numbers(policy.mode()));
    assert_eq!(numbers(policy.sample(rows(99.0, 3))), [1.0; 3]);
}
