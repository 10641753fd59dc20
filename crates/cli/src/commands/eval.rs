//! `isochrone eval`: a policy attempts the tasks of a world.

use crate::commands::{
    output::{Field, Report, StyleArgs, bar, file_stem, most_similar, number, save, tell},
    planner_args::PlannerArgs,
    query::{Asker, RunArgs},
};
use anyhow::bail;
use isochrone::{
    envs::{BodyShape, DatasetId, EnvId, EnvSpec, mujoco_version},
    learn::model::CheckpointSelector,
    plan::{PlannedPolicy, Waypoints as _},
    plot::{Figure, Filmstrip, Frame, Limb, rollout_chart},
    rollout::{Rollout, RolloutConfig, Success, success_by_task, success_rate},
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Lets the policy of a run attempt the tasks of a world
///
/// The protocol is that of OGBench: every task as often as the others, the most likely action, success as the share of episodes that reach the goal within the step limit. Of several
/// checkpoints, `last` is the success of the last, `last_three` the mean over the last three that were asked for, `best` the largest. `steps` is the mean over episodes that arrived.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// The world; `isochrone envs list` shows all
    #[arg(long, value_name = "WORLD", value_parser = env)]
    env: EnvId,

    /// Episodes of every task
    #[arg(long, value_name = "N", default_value_t = 50)]
    episodes: u64,

    /// Of tasks and of all chance in them
    #[arg(long, value_name = "N", default_value_t = 0)]
    task_seed: u64,

    /// How many of the last checkpoints
    #[arg(long, value_name = "N", default_value_t = 1)]
    checkpoints: usize,

    /// Plan along recorded segments, and tell the policy where to go next
    #[arg(long)]
    plan: bool,

    #[command(flatten)]
    planner: PlannerArgs,

    /// Draw the paths of the last checkpoint, task by task (.svg or .png); blue arrives
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Draw two seconds of the ant of the first episode that arrived, or else of the first (.svg or .png)
    #[arg(long, value_name = "FILE")]
    film: Option<PathBuf>,

    /// Logs to plan over [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone eval runs/nav2d --env nav2d --episodes 500
  isochrone eval runs/medium --env pointmaze-medium --checkpoints 3
  isochrone eval runs/medium --env pointmaze-medium --plan
  isochrone eval runs/medium --env pointmaze-medium --plan --planner graph --calibrated --round-trip --max-edge-steps 16 --plot paths.svg";

/// More than anybody waits for.
const MAX_EPISODES: u64 = 10_000;

/// Reads a world by its name.
fn env(name: &str) -> Result<EnvId, String> {
    EnvId::from_name(name).ok_or_else(|| {
        let known: Vec<String> = EnvId::all().map(|env| env.name()).collect();
        match most_similar(name, known.iter().map(String::as_str)) {
            Some(similar) => format!("no environment is called that; hint: did you mean {similar}?"),
            None => "no environment is called that; hint: `isochrone envs list` shows all".into(),
        }
    })
}

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.episodes == 0 || args.episodes > MAX_EPISODES {
        bail!("--episodes {}; hint: give a number between 1 and {MAX_EPISODES}", args.episodes);
    }
    for path in [&args.plot, &args.film].into_iter().flatten() {
        Figure::check_path(path)?;
    }
    if args.film.is_some() && args.env.body_shape().is_none() {
        bail!("--film: {} has no ant; hint: leave it out, or say --plot", args.env.name());
    }
    let run = args.run.open()?;
    let (folder, world) = (args.run.run.display(), args.env.name());
    let manifest = run.manifest().clone();
    let spec = &manifest.data.spec;
    let EnvSpec { observation_width: observation, action_width: action, n_tasks, .. } = args.env.spec();
    if (spec.observation.width, spec.action.width) != (observation, action) {
        bail!(
            "{folder}: it learned from observations of {} numbers and actions of {}, {world} has {observation} and {action}; hint: choose another --env",
            spec.observation.width,
            spec.action.width
        );
    }
    let (learned, goals) = (spec.goal_space(), args.env.dataset_spec().goal_space());
    if learned != goals {
        bail!(
            "{folder}: it learned goals of dimensions {learned:?}, those of {world} are {goals:?}; hint: train with --goal {goals:?} (.arrow files say it themselves, .npz do not)"
        );
    }
    if args.plan && spec.goal.is_some() {
        bail!("--plan: goals of {world} are places, and a plan needs whole situations; hint: leave it out");
    }
    if args.checkpoints == 0 {
        bail!("--checkpoints 0; hint: give at least 1");
    }
    if let (Some(flag), false) = (args.planner.first_set(), args.plan) {
        bail!("{flag} sets up the planner; hint: give --plan as well");
    }
    warn_about_other_data(&manifest.data.path, args.env);
    let factory = args.env.make()?;
    let mut steps = run.checkpoints().steps()?;
    steps.drain(..steps.len().saturating_sub(args.checkpoints));
    let (kept, asked) = (steps.len(), args.checkpoints);
    if kept == 0 {
        bail!("{folder}: the run has no checkpoint yet; hint: wait for the first, or go on with --resume");
    }
    if kept < asked {
        tell(&format!(
            "warning: {kept} of {asked} checkpoints were kept; hint: train with checkpoints.keep_last={asked}"
        ));
    }
    let bar = bar(kept, "{spinner} {bar:24} {pos}/{len} checkpoints  {elapsed}");
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let rollouts = RolloutConfig { episodes: args.episodes * n_tasks as u64, seed: args.task_seed };
    // Paths of the last checkpoint are drawn; of the others, what counts is kept.
    let (mut evaluated, mut last_attempts): (Vec<Evaluated>, Vec<Rollout>) = Default::default();
    // Logs to plan over are read once, for all checkpoints.
    let mut asker = Asker::of(run, CheckpointSelector::Step(steps[0]), args.data.as_deref())?;
    for step in steps {
        asker.turn_to(step)?;
        let Some(policy) = &asker.model.policy else {
            bail!(
                "{folder}: it learned from logs without actions, and has no policy; hint: train on logs with actions"
            );
        };
        let attempts = if args.plan {
            let planned = PlannedPolicy { planner: args.planner.waypoints(&asker)?, policy };
            let attempts = rollouts.run(&*factory, &planned);
            let starts: Vec<f32> = attempts.iter().flat_map(|a| &a.states[..observation]).copied().collect();
            let goals: Vec<f32> = attempts.iter().flat_map(|a| &a.goal).copied().collect();
            let lost =
                planned.planner.is_reachable(&starts, &goals).into_iter().filter(|known| !known).count();
            if lost > 0 {
                bar.suspend(|| {
                    tell(&format!(
                        "warning: no path was found in {lost} of {} episodes, and the policy was given the goal itself; hint: {}",
                        attempts.len(),
                        args.planner.hint()
                    ));
                });
            }
            attempts
        } else {
            rollouts.run(&*factory, policy)
        };
        evaluated.push(Evaluated::of(step, &attempts, n_tasks));
        last_attempts = attempts;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut columns = vec!["checkpoint".to_owned()];
    if n_tasks > 1 {
        columns.extend((1..=n_tasks).map(|task| format!("task {task}")));
    }
    columns.extend(["success".to_owned(), "steps".to_owned()]);
    let row = |evaluated: &Evaluated| {
        let mut row = vec![Field::Count(evaluated.step as usize)];
        if n_tasks > 1 {
            row.extend(evaluated.tasks.iter().map(|&share| Field::Number(share, 3)));
        }
        row.extend([Field::Number(evaluated.success, 3), number(evaluated.steps, 1)]);
        row
    };
    let mut rows: Vec<Vec<Field>> = evaluated.iter().map(row).collect();
    let success: Vec<f64> = evaluated.iter().map(|evaluated| evaluated.success).collect();
    let Success { last, last_three, best } = Success::of(&success).expect("there is a checkpoint");
    let ceiling = args.env.optimal_success(args.task_seed);
    if let (Some(tasks), true) = (&ceiling, args.style.is_text()) {
        let mut row = vec![Field::Text("ceiling".into())];
        row.extend(tasks.iter().map(|&share| Field::Number(share, 3)));
        row.extend([Field::Number(tasks.iter().sum::<f64>() / tasks.len() as f64, 3), Field::Missing]);
        rows.push(row);
    }
    let facts = json!({
        "mujoco": mujoco_version(), "world": world, "run": args.run.run, "algorithm": manifest.algorithm, "data_sha256": manifest.data.content_hash,
        "episodes_per_task": args.episodes, "task_seed": args.task_seed,
        "planner": args.plan.then(|| args.planner.describe()), "ceiling": ceiling, "last": last, "last_three": last_three, "best": best,
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    let (step, algorithm) = (evaluated[evaluated.len() - 1].step, &manifest.algorithm);
    if let Some(path) = &args.plot {
        let title = format!("{algorithm} of {} in {world}, step {step}", file_stem(&manifest.data.path));
        let note = if args.plan { args.planner.describe() } else { "no plan".into() };
        save(&rollout_chart(&last_attempts, n_tasks, &args.env.walls(), title, note).draw(), path)?;
    }
    if let (Some(path), Some(shape)) = (&args.film, args.env.body_shape()) {
        let title = format!("{algorithm} in {world}");
        save(&filmstrip(args.env, shape, &last_attempts, title).draw(), path)?;
    }
    if let Some(last_three) = last_three {
        tell(&format!("last {last:.3}, last three {last_three:.3}, best {best:.3}"));
    }
    Ok(())
}

/// Data files are often named after their dataset: says so if it is of another environment.
fn warn_about_other_data(path: &std::path::Path, env: EnvId) {
    let stem = file_stem(path);
    let dataset = DatasetId::from_name(stem.strip_suffix("-v0").unwrap_or(&stem));
    if let Some(dataset) = dataset.filter(|dataset| dataset.env().name() != env.name()) {
        let (name, env) = (dataset.name(), dataset.env().name());
        tell(&format!("warning: the run was trained on {name}, a dataset of {env}; hint: give --env {env}"));
    }
}

/// What counts of a checkpoint's attempts.
struct Evaluated {
    step: u64,
    /// The share that arrived, for every task.
    tasks: Vec<f64>,
    success: f64,
    /// Mean steps of those that arrived.
    steps: Option<f64>,
}

impl Evaluated {
    fn of(step: u64, attempts: &[Rollout], n_tasks: usize) -> Self {
        let arrived: Vec<usize> = attempts.iter().filter(|a| a.success).map(|a| a.steps).collect();
        Self {
            step,
            tasks: success_by_task(attempts, n_tasks),
            success: success_rate(attempts),
            steps: (!arrived.is_empty()).then(|| arrived.iter().sum::<usize>() as f64 / arrived.len() as f64),
        }
    }
}

/// Moments of a filmstrip, and the steps between them.
const MOMENTS: usize = 12;
const STEPS_BETWEEN: usize = 2;

/// A body in motion, moment by moment: the first successful rollout, or the first of all.
fn filmstrip(env: EnvId, shape: BodyShape, rollouts: &[Rollout], title: String) -> Filmstrip {
    let Some(rollout) = rollouts.iter().find(|rollout| rollout.success).or(rollouts.first()) else {
        return Filmstrip::default();
    };
    let steps_per_second = env.dataset_spec().frames_per_second.unwrap_or(1.0);
    // Not before it is moving.
    let first = (rollout.steps / 4).min(rollout.steps.saturating_sub(MOMENTS * STEPS_BETWEEN));
    let rows: Vec<&[f32]> = rollout.states.chunks_exact(rollout.goal.len()).collect();
    let frame = |step: usize| {
        let parts = shape(rows[step]).into_iter();
        let limbs = parts.map(|part| Limb { from: part.from, to: part.to, radius: part.radius });
        Frame {
            label: format!("{:.1} s", step as f64 / steps_per_second),
            center: [f64::from(rows[step][0]), f64::from(rows[step][1])],
            limbs: limbs.collect(),
        }
    };
    let steps = (first..rows.len()).step_by(STEPS_BETWEEN).take(MOMENTS);
    let note = match rollout.success {
        true => format!("it reaches the goal after {:.1} s", rollout.steps as f64 / steps_per_second),
        false => "it does not reach the goal".to_owned(),
    };
    Filmstrip { title, note, frames: steps.map(frame).collect() }
}
