//! Losses with known values, and their minimizers.

use crate::numbers::{matrix, numbers};
use burn::tensor::{Device, Tensor, TensorData};
use isochrone_nn::{
    loss::*,
    module::{Initializer, PairHeadConfig},
};

fn vector(values: &[f32]) -> Tensor<1> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &Device::flex().autodiff())
        .require_grad()
}

fn diagnostic(loss: &Loss, name: &str) -> f64 {
    loss.diagnostics.read().into_iter().find(|(found, _)| *found == name).unwrap().1
}

#[test]
fn infonce_of_pairs_equals_infonce_of_their_logits() {
    let device = Device::flex().autodiff();
    let heads = [
        PairHeadConfig::Mrn { components: 2 },
        PairHeadConfig::Iqe { group_width: 4 },
        PairHeadConfig::AsymmetricEuclidean,
        PairHeadConfig::InnerProduct,
    ];
    for config in heads {
        let head = config.init(16, &mut Initializer::new(1, 0, &device)).unwrap();
        let (x, y) = (matrix(1, [9, 16], &device), matrix(2, [9, 16], &device));
        let potential = matrix(3, [9, 1], &device).reshape([9]);
        let sign = head.form().logit_sign();
        let logits = head.all_pairs(x.clone(), y.clone()) * (0.5 * sign) + potential.clone().unsqueeze();
        for direction in [Direction::Symmetric, Direction::Forward, Direction::Backward] {
            let options = InfoNce { direction, logsumexp_penalty: 0.01 };
            let scaled = ContrastiveOptions { scale: 0.5, potential: Some(potential.clone()), group: None };
            let pairs = infonce(options, &head, x.clone(), y.clone(), scaled);
            let plain = infonce_of_logits(options, logits.clone());
            assert!((pairs.item() - plain.item()).abs() < 1e-5, "{config:?} {direction:?}");
            assert_eq!(diagnostic(&pairs, "accuracy"), diagnostic(&plain, "accuracy"));
        }
        let scaled = ContrastiveOptions { scale: 0.5, potential: Some(potential), group: None };
        // The mean of softplus(-logit) on the diagonal and softplus(logit) off it.
        let rows: Vec<f64> = numbers(logits).into_iter().map(f64::from).collect();
        let n = rows.len().isqrt();
        let cross_entropy = |pair: usize| {
            let logit = if pair / n == pair % n { -rows[pair] } else { rows[pair] };
            logit.max(0.0) + (-logit.abs()).exp().ln_1p()
        };
        let plain = (0..n * n).map(cross_entropy).sum::<f64>() / (n * n) as f64;
        assert!((binary_nce(&head, x, y, scaled).item() - plain).abs() < 1e-5, "{config:?}");
    }
}

#[test]
fn infonce_of_equal_logits_is_the_logarithm_of_the_batch() {
    let logits = Tensor::<2>::zeros([8, 8], &Device::flex());
    let loss =
        infonce_of_logits(InfoNce { direction: Direction::Forward, logsumexp_penalty: 0.0 }, logits.clone());
    assert!((loss.item() - 8f64.ln()).abs() < 1e-6);
    let penalized =
        infonce_of_logits(InfoNce { direction: Direction::Forward, logsumexp_penalty: 0.5 }, logits.clone());
    assert!((penalized.item() - loss.item() - 0.5 * 8f64.ln().powi(2)).abs() < 1e-5);
    assert!((infonce_of_logits(InfoNce::default(), logits.clone()).item() - 2.0 * 8f64.ln()).abs() < 1e-6);
    assert_eq!(diagnostic(&loss, "accuracy"), 0.0, "ties do not count as correct");
    let others = Tensor::<2, burn::tensor::Bool>::diag_mask([8, 8], 0, &Device::flex());
    let masked = infonce_of_logits(InfoNce::default(), logits.mask_fill(others, f32::NEG_INFINITY));
    assert!(masked.item().abs() < 1e-6, "masked pairs do not count: {}", masked.item());
}

