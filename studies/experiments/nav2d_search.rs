//! What was tried for every method of the navigation study before its settings were chosen: `just nav2d-search`.
//!
//! Every method gets the same search, one change at a time from settings that are common to all, at half of the study's updates. Recordings, seeds and tasks are others than those of the
//! study.

#[path = "../../crates/learn/experiments/common/mod.rs"]
mod common;

use common::{Job, chosen_algorithms, learner, number, provenance, side_by_side};
use isochrone_core::{Discount, Environment};
use isochrone_envs::nav2d::Nav2d;
use isochrone_eval::rollout::{RolloutConfig, success_rate};
use isochrone_learn::algos::Algorithm;
use std::sync::Arc;

const STEPS: u64 = 4000;
const BATCH: usize = 256;
const ROLLOUTS: u64 = 300;
const GAMMA: f64 = 0.9;
const RECORDINGS: u64 = 2;
const TASKS: u64 = 1000;
const SEED: u64 = 100;

/// For all methods that have them.
const COMMON: &[(&str, &str)] = &[
    ("critic.width", "128"),
    ("critic.latent", "256"),
    ("contrast.width", "128"),
    ("policy.width", "128"),
    ("critic_optimiser.learning_rate", "3e-3"),
    ("critic_optimiser.schedule", "cosine"),
    ("contrast_optimiser.learning_rate", "3e-3"),
    ("contrast_optimiser.schedule", "cosine"),
    ("policy.optimiser.learning_rate", "1e-3"),
    ("policy.optimiser.schedule", "cosine"),
    ("target_rate", "0.02"),
    ("cloning", "0.03"),
    ("extraction", "{kind=\"distance_bc\",cloning=0.03}"),
];

/// Half of the goals that a policy learns come from anywhere; but for cloning, which can only clone what was done.
const FROM_ANYWHERE: &[(&str, &str)] =
    &[("policy.goals.mixture.uniform", "0.5"), ("policy.goals.mixture.random", "0.5")];

/// One change at a time.
const CHANGES: &[&[(&str, &str)]] = &[
    &[],
    &[("extraction", "{kind=\"distance_bc\",cloning=0.003}"), ("cloning", "0.003")],
    &[("extraction", "{kind=\"distance_bc\",cloning=0.3}"), ("cloning", "0.3")],
    &[("extraction", "{kind=\"awr\",alpha=0.3}")],
    &[("extraction", "{kind=\"awr\",alpha=1.0}")],
    &[
        ("critic_optimiser.learning_rate", "1e-3"),
        ("contrast_optimiser.learning_rate", "1e-3"),
        ("policy.optimiser.learning_rate", "3e-4"),
    ],
    &[("policy.optimiser.learning_rate", "3e-3")],
    &[("policy.goals.mixture.uniform", "0.8"), ("policy.goals.mixture.random", "0.2")],
];

fn main() {
    isochrone_nn::memory::keep_freed_memory();
    let (steps, rollouts) = (number("--steps", 20, STEPS), number("--rollouts", 2, ROLLOUTS));
    let discount = Discount::new(GAMMA).expect("a discount");
    let world = Nav2d::standard();
    let data = Arc::new(world.dataset(2000, RECORDINGS));
    let jobs: Vec<(Algorithm, usize)> = chosen_algorithms()
        .into_iter()
        .flat_map(|algorithm| (0..CHANGES.len()).map(move |change| (algorithm, change)))
        .filter(|&(algorithm, change)| changes_something(algorithm, change))
        .collect();
    let rows = side_by_side(&jobs, |&(algorithm, change)| {
        let learner = learner(algorithm, &settings(algorithm, change));
        let (model, seconds) = Job { learner, discount, steps, batch_size: BATCH, seed: SEED }.train(&data);
        let policy = model.policy.as_ref().expect("there are actions");
        let attempts = RolloutConfig { episodes: rollouts, seed: TASKS }
            .run(&|| Box::new(world.environment()) as Box<dyn Environment>, policy);
        let success = success_rate(&attempts);
        eprintln!("{} {:?}: {success:.3}, {seconds:.0} s", algorithm.name(), CHANGES[change]);
        (success, seconds)
    });
    println!("# The search before the navigation study\n");
    println!(
        "One change at a time from common settings, the same changes for every method that has the setting: {steps} updates with batches of {BATCH}, discount {GAMMA}, seed {SEED}, recordings of seed {RECORDINGS}, the share\n\
         of {rollouts} tasks of seed {TASKS} that the policy does. None of these seeds is used in the study. Common settings: {}.\n",
        COMMON.iter().map(|(name, value)| format!("`{name} = {value}`")).collect::<Vec<_>>().join(", ")
    );
    println!("| method | change | success | seconds |\n|---|---|---|---|");
    for ((algorithm, change), (success, seconds)) in jobs.iter().zip(rows) {
        let said: Vec<String> =
            CHANGES[*change].iter().map(|(name, value)| format!("`{name} = {value}`")).collect();
        let said = if said.is_empty() { "none".to_owned() } else { said.join(", ") };
        println!("| {} | {said} | {:.1} % | {seconds:.0} |", algorithm.name(), 100.0 * success);
    }
    println!("\n{}", provenance("just nav2d-search", &data.content_hash()[..16]));
}

fn settings(algorithm: Algorithm, change: usize) -> Vec<(&'static str, &'static str)> {
    let own = match algorithm {
        Algorithm::Gcbc => &[],
        // Intervals cost four times as much with a latent of 256: one update would take as long as those of all other methods together.
        Algorithm::Qrl => &[("critic.latent", "64"), FROM_ANYWHERE[0], FROM_ANYWHERE[1]][..],
        _ => FROM_ANYWHERE,
    };
    COMMON.iter().chain(own).chain(CHANGES[change]).copied().collect()
}

/// Whether the method has what would be changed.
fn changes_something(algorithm: Algorithm, change: usize) -> bool {
    change == 0
        || learner(algorithm, &settings(algorithm, change)) != learner(algorithm, &settings(algorithm, 0))
}
