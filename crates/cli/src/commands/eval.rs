//! `isochrone eval`: evaluates a trained policy on the tasks of an environment.

mod straight;

use crate::commands::{
    device_args::DeviceArgs,
    forecast::{self, mean_forecasts},
    output::{Field, Report, StyleArgs, bar, file_stem, most_similar, note, number, save},
    planner_args::PlannerArgs,
    query::{LoadedRun, open_run},
};
use anyhow::{Context as _, bail};
use clap::ValueEnum;
use isochrone::{
    GoalPolicy,
    envs::{BodyShape, DatasetId, EnvId, EnvSpec, mujoco_version},
    learn::{distill::policy::WaypointPolicy, model::CheckpointSelector},
    plan::{PlannedPolicy, Waypoints as _},
    plot::{Figure, Filmstrip, Frame, Limb, rollout_chart},
    rollout::{Rollout, RolloutConfig, Success, mean_success_steps, success_by_task, success_rate},
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Evaluate a trained policy on an environment's tasks (OGBench protocol)
///
/// The protocol is that of OGBench: the same number of episodes for every task, deterministic
/// actions (the mode of the policy), and success as the fraction of episodes that reach the goal
/// within the step limit. With several checkpoints, `last` is the success rate of the last one,
/// `last_three` the mean over the last three evaluated, and `best` the maximum. `steps` is the mean
/// length of the successful episodes.
///
/// With `--plan` and a learned distance, the hop ratio is printed: the longest edge of a path over
/// the direct distance from start to goal, as the mean over all episodes. It forecasts whether a
/// plan helps: below 0.4 it does if the policy reaches near goals; above, waypoints are hardly
/// nearer than the goal.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run directory
    #[arg(value_name = "RUN", required_unless_present = "controller")]
    run: Option<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,

    /// Environment; see isochrone envs list
    #[arg(long, value_name = "ENV", value_parser = env)]
    env: EnvId,

    /// Number of episodes per task
    #[arg(long, value_name = "N", default_value_t = 50)]
    episodes: u64,

    /// Random seed for tasks and environments
    #[arg(long, value_name = "N", default_value_t = 0)]
    task_seed: u64,

    /// Number of checkpoints to evaluate, counted from the last
    #[arg(long, value_name = "N", default_value_t = 1)]
    checkpoints: usize,

    /// Plan a path and give the policy its waypoints as goals
    #[arg(long)]
    plan: bool,

    /// Policy to evaluate
    #[arg(long, value_enum, value_name = "POLICY", default_value = "learned")]
    policy: PolicyArg,

    #[command(flatten)]
    planner: PlannerArgs,

    /// Controller that needs no training, instead of the policy of a run: evaluates the planner
    /// itself, over --data. Only for environments whose action moves the position, such as point
    /// mazes
    #[arg(long, value_enum, value_name = "CONTROLLER", requires = "data", conflicts_with_all = ["run", "film", "checkpoints", "policy"])]
    controller: Option<ControllerArg>,

    /// Plot rollouts of the last checkpoint per task (.svg or .png); successes in blue
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Plot a filmstrip of the ant over two seconds of the first successful episode, or else of the
    /// first (.svg or .png)
    #[arg(long, value_name = "FILE")]
    film: Option<PathBuf>,

    /// Dataset to plan over [default: the run's training data]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    style: StyleArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyArg {
    /// Policy of the algorithm, at each checkpoint
    Learned,
    /// Planner distilled into a policy by isochrone distill --policy; it has one checkpoint
    Distilled,
    /// Two levels: the network of waypoints of isochrone distill --waypoints, and the policy of the
    /// algorithm below it
    Waypoints,
}

/// A controller that needs no training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ControllerArg {
    /// Straight towards the waypoint: action = clip(gain (waypoint - position)), with the gain of
    /// the recorded actions
    Straight,
}

