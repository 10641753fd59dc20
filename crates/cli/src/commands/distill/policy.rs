//! Distillation of the planner of a run into a policy.

use super::progress::progress_bar;
use crate::commands::{
    output::{Field, Report, StyleArgs, named, note},
    planner_args::PlannerArgs,
    query::LoadedRun,
};
use isochrone::{
    learn::distill::policy::{
        Advantages, DistilledPolicy, PolicyDistillConfig, WaypointPolicy, distill_policy, distill_waypoints,
        extract_waypoints,
    },
    plan::{PlannedPolicy, WaypointDisplacements},
};
use serde_json::json;
use std::{io::Write, path::PathBuf, time::Instant};

/// What the planner is distilled into.
#[derive(Debug, Clone, Copy)]
pub enum Student {
    /// A policy, which replaces the planner and the policy below it.
    Policy,
    /// A network of waypoints, which replaces the planner.
    Waypoints,
}

impl Student {
    /// Returns the default settings.
    pub fn config(self) -> PolicyDistillConfig {
        match self {
            Self::Policy => PolicyDistillConfig::default(),
            Self::Waypoints => PolicyDistillConfig::waypoints(),
        }
    }
}

/// A policy that was distilled, its file, and the time that it took.
pub struct Distilled {
    policy: DistilledPolicy,
    file: PathBuf,
    updates: u64,
    seconds: f64,
}

impl Distilled {
    /// Writes a policy to the run directory.
    fn save(
        policy: DistilledPolicy,
        loaded: &LoadedRun,
        file: &str,
        (updates, seconds): (u64, f64),
    ) -> anyhow::Result<Self> {
        let file = loaded.run.folder().join(file);
        policy.save(&file)?;
        Ok(Self { policy, file, updates, seconds })
    }
}

/// Distills the planner with the policy of a run below it, and writes the result to the run
/// directory. Goals are states of the data, also if the policy sees only a slice of them.
pub fn distill(
    loaded: &LoadedRun,
    planner: &PlannerArgs,
    config: &PolicyDistillConfig,
    student: Student,
) -> anyhow::Result<Distilled> {
    let (policy, data) = (loaded.model.policy()?, loaded.data()?);
    let (search, name) = (planner.full_goal_waypoints(loaded, None)?, planner.describe(None));
    let began = Instant::now();
    let (bar, progress) = progress_bar(config.updates);
    let policy = match student {
        Student::Policy => {
            distill_policy(&PlannedPolicy { planner: search, policy }, &name, data, config, progress)
        }
        Student::Waypoints => {
            let (observation_width, goal) = (data.spec().observation.width, data.spec().goal_space());
            let teacher = WaypointDisplacements { planner: search, observation_width, goal };
            distill_waypoints(&teacher, &name, data, config, progress)
        }
    };
    bar.finish_and_clear();
    let (file, what, option) = match student {
        Student::Policy => (DistilledPolicy::FILE_NAME, "a policy", "distilled"),
        Student::Waypoints => (WaypointPolicy::FILE_NAME, "a network of waypoints", "waypoints"),
    };
    let seconds = began.elapsed().as_secs_f64();
    let distilled = Distilled::save(policy?, loaded, file, (config.updates, seconds))?;
    note(&format!(
        "{}: the planner ({name}), distilled into {what}; evaluate it with isochrone eval --policy {option}",
        distilled.file.display(),
    ));
    Ok(distilled)
}

/// Extracts a network of waypoints from the data with the distance of a run, for the policy of the
/// run below it, and writes it to the run directory.
pub fn extract(
    loaded: &LoadedRun,
    advantages: Advantages,
    config: &PolicyDistillConfig,
) -> anyhow::Result<Distilled> {
    // A network of waypoints is of no use without a policy below it.
    loaded.model.policy()?;
    let (distance, data) = (loaded.model.distance()?, loaded.data()?);
    let began = Instant::now();
    let (bar, progress) = progress_bar(config.updates);
    let network = extract_waypoints(&distance, advantages, data, config, progress);
    bar.finish_and_clear();
    let seconds = began.elapsed().as_secs_f64();
    let extracted = Distilled::save(network?, loaded, WaypointPolicy::FILE_NAME, (config.updates, seconds))?;
    note(&format!(
        "{}: a network of waypoints, extracted from the data ({}); evaluate it with isochrone eval --policy waypoints",
        extracted.file.display(),
        advantages.describe()
    ));
    Ok(extracted)
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
    let columns = named(["teacher", "updates", "seconds", "relative_error"]);
    Ok(write!(out, "{}", Report::new(facts, columns, [row]).print(style))?)
}