#[test]
fn distillation_raises_all_distances_and_bounds_the_diagonal() {
    let device = Device::flex().autodiff();
    let distances = Tensor::<2>::from_data([[2.0f32, 1.0], [0.0, 3.0]], &device).require_grad();
    let targets = Tensor::<2>::from_data([[1.0f32, 3.0], [0.5, 3.5]], &device);
    let loss = distill(distances.clone(), targets.clone(), 0, 4.0);
    let (raise, violation) = ((4.0 + 0.25 + 0.25) / 4.0, 1.0 / 2.0);
    assert!((diagnostic(&loss, "raise") - raise).abs() < 1e-6);
    assert!((diagnostic(&loss, "violation") - violation).abs() < 1e-6);
    assert!((loss.item() - (raise / 2.0 + violation * 2.0)).abs() < 1e-6);
    let gradient = numbers(distances.grad(&loss.value.backward()).unwrap());
    assert_eq!(gradient, [2.0, -0.5, -0.125, -0.125]);
}

#[test]
fn contrastive_targets_are_differences_of_the_critic() {
    let device = Device::flex();
    let (states, goals, psi) =
        (matrix(1, [4, 6], &device), matrix(2, [4, 6], &device), matrix(3, [4, 6], &device));
    let targets = numbers(contrastive_targets(states.clone(), goals.clone(), psi.clone()));
    let critic = |phi: Tensor<2>| numbers(phi.matmul(psi.clone().transpose()));
    let (from_states, from_goals) = (critic(states), critic(goals));
    for i in 0..4 {
        for j in 0..4 {
            assert!((targets[i * 4 + j] - (from_goals[j * 4 + j] - from_states[i * 4 + j])).abs() < 1e-5);
        }
    }
}

#[test]
fn the_multiplier_rises_while_the_constraint_is_violated_and_falls_to_its_floor() {
    let config = DualConfig { margin: 0.1, learning_rate: 0.5, initial: 1.0, floor: 0.01 };
    let mut dual = Dual::new(config);
    assert!((dual.lambda() - 1.0).abs() < 1e-12);
    dual.update(0.1);
    assert!((dual.lambda() - 1.0).abs() < 1e-12, "unchanged if the constraint is met exactly");
    dual.update(2.0);
    assert!(dual.lambda() > 1.1);
    let before = dual;
    dual.update(f64::NAN);
    assert_eq!(dual, before);
    (0..1000).for_each(|_| dual.update(0.0));
    assert!(dual.lambda() >= 0.01 && dual.lambda() < 0.05, "{}", dual.lambda());
    assert!((Dual::new(DualConfig { initial: 1000.0, ..config }).lambda() - 1000.0).abs() < 1e-9);
}

#[test]
fn the_spread_loss_saturates_and_the_local_constraint_is_one_sided() {
    let far = qrl_spread(vector(&[500.0]), 500.0, 0.01);
    assert!((far.item() - 100.0 * 2f64.ln()).abs() < 1e-3);
    let slope = |d: f32| {
        let d = vector(&[d]);
        numbers(d.grad(&qrl_spread(d.clone(), 500.0, 0.01).value.backward()).unwrap())[0]
    };
    assert!(
        slope(0.0) < -0.99 && slope(500.0) > -0.51 && slope(1500.0) > -0.001,
        "the gradient vanishes for distant pairs"
    );
    assert!((local_constraint(vector(&[0.5, 1.0, 3.0]), 1.0).item() - 4.0 / 3.0).abs() < 1e-6);
}

/// Minimizes a loss of one number by gradient descent.
fn minimize(start: f32, loss: impl Fn(Tensor<1>) -> Loss) -> f32 {
    let mut at = start;
    for step in 0..4000 {
        let point = vector(&[at]);
        let gradient = numbers(point.grad(&loss(point.clone()).value.backward()).unwrap())[0];
        at -= gradient * 0.05 / (1.0 + step as f32 / 200.0);
    }
    at
}

/// The minimizer is the distance whose `e^(-d)` is the mean of the discounted outcomes.
#[test]
fn backups_average_over_random_outcomes() {
    let column = |values: &[f32]| vector(values).reshape([values.len(), 1]);
    let config = BackupConfig { diagonal_weight: 0.0, threshold: 3.0 };
    let (outcomes, log_gamma) = ([0.2f32, 1.7, 0.9], 0.95f32.ln());
    let found = minimize(0.5, |d| {
        let distances = d.reshape([1, 1]).expand([3, 1]).repeat_dim(1, 3);
        let next = column(&outcomes).repeat_dim(1, 3);
        linex_backup(config, distances, next, column(&[log_gamma; 3]), 0)
    });
    let exact = -(outcomes.iter().map(|d| (log_gamma - d).exp()).sum::<f32>() / 3.0).ln();
    assert!((found - exact).abs() < 1e-3, "{found} {exact}");
}

