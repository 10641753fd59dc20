//! Tests of the kernels against their definitions, for every form, instruction set and block size.

use super::{
    reference::{all_pairs, differences, value},
    *,
};
use isochrone_core::rng;
use pulp::Arch;

/// Forms with odd and even widths, one and several components, no L2 part, and single groups.
const FORMS: [PairForm; 12] = [
    PairForm::MaxL2 { components: 3, max_width: 4, l2_width: 4 },
    PairForm::MaxL2 { components: 1, max_width: 8, l2_width: 8 },
    PairForm::MaxL2 { components: 3, max_width: 5, l2_width: 7 },
    PairForm::MaxL2 { components: 8, max_width: 1, l2_width: 1 },
    PairForm::MaxL2 { components: 2, max_width: 40, l2_width: 40 },
    PairForm::MaxL2 { components: 2, max_width: 9, l2_width: 0 },
    PairForm::MaxL2 { components: 1, max_width: 0, l2_width: 5 },
    PairForm::MaxL2 { components: 1, max_width: 0, l2_width: 37 },
    PairForm::Interval { groups: 3, group_width: 8 },
    PairForm::Interval { groups: 1, group_width: 5 },
    PairForm::Interval { groups: 7, group_width: 1 },
    PairForm::InnerProduct { width: 13 },
];

const MIX: f32 = 0.3;

/// Sizes around those of panels and groups, mostly not square.
const SIZES: [(usize, usize); 6] = [(1, 1), (3, 2), (5, 33), (17, 31), (16, 32), (70, 45)];

fn archs() -> Vec<Arch> {
    let mut archs = vec![Arch::Scalar, Arch::new()];
    #[cfg(target_arch = "x86_64")]
    archs.extend(pulp::x86::V3::try_new().map(Arch::V3));
    archs
}

