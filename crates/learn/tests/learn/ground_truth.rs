//! Learned distances compared with the exact solver.

use isochrone_core::{Discount, TemporalDistance as _, statistics};
use isochrone_learn::{Algorithm, Preset, Training};

#[path = "../../experiments/ground_truth/gridworld.rs"]
mod gridworld;

/// CMD-1 learns the distance of the behavior policy in steps, with an eighth of the updates of
/// `just ground-truth`, on another gridworld.
#[test]
fn cmd1_agrees_with_the_exact_solver() {
    let discount = Discount::new(0.95).unwrap();
    let problem = gridworld::GridProblem::draw(1000, discount);
    let training = Training::new(Algorithm::Cmd1)
        .preset(Preset::Small)
        .discount(0.95)
        .steps(500)
        .batch_size(256)
        .seed(7)
        .set("critic_optimizer.learning_rate", 3e-3)
        .set("critic_optimizer.schedule", "cosine");
    let model = training.fit(&problem.data).unwrap();

    let (states, n) = (problem.observations(), problem.grid.n_states());
    let nats = model.distance().unwrap().all_pairs_nats(&states, &states);
    assert!((0..n).all(|cell| nats[cell * n + cell] == 0.0), "from a state to itself");
    let pairs = (0..n * n).filter(|pair| pair / n != pair % n);
    let (learned, exact): (Vec<f64>, Vec<f64>) =
        pairs.map(|pair| (f64::from(nats[pair]), problem.behavior.nats(pair / n, pair % n))).unzip();
    let errors = learned.iter().zip(&exact).map(|(learned, exact)| (learned - exact).abs() / exact).collect();
    let (correlation, error) = (statistics::spearman(&learned, &exact), statistics::median(errors));
    println!("correlation {correlation:.3}, median relative error {error:.3}");
    assert!(correlation >= 0.93 && error <= 0.15, "{correlation} {error}");
    // The random walk is suboptimal: the optimal distances are smaller.
    let optimal: Vec<f64> = (0..n * n)
        .filter(|pair| pair / n != pair % n)
        .map(|pair| problem.optimal.nats(pair / n, pair % n))
        .collect();
    assert!(optimal.iter().zip(&exact).all(|(optimal, walk)| optimal <= walk));
}
