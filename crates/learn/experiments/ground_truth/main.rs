//! Learned distances beside exact ones, on ten random grid worlds with one-way doors: `just ground-truth`.
//!
//! States are the coordinates of a cell, two numbers; behaviour is the random walk; a move slips sideways once in five. Every method has
//! the same networks, batches and updates. What is compared: the distances of all pairs of cells with those of the exact solver, once for the random walk and
//! once for the best policy.

#[path = "../common/mod.rs"]
mod common;
mod world;

use common::{chosen_algorithms, number, provenance, run_in_parallel, trained, training};
use isochrone_core::{Discount, TemporalDistance as _, exact::AllPairs, statistics};
use isochrone_learn::Algorithm;
use world::World;

const WORLDS: u64 = 10;
const STEPS: u64 = 4000;
const BATCH: usize = 256;
const GAMMA: f64 = 0.95;

/// Settings that differ from the small preset, for every method alike: the best of learning rates 3e-4, 1e-3 and 3e-3 for each of them on a world that is not among the ten (number 100), which was
/// the same for all; and target rates of 0.005, 0.02 and 0.05 where there are targets.
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
    let first = number("--first-world", 0, 0);
    let worlds = number("--worlds", 1, WORLDS);
    let mut algorithms = chosen_algorithms();
    algorithms.retain(|algorithm| *algorithm != Algorithm::Gcbc);

    let worlds: Vec<World> = (first..first + worlds).map(|number| World::draw(number, discount)).collect();
    let jobs: Vec<(&World, u64, Algorithm)> = worlds
        .iter()
        .zip(first..)
        .flat_map(|(world, number)| algorithms.iter().map(move |&algorithm| (world, number, algorithm)))
        .collect();
    let rows = run_in_parallel(&jobs, |&(world, seed, algorithm)| {
        let training =
            training(algorithm, SETTINGS).discount(GAMMA).steps(steps).batch_size(BATCH).seed(seed);
        let (model, seconds) = trained(training, &world.walks);
        let places = world.places();
        let learned = model.distance.expect("all but cloning have one").all_pairs_nats(&places, &places);
        let row = Row {
            algorithm,
            seconds,
            behaviour: Fit::of(&learned, &world.behaviour),
            best: Fit::of(&learned, &world.best),
        };
        eprintln!("world {seed} {}: {row:?}", algorithm.name());
        row
    });
    let ceiling = worlds.iter().map(|world| {
        let n = world.grid.n_states();
        let behaviour: Vec<f32> =
            (0..n * n).map(|pair| world.behaviour.nats(pair / n, pair % n) as f32).collect();
        Fit::of(&behaviour, &world.best).spearman
    });
    let ceiling = ceiling.sum::<f64>() / worlds.len() as f64;
    print(&worlds, &algorithms, &rows, steps, ceiling);
}

/// How well distances agree with exact ones.
#[derive(Debug, Clone, Copy)]
struct Fit {
    spearman: f64,
    /// Median of |learned - exact| / exact.
    error: f64,
    /// Median of (learned - exact) / exact.
    bias: f64,
}

impl Fit {
    /// Over all pairs of different cells.
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

/// One method on one world.
#[derive(Debug, Clone, Copy)]
struct Row {
    algorithm: Algorithm,
    seconds: f64,
    behaviour: Fit,
    best: Fit,
}

fn print(worlds: &[World], algorithms: &[Algorithm], rows: &[Row], steps: u64, ceiling: f64) {
    println!("# Learned distances beside exact ones\n");
    println!(
        "{} random 9 x 9 grid worlds with walls, one-way doors and slipping moves ({} to {} cells, all of which can be reached from all). Learned from {} steps of the random walk in each; a state is\n\
         its two coordinates; discount {GAMMA}. Every method: networks of two hidden layers of 64, {steps} updates with batches of {BATCH}, learning rate 3e-3 falling to zero.\n",
        worlds.len(),
        worlds.iter().map(|world| world.grid.n_states()).min().unwrap_or(0),
        worlds.iter().map(|world| world.grid.n_states()).max().unwrap_or(0),
        worlds[0].walks.n_transitions(),
    );
    println!(
        "Rank correlation (Spearman) and median relative error in steps over all pairs of cells; means over worlds, the worst world in brackets. *Random walk*: exact distances of the behaviour,\n\
         what contrastive methods estimate. *Best policy*: exact distances of optimal control, what QRL, GCIQL and DDPG aim at. The two exact tables have a rank correlation of {ceiling:.3} with each other.\n"
    );
    println!(
        "| method | random walk: correlation | error | bias | best policy: correlation | error | bias | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &algorithm in algorithms {
        let of: Vec<&Row> = rows.iter().filter(|row| row.algorithm == algorithm).collect();
        let mean =
            |value: &dyn Fn(&Row) -> f64| of.iter().map(|row| value(row)).sum::<f64>() / of.len() as f64;
        let least =
            |value: &dyn Fn(&Row) -> f64| of.iter().map(|row| value(row)).fold(f64::INFINITY, f64::min);
        let most =
            |value: &dyn Fn(&Row) -> f64| of.iter().map(|row| value(row)).fold(f64::NEG_INFINITY, f64::max);
        let fit = |part: fn(&Row) -> Fit| {
            format!(
                "{:.3} ({:.3}) | {:.1} % ({:.1} %) | {:+.1} %",
                mean(&|row| part(row).spearman),
                least(&|row| part(row).spearman),
                100.0 * mean(&|row| part(row).error),
                100.0 * most(&|row| part(row).error),
                100.0 * mean(&|row| part(row).bias),
            )
        };
        println!(
            "| {} | {} | {} | {:.0} |",
            algorithm.name(),
            fit(|row| row.behaviour),
            fit(|row| row.best),
            mean(&|row| row.seconds)
        );
    }
    println!(
        "\nEvery world, CMD-1 against the random walk:\n\n| world | cells | correlation | error |\n|---|---|---|---|"
    );
    let of_cmd1 = rows.iter().filter(|row| row.algorithm == Algorithm::Cmd1);
    for (number, (world, row)) in worlds.iter().zip(of_cmd1).enumerate() {
        println!(
            "| {number} | {} | {:.3} | {:.1} % |",
            world.grid.n_states(),
            row.behaviour.spearman,
            100.0 * row.behaviour.error
        );
    }
    println!(
        "\nSeconds are of one core, with as many runs side by side as there are cores. Seeds: the world's number for networks and batches, 20261 for the worlds.\n"
    );
    println!("{}", provenance("just ground-truth", &worlds[0].walks.content_hash()[..16]));
}