fn uniform(seed: u64, length: usize) -> Vec<f32> {
    let mut rng = rng::stream(seed, 0);
    (0..length).map(|_| (2.0 * rng::unit_f64(&mut rng) - 1.0) as f32).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

/// Returns the largest deviation relative to the largest expected value.
fn deviation(got: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    assert!(got.iter().all(|v| v.is_finite()) && expected.iter().all(|v| v.is_finite()));
    let scale = expected.iter().fold(1e-3f64, |a, b| a.max(b.abs()));
    got.iter().zip(expected).fold(0.0f64, |a, (&g, e)| a.max((f64::from(g) - e).abs())) / scale
}

/// Returns rows of `x`, rows of `y`, and a number for each pair.
fn problem(seed: u64, form: PairForm, n: usize, m: usize) -> [Vec<f32>; 3] {
    [uniform(seed + 1, n * form.width()), uniform(seed + 2, m * form.width()), uniform(seed + 3, n * m)]
}

/// Iterates over seeds, forms, and numbers of rows of `x` and `y`.
fn cases() -> impl Iterator<Item = (u64, PairForm, usize, usize)> {
    let forms = (0..).step_by(10).zip(FORMS);
    forms.flat_map(|(seed, form)| SIZES.into_iter().map(move |(n, m)| (seed, form, n, m)))
}

/// Returns the values and the tape of their forward pass.
fn with_tape(pairs: &Pairs) -> (Vec<f32>, Tape) {
    let mut tape = Tape::default();
    (super::all_pairs(pairs, Some(&mut tape)), tape)
}

#[test]
fn values_match_the_definition() {
    for (seed, form, n, m) in cases() {
        let [x, y, _] = problem(seed, form, n, m);
        let expected = all_pairs(form, &wide(&x), &wide(&y), f64::from(MIX));
        for arch in archs() {
            let pairs = Pairs::with_arch(form, &x, &y, MIX, arch);
            let plain = super::all_pairs(&pairs, None);
            assert!(deviation(&plain, &expected) < 1e-5, "{form:?} {arch:?}");
            assert_eq!(plain, with_tape(&pairs).0, "a tape does not change the values");
        }
        let diagonal: Vec<f64> = (0..n.min(m)).map(|i| expected[i * m + i]).collect();
        let rows = diagonal.len() * form.width();
        let values = rowwise(form, &x[..rows], &y[..rows], MIX);
        assert!(deviation(&values, &diagonal) < 1e-5);
        let width = form.width();
        let pairs = x[..rows].chunks_exact(width).zip(y[..rows].chunks_exact(width));
        assert_eq!(pairs.map(|(x, y)| pair(form, x, y, MIX)).collect::<Vec<_>>(), values);
    }
}

#[test]
fn gradients_match_finite_differences() {
    let small =
        |&(_, form, n, m): &(u64, PairForm, usize, usize)| n * m <= 600 && (n + m) * form.width() < 2000;
    for (seed, form, n, m) in cases().filter(small) {
        let [x, y, gradient] = problem(seed, form, n, m);
        let (wide_x, wide_y, wide_gradient) = (wide(&x), wide(&y), wide(&gradient));
        let total = |x: &[f64], y: &[f64], mix: f64| {
            all_pairs(form, x, y, mix).iter().zip(&wide_gradient).map(|(value, g)| value * g).sum::<f64>()
        };
        let mix = f64::from(MIX);
        let dx = differences(&wide_x, |x| total(x, &wide_y, mix));
        let dy = differences(&wide_y, |y| total(&wide_x, y, mix));
        let dmix = differences(&[mix], |mix| total(&wide_x, &wide_y, mix[0]))[0];
        for arch in archs() {
            let pairs = Pairs::with_arch(form, &x, &y, MIX, arch);
            let (_, tape) = with_tape(&pairs);
            for tape in [Some(&tape), None] {
                let got = all_pairs_backward(&pairs, &gradient, tape);
                let what = format!("{form:?} {arch:?} {n}x{m}");
                assert!(deviation(&got.dx, &dx) < 1e-4, "dx {what}: {}", deviation(&got.dx, &dx));
                assert!(deviation(&got.dy, &dy) < 1e-4, "dy {what}: {}", deviation(&got.dy, &dy));
                let error = (got.dmix - dmix).abs();
                assert!(error < 1e-4 * dmix.abs().max(1.0), "dmix {what}: {} {dmix}", got.dmix);
            }
        }
    }
}

#[test]
fn row_gradients_match_finite_differences() {
    for form in FORMS {
        let n = 5;
        let [x, y, _] = problem(0, form, n, n);
        let g = uniform(3, n);
        let (wide_x, wide_y, wide_g) = (wide(&x), wide(&y), wide(&g));
        let total = |x: &[f64], y: &[f64], mix: f64| -> f64 {
            let rows = x.chunks(form.width()).zip(y.chunks(form.width()));
            rows.zip(&wide_g).map(|((x, y), g)| g * value(form, x, y, mix)).sum()
        };
        let got = rowwise_backward(form, &x, &y, 0.3, &g);
        assert!(deviation(&got.dx, &differences(&wide_x, |x| total(x, &wide_y, 0.3))) < 1e-4, "{form:?}");
        assert!(deviation(&got.dy, &differences(&wide_y, |y| total(&wide_x, y, 0.3))) < 1e-4, "{form:?}");
        let dmix = differences(&[0.3], |mix| total(&wide_x, &wide_y, mix[0]))[0];
        assert!((got.dmix - dmix).abs() < 1e-4, "{form:?}");
    }
}

#[test]
fn recomputing_the_forward_pass_changes_gradients_only_by_rounding() {
    for form in [FORMS[1], FORMS[5], FORMS[8]] {
        let (n, m) = (150, 77);
        let [x, y, g] = problem(0, form, n, m);
        let pairs = Pairs::new(form, &x, &y, 0.6);
        let (_, tape) = with_tape(&pairs);
        let once = all_pairs_backward(&pairs, &g, Some(&tape));
        let recomputed = all_pairs_backward(&pairs, &g, None);
        assert!(deviation(&recomputed.dx, &wide(&once.dx)) < 1e-5);
        assert!(deviation(&recomputed.dy, &wide(&once.dy)) < 1e-5);
    }
}

#[test]
fn equal_rows_are_at_distance_zero_with_a_finite_gradient() {
    for form in FORMS.into_iter().filter(|form| !matches!(form, PairForm::InnerProduct { .. })) {
        let n = 20;
        let x = uniform(4, n * form.width());
        let pairs = Pairs::new(form, &x, &x, 0.5);
        let (d, tape) = with_tape(&pairs);
        assert!((0..n).all(|i| d[i * n + i] == 0.0), "{form:?}");
        assert_eq!(rowwise(form, &x, &x, 0.5), vec![0.0; n]);
        let mut identity = vec![0.0; n * n];
        (0..n).for_each(|i| identity[i * n + i] = 1.0);
        let at_zero = all_pairs_backward(&pairs, &identity, Some(&tape));
        assert!(at_zero.dx.iter().chain(&at_zero.dy).all(|&g| g == 0.0), "{form:?}: the zero subgradient");
        assert!(rowwise_backward(form, &x, &x, 0.5, &vec![1.0; n]).dx.iter().all(|&g| g == 0.0));
    }
}

/// If several features attain the maximum, the gradient goes to the first; its sum over features is
/// unique.
#[test]
fn ties_go_to_the_first_feature() {
    let form = PairForm::MaxL2 { components: 1, max_width: 4, l2_width: 0 };
    let (x, y) = ([1.0, 3.0, 3.0, 2.0], [0.0, 1.0, 1.0, 0.0]);
    let pairs = Pairs::new(form, &x, &y, 0.0);
    let (values, tape) = with_tape(&pairs);
    assert_eq!(values, [2.0]);
    let got = all_pairs_backward(&pairs, &[1.0], Some(&tape));
    assert_eq!(got.dx, [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(got.dy, [0.0, -1.0, 0.0, 0.0]);
    assert_eq!(rowwise_backward(form, &x, &y, 0.0, &[1.0]).dx, got.dx);
}

#[test]
fn unions_of_touching_nested_and_equal_intervals_are_correct() {
    let form = PairForm::Interval { groups: 1, group_width: 4 };
    for (x, y, length) in [
        ([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], 4.0), // touching
        ([0.0, 0.5, 0.0, 5.0], [3.0, 1.0, 3.0, 4.0], 3.0), // nested, equal, empty
        ([-1.0, -1.0, 2.0, 2.5], [0.0, -2.0, 2.25, 3.0], 1.75), // apart
    ] {
        let pairs = Pairs::new(form, &x, &y, 1.0);
        let (values, tape) = with_tape(&pairs);
        assert_eq!(values, [length]);
        assert_eq!(rowwise(form, &x, &y, 1.0), [length]);
        let got = all_pairs_backward(&pairs, &[1.0], Some(&tape));
        // A common shift of both rows does not change the length.
        assert!((got.dx.iter().sum::<f32>() + got.dy.iter().sum::<f32>()).abs() < 1e-6);
    }
}

/// The logits are so large that a plain sum of exponentials would overflow.
#[test]
fn blocks_give_the_same_results_as_the_full_matrix() {
    let n = 600;
    let form = PairForm::MaxL2 { components: 2, max_width: 3, l2_width: 3 };
    let [x, y, _] = problem(0, form, n, n);
    let potential = uniform(3, n);
    let infonce = [(true, true, 0.0), (true, true, 0.1), (true, false, 0.01), (false, true, 0.0)]
        .map(|(forward, backward, penalty)| Objective::InfoNce { forward, backward, penalty });
    for objective in infonce.into_iter().chain([Objective::BinaryNce]) {
        let pairs = Pairs::new(form, &x, &y, 0.0);
        let contrast =
            Contrast { pairs: &pairs, potential: &potential, first_positive: 0, slope: -150.0, objective };
        let mut cache = ForwardCache::default();
        let (full, full_sums) = contrast.forward(Some(&mut cache));
        let (blocks, block_sums) = contrast.forward(None);
        let close = |(a, b): (&f32, f32)| (a - b).abs() <= 1e-5 * a.abs();
        assert!(full.iter().zip(blocks).all(close), "{full:?} {blocks:?}");
        let (full, full_potential) = contrast.backward(&full_sums, Some(&mut cache), 2.0);
        let (blocks, block_potential) = contrast.backward(&block_sums, None, 2.0);
        assert!(deviation(&blocks.dx, &wide(&full.dx)) < 1e-4);
        assert!(deviation(&blocks.dy, &wide(&full.dy)) < 1e-4);
        assert!(deviation(&block_potential, &wide(&full_potential)) < 1e-4);
    }
}

/// Otherwise a diverged network could go unnoticed.
#[test]
fn non_finite_inputs_give_nan() {
    for form in FORMS {
        let n = 20;
        for bad in [f32::NAN, f32::INFINITY] {
            let [mut x, y, _] = problem(0, form, n, n);
            x[3 * form.width()] = bad;
            let values = super::all_pairs(&Pairs::new(form, &x, &y, 0.5), None);
            assert!((0..n * n).all(|at| values[at].is_nan() == (at / n == 3)), "{form:?} {bad}");
            let rows = rowwise(form, &x, &y, 0.5);
            assert!((0..n).all(|row| rows[row].is_nan() == (row == 3)), "{form:?} {bad}");
        }
    }
}

/// Buffers are reused in later steps, with other forms and sizes.
#[test]
fn reused_buffers_do_not_change_results() {
    let objective = Objective::InfoNce { forward: true, backward: true, penalty: 0.0 };
    let mut reused = ForwardCache::default();
    for (form, n) in [(FORMS[3], 40), (FORMS[2], 21), (FORMS[5], 33), (FORMS[7], 5), (FORMS[1], 50)] {
        let [x, y, _] = problem(0, form, n, n);
        let potential = uniform(3, n);
        let pairs = Pairs::new(form, &x, &y, 0.5);
        let contrast =
            Contrast { pairs: &pairs, potential: &potential, first_positive: 0, slope: -1.0, objective };
        let outcome = |cache: &mut ForwardCache| {
            let (statistics, sums) = contrast.forward(Some(cache));
            let (gradients, dpotential) = contrast.backward(&sums, Some(cache), 1.0);
            (statistics, gradients.dx, gradients.dy, dpotential)
        };
        assert_eq!(outcome(&mut reused), outcome(&mut ForwardCache::default()), "{form:?}");
    }
}

#[test]
fn adam_matches_the_published_update() {
    let mut parameter = uniform(1, 20_000);
    let gradient = uniform(2, 20_000);
    let (mut first, mut second) = (vec![0.0; 20_000], vec![0.0; 20_000]);
    let mut expected: Vec<(f64, f64, f64)> = parameter.iter().map(|&p| (f64::from(p), 0.0, 0.0)).collect();
    for time in 1..=3 {
        let step = AdamStep { learning_rate: 0.01, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, time };
        step.apply(&mut parameter, &gradient, &mut first, &mut second);
        for ((p, m, v), &g) in expected.iter_mut().zip(&gradient) {
            let g = f64::from(g);
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            let (m, v) = (*m / (1.0 - 0.9f64.powi(time as i32)), *v / (1.0 - 0.999f64.powi(time as i32)));
            *p -= 0.01 * m / (v.sqrt() + 1e-8);
        }
    }
    assert!(deviation(&parameter, &expected.iter().map(|e| e.0).collect::<Vec<_>>()) < 1e-6);
}
