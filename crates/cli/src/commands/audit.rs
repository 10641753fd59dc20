//! `isochrone audit`: how far the distances of a run can be trusted.

use crate::commands::{
    output::{Field, Report, StyleArgs, named, number},
    query::{Asker, DistanceArg, RunArgs, parse_which},
};
use clap::ValueEnum as _;
use isochrone::{
    audit::{Consistency, across_episodes},
    learn::model::CheckpointSelector,
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Says how far the distances of a run can be trusted
///
/// Every distance is held against the record: what one recorded step reads, forward and back; how many recorded pairs read longer than they took, how many random pairs read shorter than
/// anybody ever was; how often the triangle inequality breaks; and how its order of random pairs agrees with recorded time between them.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Logs to hold distances against, best of other episodes [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,

    /// Random seed for sampling pairs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone audit runs/maze
  isochrone audit runs/robot --data held-out.npz --json";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let asker = Asker::open(&args.run, args.checkpoint, args.data.as_deref())?;
    let data = asker.data()?;
    let learns = asker.model.distance.is_some();
    let mut rows = Vec::new();
    let mut unreliable = Vec::new();
    for &which in DistanceArg::value_variants() {
        if !learns && matches!(which, DistanceArg::Learned | DistanceArg::Calibrated) {
            continue;
        }
        if which == DistanceArg::Distilled && !asker.has_distilled() {
            continue;
        }
        let name = which.to_possible_value().expect("all are shown").get_name().to_owned();
        let distance = asker.distance_of(which)?;
        let found = Consistency::of(&*distance, data, args.seed);
        let agreement = across_episodes(&*distance, asker.refined()?, data, args.seed);
        let problems = found.problems(agreement);
        if !problems.is_empty() {
            unreliable.push(format!("{name}: {}", problems.join("; ")));
        }
        rows.push(vec![
            Field::Text(name),
            Field::Number(found.one_step, 2),
            number(found.one_step_back.is_finite().then_some(found.one_step_back), 2),
            Field::Number(found.above_recorded_lag, 3),
            Field::Number(found.below_speed_limit, 3),
            Field::Number(found.triangle_violations, 3),
            Field::Number(found.largest_self_distance, 2),
            number(agreement.is_finite().then_some(agreement), 3),
        ]);
    }
    let columns = [
        "distance",
        "one_step",
        "one_step_back",
        "above_recorded_lag",
        "below_speed_limit",
        "triangle_violations",
        "largest_self_distance",
        "rank_across_episodes",
    ];
    let facts = json!({ "run": args.run.run, "checkpoint_step": asker.model.step, "data_sha256": data.content_hash(), "seed": args.seed, "not_to_be_trusted": unreliable });
    write!(out, "{}", Report::new(facts, named(columns), rows.into_iter()).print(&args.style))?;
    if args.style.is_text() {
        unreliable.iter().try_for_each(|line| writeln!(out, "do not trust {line}"))?;
    }
    Ok(())
}
