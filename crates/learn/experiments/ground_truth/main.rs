//! Learned distances compared with exact ones, on ten random gridworlds with one-way doors:
//! `just ground-truth`.
//!
//! A state is the two coordinates of a cell. The behavior policy is the random walk; one in five
//! moves slips sideways. Every method has the same networks, batches and updates. The distances of
//! all pairs of cells are compared with those of the exact solver, for the random walk and for the
//! optimal policy.

#[path = "../common/mod.rs"]
mod common;
mod gridworld;

use common::{chosen_algorithms, number, provenance, run_in_parallel, trained, training};
use gridworld::GridProblem;
use isochrone_core::{Discount, TemporalDistance as _, exact::AllPairs, statistics};
use isochrone_learn::Algorithm;

const GRIDWORLDS: u64 = 10;
const STEPS: u64 = 4000;
const BATCH: usize = 256;
const GAMMA: f64 = 0.95;

/// Settings that differ from the small preset, the same for every method. They were tuned on
/// gridworld number 100, which is not among the ten: learning rates 3e-4, 1e-3 and 3e-3, of which
/// the same one was best for every method, and Polyak rates 0.005, 0.02 and 0.05 for methods with
/// target networks.
const SETTINGS: &[(&str, &str)] = &[
    ("critic_optimizer.learning_rate", "3e-3"),
    ("critic_optimizer.schedule", "cosine"),
    ("contrast_optimizer.learning_rate", "3e-3"),
    ("contrast_optimizer.schedule", "cosine"),
    ("tau", "0.02"),
];

fn main() {
    isochrone_nn::memory::retain_heap();
    let discount = Discount::new(GAMMA).expect("a discount");
    let steps = number("--steps", 20, STEPS);
    let first = number("--first-gridworld", 0, 0);
    let count = number("--gridworlds", 1, GRIDWORLDS);
    let mut algorithms = chosen_algorithms();
    algorithms.retain(|algorithm| *algorithm != Algorithm::Gcbc);

    let problems: Vec<GridProblem> =
        (first..first + count).map(|number| GridProblem::draw(number, discount)).collect();
    let jobs: Vec<(&GridProblem, u64, Algorithm)> = problems
        .iter()
        .zip(first..)
        .flat_map(|(problem, number)| algorithms.iter().map(move |&algorithm| (problem, number, algorithm)))
        .collect();
    let rows = run_in_parallel(&jobs, |&(problem, seed, algorithm)| {
        let training =
            training(algorithm, SETTINGS).discount(GAMMA).steps(steps).batch_size(BATCH).seed(seed);
        let (model, seconds) = trained(training, &problem.data);
        let states = problem.observations();
        let distance = model.distance.expect("all but behavior cloning have one");
        let learned = distance.all_pairs_nats(&states, &states);
        let row = Row {
            algorithm,
            seconds,
            behavior: Fit::of(&learned, &problem.behavior),
            optimal: Fit::of(&learned, &problem.optimal),
        };
        eprintln!("gridworld {seed} {}: {row:?}", algorithm.name());
        row
    });
    let exact_correlations = problems.iter().map(|problem| {
        let n = problem.grid.n_states();
        let behavior: Vec<f32> =
            (0..n * n).map(|pair| problem.behavior.nats(pair / n, pair % n) as f32).collect();
        Fit::of(&behavior, &problem.optimal).spearman
    });
    let exact_correlation = exact_correlations.sum::<f64>() / problems.len() as f64;
    print(&problems, &algorithms, &rows, steps, exact_correlation);
}

/// The agreement of learned with exact distances.
#[derive(Debug, Clone, Copy)]
struct Fit {
    spearman: f64,
    /// The median of |learned - exact| / exact.
    error: f64,
    /// The median of (learned - exact) / exact.
    bias: f64,
}

