//! Distillation of the planner of a run into a policy.

use super::progress_bar;
use crate::commands::{
    output::{Field, Report, StyleArgs, named, note},
    planner_args::PlannerArgs,
    query::LoadedRun,
};
use isochrone::{
    learn::{
        ComputeDevice,
        distill::policy::{DistilledPolicy, PolicyDistillConfig, distill_policy},
    },
    plan::PlannedPolicy,
};
use serde_json::json;
use std::{io::Write, path::PathBuf, time::Instant};

/// A policy that was distilled, its file, and the time that it took.
pub struct Distilled {
    policy: DistilledPolicy,
    file: PathBuf,
    updates: u64,
    seconds: f64,
}

/// Distills the planner with the policy of a run below it, and writes the result to the run
/// directory.
pub fn distill(
    loaded: &LoadedRun,
    planner: &PlannerArgs,
    updates: Option<u64>,
    seed: u64,
    device: ComputeDevice,
) -> anyhow::Result<Distilled> {
    let (policy, data) = (loaded.model.policy()?, loaded.data()?);
    let teacher = PlannedPolicy { planner: planner.waypoints(loaded, None)?, policy };
    let default = PolicyDistillConfig::default();
    let updates = updates.unwrap_or(default.updates);
    let config = PolicyDistillConfig { updates, seed, device, ..default };
    let began = Instant::now();
    let (bar, progress) = progress_bar(updates);
    let policy = distill_policy(&teacher, &planner.describe(), data, &config, progress);
    bar.finish_and_clear();
    let policy = policy?;
    let file = loaded.run.folder().join(DistilledPolicy::FILE_NAME);
    policy.save(&file)?;
    note(&format!(
        "{}: the planner ({}), distilled into a policy; evaluate it with isochrone eval --policy distilled",
        file.display(),
        policy.teacher()
    ));
    Ok(Distilled { policy, file, updates, seconds: began.elapsed().as_secs_f64() })
}

/// Prints the result as a table.
pub fn print(distilled: &Distilled, style: &StyleArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let Distilled { policy, file, updates, seconds } = distilled;
    let row = vec![
        Field::Text(policy.teacher().to_owned()),
        Field::Count(*updates as usize),
        Field::Number(*seconds, 1),
        Field::Number(policy.relative_error(), 3),
    ];
    let facts = json!({ "file": file, "data_sha256": policy.data_sha256() });
    let columns = named(["planner", "updates", "seconds", "relative_error"]);
    Ok(write!(out, "{}", Report::new(facts, columns, [row]).print(style))?)
}
