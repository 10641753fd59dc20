//! Stitching (`just stitching`): the dataset has trajectories from A to B and from B to C, but none
//! from A to C.
//!
//! Every method is evaluated twice. Ranking: over pairs of a point in A's corridor and a point in
//! the other, which no episode connects, does the distance rank them like the shortest path?
//! Success: does the policy reach C, and D, from A?

#[path = "../common/mod.rs"]
mod common;
mod corridors;

use common::{chosen_algorithms, number, provenance, run_in_parallel, trained, training};
use corridors::{Point, euclidean, is_free, shortest_path, step, walks};
use isochrone_core::{GoalPolicy, TemporalDistance as _, rng, statistics};
use isochrone_learn::Algorithm;

const SEEDS: u64 = 3;
const STEPS: u64 = 5_000;
const BATCH: usize = 256;
const GAMMA: f64 = 0.95;
const ROLLOUTS: u64 = 100;
const ROLLOUT_STEPS: usize = 150;
const GOAL_RADIUS: f64 = 1.0;

/// Settings that differ from the small preset, the same for every method. For both methods that
/// were tried (CMD-1 and CRL), advantage-weighted regression was better than minimizing the
/// distance with behavior cloning weights of 0.1, 0.01 and 0.001; discounts of 0.9, 0.95, 0.97 and
/// 0.99 were tried as well. DDPG and behavior cloning have neither choice. Half of the policies'
/// goals are random states, as is typical for stitching.
const SETTINGS: &[(&str, &str)] = &[
    ("critic_optimizer.learning_rate", "1e-3"),
    ("critic_optimizer.schedule", "cosine"),
    ("contrast_optimizer.learning_rate", "1e-3"),
    ("contrast_optimizer.schedule", "cosine"),
    ("policy.optimizer.learning_rate", "1e-3"),
    ("policy.optimizer.schedule", "cosine"),
    ("tau", "0.02"),
    ("extraction.kind", "awr"),
    ("critic.width", "128"),
    ("contrast.width", "128"),
    ("policy.width", "128"),
    ("critic.latent", "256"),
    ("critic.embedding", "256"),
];
const RANDOM_GOALS: &[(&str, &str)] =
    &[("policy.goals.mixture.uniform", "0.5"), ("policy.goals.mixture.random", "0.5")];

fn main() {
    isochrone_nn::memory::retain_heap();
    let steps = number("--steps", 20, STEPS);
    let seeds = number("--seeds", 1, SEEDS);
    let rollouts = number("--rollouts", 2, ROLLOUTS);
    let algorithms = chosen_algorithms();
    let data = walks(1);
    let jobs: Vec<(Algorithm, u64)> =
        algorithms.iter().flat_map(|&algorithm| (0..seeds).map(move |seed| (algorithm, seed))).collect();
    let rows = run_in_parallel(&jobs, |&(algorithm, seed)| {
        let mut settings = SETTINGS.to_vec();
        if algorithm != Algorithm::Gcbc {
            settings.extend(RANDOM_GOALS);
        }
        let training =
            training(algorithm, &settings).discount(GAMMA).steps(steps).batch_size(BATCH).seed(seed);
        let (model, seconds) = trained(training, &data);
        let ranking = model.distance.as_ref().map(ranking);
        let policy = model.policy.as_ref().expect("there are actions");
        let success = [[0.0, 9.0], [0.0, -9.0]].map(|goal| success_rate(policy, goal, seed, rollouts));
        eprintln!("{} seed {seed}: {ranking:?} {success:?} {seconds:.0} s", algorithm.name());
        Row { ranking, success, seconds }
    });
    print(&algorithms, &rows, steps, seeds, rollouts, data.content_hash());
}

struct Row {
    ranking: Option<f64>,
    /// The success rates from A to C, and to D.
    success: [f64; 2],
    seconds: f64,
}

