//! Evaluation of a planner with a controller that needs no training.

use super::{Args, starts_and_goals, warn_about_other_data};
use crate::commands::{
    forecast::{self, mean_forecasts},
    output::{Field, Report, named, note, number, save},
    remote::local,
};
use anyhow::{Context as _, bail};
use isochrone::{
    GoalPolicy,
    chance::Forecasts,
    data::{Dataset, formats::ReadOptions},
    envs::mujoco_version,
    plan::{PlannedPolicy, RecordedPlanner},
    plot::rollout_chart,
    refined::{RefinedConfig, RefinedDistance},
    rollout::{Rollout, RolloutConfig, mean_success_steps, success_by_task},
    stats::mean,
    straight::StraightController,
};
use serde_json::json;
use std::io::Write;

/// Runs the evaluation; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let (Some(flag), false) = (args.planner.first_set(), args.plan) {
        bail!("{flag} configures the planner; hint: give --plan as well");
    }
    args.planner.check()?;
    if args.plan && !args.planner.needs_only_data() {
        bail!(
            "--planner: a learned distance needs a run; hint: give --planner recorded or --planner stochastic with --controller"
        );
    }
    let look_ahead = args.planner.look_ahead_steps()?;
    let (spec, env_name) = (args.env.spec(), args.env.name());
    let path = args.data.as_deref().context("no data; hint: give --data with --controller")?;
    let name = path.display();
    let data = Dataset::load(local(path)?, ReadOptions::default())?;
    let (observation, action) = (data.spec().observation.width, data.spec().action.width);
    if (observation, action) != (spec.observation_width, spec.action_width) {
        bail!(
            "{name}: observations of {observation} numbers and actions of {action}, but {env_name} has {} and {}; hint: choose another --env",
            spec.observation_width,
            spec.action_width
        );
    }
    warn_about_other_data(path, args.env);
    let controller =
        StraightController::fit(&data).with_context(|| format!("{name}: --controller straight"))?;
    let config = RolloutConfig { episodes: args.episodes * spec.n_tasks as u64, seed: args.task_seed };
    let factory = args.env.make()?;
    let roll_out = |policy: &dyn GoalPolicy| config.run(&*factory, policy);
    let (rollouts, forecasts): (Vec<Rollout>, Option<Vec<Forecasts>>) = if !args.plan {
        (roll_out(&controller), None)
    } else if args.planner.is_stochastic() {
        let model = args.planner.chance_model(&data)?;
        let planner = args.planner.stochastic(&model, &data, Some(spec.max_episode_steps))?;
        let policy = PlannedPolicy { planner, policy: controller };
        let rollouts = roll_out(&policy);
        let of_task = |task: usize| {
            let own: Vec<Rollout> = rollouts.iter().skip(task).step_by(spec.n_tasks).cloned().collect();
            let (starts, goals) = starts_and_goals(&own);
            mean_forecasts(&policy.planner, &starts, &goals)
        };
        let forecasts = (0..spec.n_tasks).map(of_task).collect::<anyhow::Result<_>>()?;
        (rollouts, Some(forecasts))
    } else {
        let refined = RefinedDistance::fit(&data, &RefinedConfig::default())?;
        let planner = RecordedPlanner::new(refined, &data, look_ahead);
        (roll_out(&PlannedPolicy { planner, policy: controller }), None)
    };
    let mut columns = named(["task", "success", "steps"]);
    if forecasts.is_some() {
        columns.extend(named(["forecast_success", "forecast_steps", "gamble_success", "gamble_steps"]));
    }
    let tasks = success_by_task(&rollouts, spec.n_tasks);
    let rows = tasks.iter().enumerate().map(|(task, success)| {
        let steps = mean_success_steps(rollouts.iter().skip(task).step_by(spec.n_tasks));
        let mut row = vec![Field::Count(task + 1), Field::Number(*success, 3), number(steps, 1)];
        if let Some(forecasts) = &forecasts {
            for one in [forecasts[task].safe, forecasts[task].gamble] {
                row.push(Field::Number(one.success, 3));
                row.push(number(one.steps.is_finite().then_some(one.steps), 1));
            }
        }
        row
    });
    let success = mean(&tasks);
    let planner = args.plan.then(|| args.planner.describe(Some(spec.max_episode_steps)));
    let facts = json!({
        "mujoco": mujoco_version(), "env": env_name, "controller": "straight", "data_sha256": data.content_hash(),
        "episodes_per_task": args.episodes, "task_seed": args.task_seed, "planner": planner, "success": success,
        "optimal_success": args.env.optimal_success(args.task_seed),
        "forecast": forecasts.as_ref().map(|tasks| tasks.iter().map(forecast::facts).collect::<Vec<_>>()),
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    note(&format!("success {success:.3}"));
    if let Some(file) = &args.plot {
        let title = format!("Straight controller in {env_name}");
        let note = planner.unwrap_or_else(|| "no plan".to_owned());
        save(&rollout_chart(&rollouts, spec.n_tasks, &args.env.walls(), title, note).draw(), file)?;
    }
    Ok(())
}
