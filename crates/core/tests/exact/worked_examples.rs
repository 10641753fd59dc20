//! The two worked examples of the paper's appendix, for every method that applies.

use crate::support::{assert_close, discount};
use isochrone_core::exact::{ExactSolver, Method, TabularMdp};

const GAMMA: f64 = 0.9;

fn solvers(mdp: &TabularMdp) -> Vec<ExactSolver<'_>> {
    [Method::BreadthFirst, Method::SparseLu, Method::PolicyIteration]
        .into_iter()
        .filter_map(|method| ExactSolver::new(mdp, discount(GAMMA)).with_method(method).ok())
        .map(|solver| solver.with_tolerance(1e-14))
        .chain([ExactSolver::new(mdp, discount(GAMMA))])
        .collect()
}

#[test]
fn the_triangle_inequality_is_tight_on_a_line() {
    let chain = TabularMdp::chain_from_edges(3, [(0, 1, 1.0), (1, 2, 1.0), (2, 2, 1.0)]).unwrap();
    let step = (1.0 / GAMMA).ln();
    let solvers = solvers(&chain);
    assert_eq!(solvers.len(), 4, "all methods apply to a deterministic chain");
    for solver in solvers {
        let d = |from: usize, to: usize| solver.to_goal(to).unwrap().nats(from);
        assert_close(d(0, 1), step, 1e-12);
        assert_close(d(1, 2), step, 1e-12);
        assert_close(d(0, 2), 2.0 * step, 1e-12);
        assert_close(d(0, 1) + d(1, 2), d(0, 2), 1e-12);
        assert_eq!(d(1, 0), f64::INFINITY);
    }
}

#[test]
fn the_triangle_inequality_is_strict_on_a_fork() {
    let edges = [(0, 1, 0.5), (0, 2, 0.5), (1, 3, 1.0), (2, 3, 1.0), (3, 3, 1.0)];
    let chain = TabularMdp::chain_from_edges(4, edges).unwrap();
    let step = (1.0 / GAMMA).ln();
    let solvers = solvers(&chain);
    assert_eq!(solvers.len(), 3, "breadth-first search does not apply");
    for solver in solvers {
        let d = |from: usize, to: usize| solver.to_goal(to).unwrap().nats(from);
        assert_close(d(0, 1), step + 2f64.ln(), 1e-12);
        assert_close(d(1, 3), step, 1e-12);
        assert_close(d(0, 3), 2.0 * step, 1e-12);
        assert_close(d(0, 1) + d(1, 3) - d(0, 3), 2f64.ln(), 1e-12);
    }
}
