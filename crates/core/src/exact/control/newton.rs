//! Newton steps for slowly converging marches: solves the linear system of the current policy.

use super::{super::lu::DominantLu, policy::PolicySystem, system::System};

/// The maximum number of iterations of the Krylov method, with two matrix-vector products each.
const MAX_ITERATIONS: usize = 300;
/// The Krylov method stops after reducing the residual by this factor.
const RESIDUAL_DROP: f64 = 1e-8;
/// Larger systems are not factored. The Krylov method fails where values propagate slowly, on lines
/// and grids, and there the fill-in is moderate.
const MAX_FACTORED: usize = 300_000;
/// The smallest value that one factorization resolves.
const MIN_SOLUTION: f64 = 1e-200;
/// The maximum number of factorizations of one evaluation; each covers 460 nats.
const MAX_FACTORIZATIONS: usize = 100;

/// Replaces `u` by the values of the current policy. Returns whether that succeeded; if not, the
/// iteration can continue from `u`.
pub(super) fn step(system: &mut System<'_>, target: f64) -> bool {
    correct(system, target) || evaluate_from_above(system)
}

/// Computes the values of the policy to first order in the residual.
///
/// With the values folded into the potential (`u = 1`), the correction `e` solves
/// `(I - W) e = W 1 - 1`: its right-hand side is the *relative* residual and `e` the *relative*
/// error, so a bound on a norm has the same meaning near the goal and far from it. Solved by
/// `BiCGSTAB` (van der Vorst 1992), preconditioned by one Gauss-Seidel sweep.
fn correct(system: &mut System<'_>, target: f64) -> bool {
    system.fold();
    let Some(errors) = relative_errors(&PolicySystem::new(system), RESIDUAL_DROP, 0.1 * target) else {
        return false;
    };
    system.scaled.iter_mut().zip(&errors).for_each(|(u, e)| *u = 1.0 + e);
    true
}

/// Solves for the relative errors of values that were folded into the weights, until the residual
/// has dropped by the factor `drop` or to `tolerance`.
pub(in super::super) fn relative_errors(
    policy: &PolicySystem,
    drop: f64,
    tolerance: f64,
) -> Option<Vec<f64>> {
    let residual: Vec<f64> = std::iter::repeat_n(0.0, policy.n_goals)
        .chain(policy.rows().map(|(_, _, weights)| weights.iter().sum::<f64>() - 1.0))
        .collect();
    let errors = solve(policy, residual, drop, tolerance)?;
    // A valid correction decreases values only slightly, because policies only improve from here.
    errors.iter().all(|&e| e > -0.5 && e < 1e100).then_some(errors)
}

/// Computes the values of the policy by sparse LU, for systems of moderate size.
///
/// Restarts from the potential that is a lower bound of `d`. There the rows of `W` sum to at most
/// one, which makes the factorization accurate for every component ([`DominantLu`]), and the
/// solution `u = W u` is between zero and one. If its range exceeds that of a double, a floor is
/// added to it. This keeps the row sums of the next, rescaled system below one, and that system
/// covers larger distances.
fn evaluate_from_above(system: &mut System<'_>) -> bool {
    let (n, n_goals) = (system.scaled.len(), system.n_goals);
    if n - n_goals > MAX_FACTORED {
        return false;
    }
    system.start_from_above();
    for _ in 0..MAX_FACTORIZATIONS {
        let policy = PolicySystem::new(system);
        let is_goal = |j: u32| (j as usize) < n_goals;
        let to_goals = |columns: &[u32], weights: &[f64]| -> f64 {
            columns.iter().zip(weights).filter(|&(&j, _)| is_goal(j)).map(|(_, w)| w).sum()
        };
        let mut solution: Vec<f64> =
            policy.rows().map(|(_, columns, weights)| to_goals(columns, weights)).collect();
        let entries = policy.rows().flat_map(|(i, columns, weights)| {
            let free = columns.iter().zip(weights).filter(move |&(&j, _)| !is_goal(j));
            free.map(move |(&j, &w)| (i - n_goals, j as usize - n_goals, w))
        });
        let Some(factors) = DominantLu::new(n - n_goals, entries) else { return false };
        factors.solve(&mut solution);
        if !solution.iter().all(|&u| (0.0..2.0).contains(&u)) {
            return false;
        }
        let floor = if solution.iter().all(|&u| u >= MIN_SOLUTION) { 0.0 } else { MIN_SOLUTION };
        system.scaled[n_goals..].iter_mut().zip(&solution).for_each(|(u, x)| *u = x + floor);
        system.fold();
        if floor == 0.0 {
            return true;
        }
    }
    true
}

/// `BiCGSTAB` on `(I - U M) y = b`, `e = M y`, where `M = (I - L)^-1` is a forward Gauss-Seidel
/// sweep and `W = L + U` is split into the entries below and above the diagonal. Returns `e` if the
/// residual became small enough.
fn solve(policy: &PolicySystem, b: Vec<f64>, drop: f64, tolerance: f64) -> Option<Vec<f64>> {
    let n = b.len();
    let goal = (max_abs(&b) * drop).max(tolerance);
    let shadow = b.clone();
    let mut residual = b;
    let (mut solution, mut done) = (vec![0.0; n], vec![0.0; n]);
    let (mut direction, mut image) = (vec![0.0; n], vec![0.0; n]);
    let (mut precond, mut precond_half, mut image_half) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    let start = max_abs(&residual);
    for _ in 0..MAX_ITERATIONS {
        let rho_next = inner(&shadow, &residual);
        let beta = rho_next / rho * (alpha / omega);
        rho = rho_next;
        for ((p, &r), &v) in direction.iter_mut().zip(&residual).zip(&image) {
            *p = r + beta * (*p - omega * v);
        }
        apply(policy, &direction, &mut precond, &mut image, &mut done);
        alpha = rho / inner(&shadow, &image);
        residual.iter_mut().zip(&image).for_each(|(r, &v)| *r -= alpha * v);
        apply(policy, &residual, &mut precond_half, &mut image_half, &mut done);
        omega = inner(&image_half, &residual) / inner(&image_half, &image_half);
        for ((x, &p), &s) in solution.iter_mut().zip(&precond).zip(&precond_half) {
            *x += alpha * p + omega * s;
        }
        residual.iter_mut().zip(&image_half).for_each(|(r, &t)| *r -= omega * t);
        let norm = max_abs(&residual);
        if !norm.is_finite() || omega == 0.0 {
            return None; // breakdown
        }
        if norm <= goal {
            return Some(solution);
        }
    }
    (max_abs(&residual) < 0.01 * start).then_some(solution)
}

/// Computes `precond = M x` and `image = x - U M x`: the lower part cancels, so both cost one pass
/// over the matrix.
///
/// Entries on the other side of the diagonal are not skipped, which would mispredict a branch per
/// entry; they are multiplied by values that are still zero.
fn apply(policy: &PolicySystem, x: &[f64], precond: &mut [f64], image: &mut [f64], done: &mut [f64]) {
    precond.fill(0.0);
    for i in policy.n_goals..x.len() {
        precond[i] = x[i] + policy.product(i, precond);
    }
    done.fill(0.0);
    for i in (policy.n_goals..x.len()).rev() {
        image[i] = x[i] - policy.product(i, done);
        done[i] = precond[i];
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Returns the largest magnitude, or NaN if a value is NaN.
fn max_abs(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| if value.abs() <= largest { largest } else { value.abs() })
}