const EXAMPLES: &str = "\
Examples:
  isochrone eval runs/nav2d --env nav2d --episodes 500
  isochrone eval runs/medium --env pointmaze-medium --checkpoints 3
  isochrone eval runs/medium --env pointmaze-medium --plan
  isochrone eval runs/medium --env pointmaze-medium --policy distilled
  isochrone eval runs/medium --env pointmaze-medium --plan --planner graph \\
    --calibrated --round-trip --max-edge-steps 16 --plot paths.svg
  isochrone eval --controller straight --data pointmaze-teleport-navigate-v0.npz \\
    --env pointmaze-teleport --plan --planner stochastic";

/// The maximum number of episodes per task.
const MAX_EPISODES: u64 = 10_000;

/// The hop ratio below which plans helped in published evaluations.
const MAX_HOP_RATIO: f64 = 0.4;

/// Parses the name of an environment.
fn env(name: &str) -> Result<EnvId, String> {
    EnvId::from_name(name).ok_or_else(|| {
        let known: Vec<String> = EnvId::all().map(|env| env.name()).collect();
        match most_similar(name, known.iter().map(String::as_str)) {
            Some(similar) => format!("unknown environment; hint: did you mean {similar}?"),
            None => "unknown environment; hint: see isochrone envs list".into(),
        }
    })
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.episodes == 0 || args.episodes > MAX_EPISODES {
        bail!("--episodes {}; hint: give a number between 1 and {MAX_EPISODES}", args.episodes);
    }
    for path in [&args.plot, &args.film].into_iter().flatten() {
        Figure::check_path(path)?;
    }
    if args.film.is_some() && args.env.body_shape().is_none() {
        bail!("--film: {} has no ant; hint: leave it out, or use --plot", args.env.name());
    }
    if let Some(ControllerArg::Straight) = args.controller {
        return straight::run(args, out);
    }
    let folder = args.run.as_deref().context("no run; hint: give a run directory")?;
    let run = open_run(folder, args.accept_edits)?;
    let (folder, env_name) = (folder.display(), args.env.name());
    let manifest = run.manifest().clone();
    let spec = &manifest.data.spec;
    let EnvSpec {
        observation_width: observation,
        action_width: action,
        n_tasks,
        max_episode_steps: max_steps,
    } = args.env.spec();
    if (spec.observation.width, spec.action.width) != (observation, action) {
        bail!(
            "{folder}: trained on observations of {} numbers and actions of {}, but {env_name} has {observation} and {action}; hint: choose another --env",
            spec.observation.width,
            spec.action.width
        );
    }
    let (learned, goals) = (spec.goal_space(), args.env.dataset_spec().goal_space());
    // A policy may see less of a goal, such as its position alone.
    if learned.start < goals.start || learned.end > goals.end {
        bail!(
            "{folder}: trained on goals of dimensions {learned:?}, but those of {env_name} are {goals:?}; hint: train with --goal {goals:?} (.arrow files store the goal space, .npz files do not)"
        );
    }
    if args.checkpoints == 0 {
        bail!("--checkpoints 0; hint: give at least 1");
    }
    let is_distilled = args.policy == PolicyArg::Distilled;
    if is_distilled && args.checkpoints > 1 {
        bail!("--checkpoints {}: a distilled policy has one; hint: leave it out", args.checkpoints);
    }
    if let (Some(flag), false) = (args.planner.first_set(), args.plan) {
        bail!("{flag} configures the planner; hint: give --plan as well");
    }
    warn_about_other_data(&manifest.data.path, args.env);
    let factory = args.env.make()?;
    let mut steps = run.checkpoints().steps()?;
    steps.drain(..steps.len().saturating_sub(args.checkpoints));
    let (kept, requested) = (steps.len(), args.checkpoints);
    if kept == 0 {
        bail!(
            "{folder}: the run has no checkpoint yet; hint: wait for the first one, or continue the run with train --resume"
        );
    }
    if kept < requested {
        note(&format!(
            "warning: only {kept} of {requested} checkpoints exist; hint: train with checkpoints.keep_last={requested}"
        ));
    }
    let bar = bar(kept, "{spinner} {bar:24} {pos}/{len} checkpoints  {elapsed}");
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let rollout_config = RolloutConfig { episodes: args.episodes * n_tasks as u64, seed: args.task_seed };
    // Rollouts of the last checkpoint are plotted; of the others, only the results are kept.
    let (mut evaluated, mut last_rollouts): (Vec<CheckpointResult>, Vec<Rollout>) = Default::default();
    // The forecast of the stochastic planner does not depend on the checkpoint.
    let mut forecasts = None;
    // The dataset to plan over is read once for all checkpoints.
    let mut hop_ratio = None;
    let mut loaded =
        LoadedRun::of(run, CheckpointSelector::Step(steps[0]), args.data.as_deref(), args.device.device)?;
    let distilled = match args.policy {
        PolicyArg::Learned => None,
        PolicyArg::Distilled => Some(loaded.distilled_policy()?),
        PolicyArg::Waypoints => Some(loaded.waypoint_network()?),
    };
    for step in steps {
        loaded.load_checkpoint(step)?;
        let Some(learned) = &loaded.model.policy else {
            bail!(
                "{folder}: trained on data without actions, so it has no policy; hint: train on data with actions"
            );
        };
        let two_levels;
        let policy: &dyn GoalPolicy = match &distilled {
            None => learned,
            Some(network) if network.has_displacements() => {
                two_levels = WaypointPolicy::new(network, learned).expect("both are of the run");
                &two_levels
            }
            Some(policy) => policy,
        };
        let rollouts = if args.plan {
            let planned =
                PlannedPolicy { planner: args.planner.waypoints(&loaded, Some(max_steps))?, policy };
            let rollouts = rollout_config.run(&*factory, &planned);
            let (starts, goals) = starts_and_goals(&rollouts);
            let n_unreachable =
                planned.planner.is_reachable(&starts, &goals).into_iter().filter(|known| !known).count();
            let ratios = planned.planner.hop_ratios(&starts, &goals).filter(|ratios| !ratios.is_empty());
            hop_ratio = ratios.map(|ratios| ratios.iter().sum::<f64>() / ratios.len() as f64);
            if n_unreachable > 0 {
                bar.suspend(|| {
                    note(&format!(
                        "warning: no path found in {n_unreachable} of {} episodes; the policy was given the goal itself; hint: {}",
                        rollouts.len(),
                        args.planner.hint()
                    ));
                });
            }
            rollouts
        } else {
            rollout_config.run(&*factory, policy)
        };
        if forecasts.is_none() && args.plan && args.planner.is_stochastic() {
            let model = loaded.chance(|data| args.planner.chance_model(data))?;
            let planner = args.planner.stochastic(model, loaded.data()?, Some(max_steps))?;
            let (starts, goals) = starts_and_goals(&rollouts);
            forecasts = Some(mean_forecasts(&planner, &starts, &goals)?);
        }
        evaluated.push(CheckpointResult::new(step, &rollouts, n_tasks));
        last_rollouts = rollouts;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut columns = vec!["checkpoint".to_owned()];
    if n_tasks > 1 {
        columns.extend((1..=n_tasks).map(|task| format!("task {task}")));
    }
    columns.extend(["success".to_owned(), "steps".to_owned()]);
    let row = |evaluated: &CheckpointResult| {
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
    let optimal = args.env.optimal_success(args.task_seed);
    if let (Some(tasks), true) = (&optimal, args.style.is_text()) {
        let mut row = vec![Field::Text("optimal".into())];
        row.extend(tasks.iter().map(|&share| Field::Number(share, 3)));
        row.extend([Field::Number(tasks.iter().sum::<f64>() / tasks.len() as f64, 3), Field::Missing]);
        rows.push(row);
    }
    let facts = json!({
        "mujoco": mujoco_version(), "env": env_name, "run": args.run, "algorithm": manifest.algorithm, "data_sha256": manifest.data.content_hash,
        "episodes_per_task": args.episodes, "task_seed": args.task_seed,
        "policy": args.policy.to_possible_value().expect("all are shown").get_name(), "planner": args.plan.then(|| args.planner.describe(Some(max_steps))), "hop_ratio": hop_ratio,
        "optimal_success": optimal, "last": last, "last_three": last_three, "best": best,
        "forecast": forecasts.as_ref().map(forecast::facts),
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    let (step, algorithm) = (evaluated[evaluated.len() - 1].step, &manifest.algorithm);
    if let Some(path) = &args.plot {
        let title = format!("{algorithm} of {} in {env_name}, step {step}", file_stem(&manifest.data.path));
        let note = match args.policy {
            _ if args.plan => args.planner.describe(Some(max_steps)),
            PolicyArg::Learned => "no plan".into(),
            PolicyArg::Distilled => "planner distilled into a policy".into(),
            PolicyArg::Waypoints => "two levels: a network of waypoints above the policy".into(),
        };
        save(&rollout_chart(&last_rollouts, n_tasks, &args.env.walls(), title, note).draw(), path)?;
    }
    if let (Some(path), Some(shape)) = (&args.film, args.env.body_shape()) {
        let title = format!("{algorithm} in {env_name}");
        save(&filmstrip(args.env, shape, &last_rollouts, title).draw(), path)?;
    }
    if let Some(ratio) = hop_ratio {
        let meaning = if ratio < MAX_HOP_RATIO { "waypoints are near" } else { "a plan may not help" };
        note(&format!("hop ratio {ratio:.2}: {meaning}"));
    }
    if let Some(forecasts) = &forecasts {
        note(&forecast::describe(forecasts));
    }
    if let Some(last_three) = last_three {
        note(&format!("last {last:.3}, last three {last_three:.3}, best {best:.3}"));
    }
    Ok(())
}

/// Returns the first states and the goals of rollouts, `[n, width]` twice.
fn starts_and_goals(rollouts: &[Rollout]) -> (Vec<f32>, Vec<f32>) {
    let start = |rollout: &Rollout| rollout.states[..rollout.goal.len()].to_vec();
    let starts = rollouts.iter().flat_map(start).collect();
    (starts, rollouts.iter().flat_map(|rollout| &rollout.goal).copied().collect())
}

/// Warns if the file name of the training data is that of a dataset of another environment.
fn warn_about_other_data(path: &std::path::Path, env: EnvId) {
    let stem = file_stem(path);
    let dataset = DatasetId::from_name(stem.strip_suffix("-v0").unwrap_or(&stem));
    if let Some(dataset) = dataset.filter(|dataset| dataset.env().name() != env.name()) {
        let (name, env) = (dataset.name(), dataset.env().name());
        note(&format!("warning: the run was trained on {name}, a dataset of {env}; hint: give --env {env}"));
    }
}

/// The results of one checkpoint.
struct CheckpointResult {
    step: u64,
    /// The success rate of every task.
    tasks: Vec<f64>,
    success: f64,
    /// The mean number of steps of successful episodes.
    steps: Option<f64>,
}

impl CheckpointResult {
    fn new(step: u64, rollouts: &[Rollout], n_tasks: usize) -> Self {
        Self {
            step,
            tasks: success_by_task(rollouts, n_tasks),
            success: success_rate(rollouts),
            steps: mean_success_steps(rollouts),
        }
    }
}

/// The number of frames of a filmstrip.
const FRAMES: usize = 12;
/// The number of steps between two frames.
const STEPS_BETWEEN: usize = 2;

/// Draws a filmstrip of the first successful rollout, or else of the first one.
fn filmstrip(env: EnvId, shape: BodyShape, rollouts: &[Rollout], title: String) -> Filmstrip {
    let Some(rollout) = rollouts.iter().find(|rollout| rollout.success).or(rollouts.first()) else {
        return Filmstrip::default();
    };
    let steps_per_second = env.dataset_spec().frames_per_second.unwrap_or(1.0);
    // Skip the beginning, where the body is not moving yet.
    let first = (rollout.steps / 4).min(rollout.steps.saturating_sub(FRAMES * STEPS_BETWEEN));
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
    let steps = (first..rows.len()).step_by(STEPS_BETWEEN).take(FRAMES);
    let note = match rollout.success {
        true => format!("it reaches the goal after {:.1} s", rollout.steps as f64 / steps_per_second),
        false => "it does not reach the goal".to_owned(),
    };
    Filmstrip { title, note, frames: steps.map(frame).collect() }
}