impl Fit {
    /// Compares distances over all pairs of different cells.
    fn of(learned: &[f32], exact: &AllPairs) -> Self {
        let n = (learned.len() as f64).sqrt() as usize;
        let pairs: Vec<(f64, f64)> = (0..n * n)
            .filter(|pair| pair / n != pair % n)
            .map(|pair| (f64::from(learned[pair]), exact.nats(pair / n, pair % n)))
            .collect();
        let (left, right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let relative = |sign: fn(f64) -> f64| {
            statistics::median(pairs.iter().map(|(learned, exact)| sign((learned - exact) / exact)).collect())
        };
        Self {
            spearman: statistics::spearman(&left, &right),
            error: relative(f64::abs),
            bias: relative(|error| error),
        }
    }
}

/// One method on one gridworld.
#[derive(Debug, Clone, Copy)]
struct Row {
    algorithm: Algorithm,
    seconds: f64,
    behavior: Fit,
    optimal: Fit,
}

fn print(
    problems: &[GridProblem],
    algorithms: &[Algorithm],
    rows: &[Row],
    steps: u64,
    exact_correlation: f64,
) {
    println!("# Learned and exact distances\n");
    println!(
        "{} random 9 x 9 gridworlds with walls, one-way doors and slipping moves ({} to {} cells, each of which is reachable from every other). The dataset of each has {} steps of the random walk; a state is\n\
         the two coordinates of a cell; discount {GAMMA}. Every method: two hidden layers of 64 units, {steps} updates with batch size {BATCH}, learning rate 3e-3 with a cosine schedule.\n",
        problems.len(),
        problems.iter().map(|problem| problem.grid.n_states()).min().unwrap_or(0),
        problems.iter().map(|problem| problem.grid.n_states()).max().unwrap_or(0),
        problems[0].data.n_transitions(),
    );
    println!(
        "Rank correlation (Spearman) and median relative error in steps over all pairs of cells; means over gridworlds, the worst gridworld in brackets. *Random walk*: exact distances of the behavior policy,\n\
         which contrastive methods estimate. *Optimal policy*: exact distances of optimal control, which QRL, GCIQL and DDPG aim at. The rank correlation of the two exact tables is {exact_correlation:.3}.\n"
    );
    println!(
        "| method | random walk: correlation | error | bias | optimal policy: correlation | error | bias | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &algorithm in algorithms {
        let of: Vec<&Row> = rows.iter().filter(|row| row.algorithm == algorithm).collect();
        let mean =
            |value: &dyn Fn(&Row) -> f64| of.iter().map(|row| value(row)).sum::<f64>() / of.len() as f64;
        let min = |value: &dyn Fn(&Row) -> f64| of.iter().map(|row| value(row)).fold(f64::INFINITY, f64::min);
        let max =
            |value: &dyn Fn(&Row) -> f64| of.iter().map(|row| value(row)).fold(f64::NEG_INFINITY, f64::max);
        let fit = |part: fn(&Row) -> Fit| {
            format!(
                "{:.3} ({:.3}) | {:.1} % ({:.1} %) | {:+.1} %",
                mean(&|row| part(row).spearman),
                min(&|row| part(row).spearman),
                100.0 * mean(&|row| part(row).error),
                100.0 * max(&|row| part(row).error),
                100.0 * mean(&|row| part(row).bias),
            )
        };
        println!(
            "| {} | {} | {} | {:.0} |",
            algorithm.name(),
            fit(|row| row.behavior),
            fit(|row| row.optimal),
            mean(&|row| row.seconds)
        );
    }
    println!(
        "\nCMD-1 and the random walk, for each gridworld:\n\n| gridworld | cells | correlation | error |\n|---|---|---|---|"
    );
    let of_cmd1 = rows.iter().filter(|row| row.algorithm == Algorithm::Cmd1);
    for (number, (problem, row)) in problems.iter().zip(of_cmd1).enumerate() {
        println!(
            "| {number} | {} | {:.3} | {:.1} % |",
            problem.grid.n_states(),
            row.behavior.spearman,
            100.0 * row.behavior.error
        );
    }
    println!(
        "\nSeconds are on one core, with as many parallel runs as there are cores. Seeds: the gridworld's number for networks and batches, 20261 for the gridworlds.\n"
    );
    println!("{}", provenance("just ground-truth", &problems[0].data.content_hash()[..16]));
}