/// Returns the rank correlation of learned distances with shortest paths, over pairs of both
/// corridors outside of the junction.
fn ranking(distance: &isochrone_learn::model::LearnedDistance) -> f64 {
    let mut random = rng::stream(3, 0);
    let mut between = |low: f64, high: f64| low + (high - low) * rng::unit_f64(&mut random);
    let pairs: Vec<(Point, Point)> = (0..2000)
        .map(|_| {
            let side = if between(0.0, 1.0) < 0.5 { 1.0 } else { -1.0 };
            ([between(-12.0, -2.0), between(-0.5, 0.5)], [between(-0.5, 0.5), side * between(2.0, 10.0)])
        })
        .collect();
    let rows = |end: fn(&(Point, Point)) -> Point| {
        pairs.iter().flat_map(|pair| end(pair).map(|x| x as f32)).collect::<Vec<f32>>()
    };
    let nats = distance.paired_nats(&rows(|pair| pair.0), &rows(|pair| pair.1));
    let nats: Vec<f64> = nats.into_iter().map(f64::from).collect();
    let lengths: Vec<f64> = pairs.iter().map(|&(from, to)| shortest_path(from, to)).collect();
    statistics::spearman(&nats, &lengths)
}

/// Returns the fraction of rollouts from A that reach the goal.
fn success_rate(policy: &dyn GoalPolicy, goal: Point, seed: u64, rollouts: u64) -> f64 {
    let successes = (0..rollouts).filter(|&number| {
        let mut random = rng::stream(1000 + seed, number);
        let mut state = [-11.0 + rng::unit_f64(&mut random) - 0.5, rng::unit_f64(&mut random) - 0.5];
        (0..ROLLOUT_STEPS).any(|_| {
            let action = policy.actions(&state.map(|x| x as f32), &goal.map(|x| x as f32));
            state = step(state, [f64::from(action[0]), f64::from(action[1])], &mut random, is_free);
            euclidean(state, goal) < GOAL_RADIUS
        })
    });
    successes.count() as f64 / rollouts as f64
}

fn print(algorithms: &[Algorithm], rows: &[Row], steps: u64, seeds: u64, rollouts: u64, data_hash: &str) {
    println!("# Stitching\n");
    println!(
        "Two corridors that meet in a T, from A to B and from C through B to D; each of 2000 episodes stays in one corridor, so that none leads from A to C or D. {steps} updates with batch size {BATCH}, two hidden layers\n\
         of 128 units, discount {GAMMA}; means over {seeds} seeds, the worst in brackets.\n"
    );
    println!(
        "*Ranking*: rank correlation of the learned distance with the shortest path, over pairs of points that no episode connects. *A to C*, *A to D*: success rate of {rollouts} rollouts of the policy from A, which succeed within {GOAL_RADIUS}\n\
         of the goal in {ROLLOUT_STEPS} steps (the shortest path takes about 50). Half of the policy goals are random states, except for behavior cloning; policies are extracted by advantage-weighted regression (alpha 3), except for DDPG and behavior cloning.\n"
    );
    println!("| method | ranking | A to C | A to D | seconds |\n|---|---|---|---|---|");
    for (algorithm, rows) in algorithms.iter().zip(rows.chunks(seeds as usize)) {
        let summary = |values: Vec<f64>, as_percent: bool| {
            let (mean, worst) = (
                values.iter().sum::<f64>() / values.len() as f64,
                values.iter().copied().fold(f64::INFINITY, f64::min),
            );
            if as_percent {
                format!("{:.0} % ({:.0} %)", 100.0 * mean, 100.0 * worst)
            } else {
                format!("{mean:.3} ({worst:.3})")
            }
        };
        let rankings: Option<Vec<f64>> = rows.iter().map(|row| row.ranking).collect();
        println!(
            "| {} | {} | {} | {} | {:.0} |",
            algorithm.name(),
            rankings.map_or("-".into(), |rankings| summary(rankings, false)),
            summary(rows.iter().map(|row| row.success[0]).collect(), true),
            summary(rows.iter().map(|row| row.success[1]).collect(), true),
            rows.iter().map(|row| row.seconds).sum::<f64>() / rows.len() as f64,
        );
    }
    println!("\n{}", provenance("just stitching", &data_hash[..16]));
}