/// Only the diagonal counts with weight 1, and the slope is 1 above the threshold.
#[test]
fn backups_have_the_documented_weights() {
    let device = Device::flex().autodiff();
    let config = BackupConfig { diagonal_weight: 1.0, threshold: 3.0 };
    let distances: Tensor<2> = Tensor::from_data([[0.5f32, 9.0], [9.0, 8.0]], &device).require_grad();
    let zeros = || Tensor::<2>::zeros([2, 2], &device);
    let loss = linex_backup(config, distances.clone(), zeros(), Tensor::zeros([2, 1], &device), 0);
    let linex = |u: f64| u.exp() - u - 1.0;
    assert!((loss.item() - (linex(0.5) + linex(3.0) + 5.0) / 2.0).abs() < 1e-5);
    assert!((diagnostic(&loss, "diagonal") - loss.item()).abs() < 1e-6);
    let slopes = numbers(distances.grad(&loss.value.backward()).unwrap());
    for (slope, expected) in slopes.into_iter().zip([(0.5f32.exp() - 1.0) / 2.0, 0.0, 0.0, 0.5]) {
        assert!((slope - expected).abs() < 1e-6, "{slope} {expected}");
    }
}

#[test]
fn the_continuity_hinge_allows_one_step() {
    let loss = continuity(vector(&[1.0, 1.0, 1.0]), vector(&[1.1, 0.9, 1.5]), 0.1);
    assert!((loss.item() - (0.25 - 0.01) / 3.0).abs() < 1e-6, "{}", loss.item());
}

#[test]
fn expectile_regression_finds_the_expectile() {
    let targets = [0.0f32, 1.0, 2.0, 7.0];
    for tau in [0.5f32, 0.9] {
        let found = minimize(0.0, |prediction| expectile(prediction.repeat_dim(0, 4), vector(&targets), tau));
        let balance: f32 = targets
            .iter()
            .map(|t| if *t > found { tau * (t - found) } else { (1.0 - tau) * (t - found) })
            .sum();
        assert!(balance.abs() < 1e-2, "tau {tau}: {found} leaves {balance}");
    }
}

#[test]
fn policy_losses_have_the_documented_weights() {
    let (log_probs, advantages) = (vector(&[-1.0, -2.0]), vector(&[0.0, 100.0]));
    let loss = awr(log_probs.clone(), advantages, 3.0, 50.0);
    assert!((loss.item() - (1.0 + 100.0) / 2.0).abs() < 1e-3, "weights 1 and 50: {}", loss.item());
    let scaled = ddpg_bc(vector(&[2.0, 4.0]), log_probs, 0.1, None);
    assert!((scaled.item() - 1.15).abs() < 1e-5);
    assert_eq!(diagnostic(&scaled, "distance"), 3.0);
}

#[test]
fn step_regression_has_a_relative_and_an_absolute_huber_term() {
    let loss = |distance: f32, target: f32| {
        let distance = vector(&[distance, target]);
        step_regression(distance.clone(), vector(&[target; 2]), vector(&[1.0, 0.0]))
    };
    assert_eq!(loss(7.0, 7.0).item(), 0.0);
    // 2 instead of 1 step: linear in the relative term, quadratic in the absolute one.
    let expected = (0.5 - 0.1) + 0.02_f64.powi(2) / 0.4;
    assert!((loss(2.0, 1.0).item() - expected).abs() < 1e-6);
    // 1099 instead of 999 steps: quadratic in the relative term, linear in the absolute one.
    let expected = 0.1_f64.powi(2) / 0.4 + (2.0 - 0.1);
    assert!((loss(1099.0, 999.0).item() - expected).abs() < 1e-5);
    assert!((diagnostic(&loss(3.0, 5.0), "absolute_error") - 2.0).abs() < 1e-6);
    let distance = vector(&[2.0]);
    let gradients = step_regression(distance.clone(), vector(&[1.0]), vector(&[1.0])).value.backward();
    // 1/2 from the relative term, and 1/50 * (1/50) / 0.2 from the absolute one.
    let gradient = numbers(distance.grad(&gradients).unwrap())[0];
    assert!((gradient - (0.5 + 0.002)).abs() < 1e-6, "{gradient}");
}
