//! `isochrone distill`: distills recorded time into a network, or a planner into a policy.

pub mod policy;
mod progress;

use crate::commands::{
    device_args::DeviceArgs,
    output::{Field, Report, StyleArgs, named, note, number},
    planner_args::PlannerArgs,
    query::{LoadedRun, RunArgs},
    read_args::parse_range,
    states::check_within,
};
use anyhow::bail;
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    data::Dataset,
    learn::{
        distill::{
            DistillConfig, DistillHead, DistilledDistance, distill,
            policy::{Advantages, PolicyDistillConfig},
        },
        model::CheckpointSelector,
    },
    refined::SliceDistance,
};
use policy::Student;
use progress::progress_bar;
use serde_json::json;
use std::{io::Write, ops::Range, time::Instant};

/// Distill recorded time or a planner into a network that needs no data
///
/// Recorded time between landmarks needs the dataset and a graph. This command trains a network to
/// predict the same distances, in about a minute, and writes it to distilled.safetensors in the run
/// directory. Use it with `isochrone distance --distance distilled`. The agreement with recorded
/// time on newly sampled pairs of states is printed and stored in the file.
///
/// With --policy, the planner and the run's policy below it are distilled into a new policy, which
/// acts without planning: at random states of the data, towards random goals, it learns the action
/// towards the planner's next waypoint. It is written to distilled-policy.safetensors; use it with
/// `isochrone eval --policy distilled`. `relative_error` compares its actions with those of the
/// planner for goals that were held out: 0 is equal, 1 is nothing learned.
///
/// With --waypoints, only the planner is distilled, and the run's policy stays below it: a policy
/// of two levels, better for a body with many joints. Train that policy towards positions
/// (`isochrone train --goal 0..2`): a network cannot predict the pose of a body twelve steps
/// ahead. The network of waypoints is written to distilled-waypoints.safetensors; use it with
/// `isochrone eval --policy waypoints`.
///
/// With --waypoints --advantage-steps, no planner is needed: the network learns the positions that
/// the data reach that many steps later, weighted by how much nearer to the goal they are by the
/// run's distance.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("seed", |flag| flag.help("Random seed [default: 0]")))]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Distill the planner into a policy instead of recorded time into a distance
    #[arg(long, conflicts_with_all = ["head", "within", "goal"])]
    policy: bool,

    /// Distill the planner's waypoints, towards which the run's policy acts
    #[arg(long, conflicts_with_all = ["policy", "head", "within", "goal"])]
    waypoints: bool,

    /// Learn the waypoints from the data instead of a planner: this many steps later
    #[arg(long, value_name = "STEPS", requires = "waypoints")]
    advantage_steps: Option<u32>,

    /// Weight e^(alpha A) of a waypoint that is A steps nearer to the goal by the run's distance,
    /// to which it has to fit [default: 1 for mqe, 3 for qrl, 10 for gciql, 0.03 for the others]
    #[arg(long, value_name = "ALPHA", requires = "advantage_steps", allow_negative_numbers = true)]
    alpha: Option<f64>,

    #[command(flatten)]
    planner: PlannerArgs,

    /// Network head that compares two states
    #[arg(long, value_enum, value_name = "HEAD", default_value = "pair")]
    head: HeadArg,

    /// Define goals by a slice of the state, such as its position: any recorded state within this
    /// distance in the columns of --goal counts
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f32>,

    /// Columns of that slice, end excluded [default: the goal space of the data]
    #[arg(long, value_name = "FROM..TO", value_parser = parse_range, requires = "within")]
    goal: Option<Range<usize>>,

    /// Number of gradient updates [default: 3000; 10000 with --policy, 15000 with --waypoints]
    #[arg(long, value_name = "N")]
    updates: Option<u64>,

    /// Number of random dataset states that the planner plans to [default: 2000; 3000 with
    /// --waypoints]
    #[arg(long, value_name = "N")]
    random_goals: Option<usize>,

    /// Number of random dataset states from which the policy learns to reach each of them; more
    /// for a body with many joints [default: 64; 128 with --waypoints]
    #[arg(long, value_name = "N")]
    starts_per_goal: Option<usize>,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    style: StyleArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HeadArg {
    /// Takes both states as one input: represents one-way streets and unreachable pairs; not a
    /// metric
    Pair,
    /// Metric residual network: satisfies the triangle inequality, fast for all pairs; blurs
    /// one-way streets
    Mrn,
}

const EXAMPLES: &str = "\
Examples:
  isochrone distill runs/maze
  isochrone distance runs/maze --distance distilled --from 0,0 --to 20,12
  isochrone distill runs/ant --goal 0..2 --within 0.7   # a position, any pose of the legs
  isochrone distill runs/maze --head mrn --json         # for planning over many states
  isochrone distill runs/maze --policy                  # a policy that needs no planner
  isochrone eval runs/maze --env pointmaze-medium --policy distilled
  isochrone distill runs/ant --waypoints                # a network of waypoints above the policy
  isochrone distill runs/ant --waypoints --advantage-steps 25   # without a planner
  isochrone eval runs/ant --env antmaze-medium --policy waypoints";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let minima = [
        ("--updates", args.updates.map(|n| n as usize), 1),
        ("--random-goals", args.random_goals, 2),
        ("--starts-per-goal", args.starts_per_goal, 1),
    ];
    for (flag, count, min) in minima {
        if let Some(count) = count.filter(|count| *count < min) {
            bail!("{flag} {count}; hint: give {min} or more");
        }
    }
    let (seed, planner) = (args.planner.seed(), args.planner.with_used_seed());
    let student = match (args.policy, args.waypoints) {
        (true, _) => Some(Student::Policy),
        (_, true) => Some(Student::Waypoints),
        _ => None,
    };
    if let (Some(flag), Some(_)) =
        (planner.first_set().filter(|flag| *flag != "--seed"), args.advantage_steps)
    {
        bail!(
            "{flag} configures the planner; hint: leave it out, or --advantage-steps, which needs no planner"
        );
    }
    let counts = [("--random-goals", args.random_goals), ("--starts-per-goal", args.starts_per_goal)];
    let of_planner = counts.into_iter().find_map(|(flag, count)| count.and(Some(flag)));
    if let Some(flag) = of_planner.or(planner.first_set())
        && student.is_none()
    {
        bail!("{flag} configures the planner; hint: give --policy or --waypoints as well");
    }
    isochrone::nn::memory::retain_heap();
    let loaded = LoadedRun::open(&args.run, CheckpointSelector::Last, None, args.device.device)?;
    if let Some(student) = student {
        let default = student.config();
        let config = PolicyDistillConfig {
            goals: args.random_goals.unwrap_or(default.goals),
            starts_per_goal: args.starts_per_goal.unwrap_or(default.starts_per_goal),
            updates: args.updates.unwrap_or(default.updates),
            seed,
            device: args.device.device,
            ..default
        };
        let distilled = match args.advantage_steps {
            Some(steps) => {
                let default = Advantages::of(loaded.model.algorithm);
                let alpha = args.alpha.unwrap_or(default.alpha);
                policy::extract(&loaded, Advantages { steps, alpha, ..default }, &config)?
            }
            None => policy::distill(&loaded, &planner, &config, student)?,
        };
        return policy::print(&distilled, &args.style, out);
    }
    let (data, teacher) = (loaded.data()?, loaded.refined()?);
    let head = match args.head {
        HeadArg::Pair => DistillHead::Pair,
        HeadArg::Mrn => DistillHead::Mrn,
    };
    // Recorded time ignores the same columns.
    let column_scales = Some(teacher.metric().column_scales());
    let n_landmarks = teacher.n_landmarks();
    let (teacher, goal): (Box<dyn TemporalDistance>, _) = match args.within {
        None => (Box::new(teacher.clone()), None),
        Some(within) => {
            let goal = goal_space(args, within, data)?;
            (Box::new(SliceDistance::new(teacher.clone(), data, goal.clone(), within)), Some(goal))
        }
    };
    let (updates, device) = (args.updates.unwrap_or(DistillConfig::default().updates), args.device.device);
    let config = DistillConfig { head, updates, seed, column_scales, goal, device };
    let began = Instant::now();
    let (bar, progress) = progress_bar(updates);
    let distilled = distill(&*teacher, data, &config, progress);
    bar.finish_and_clear();
    let mut distance = distilled?;
    let seconds = began.elapsed().as_secs_f64();
    let found = distance.compare(&*teacher, data, seed)?;
    let path = loaded.run.folder().join(DistilledDistance::FILE_NAME);
    distance.save(&path)?;
    note(&format!(
        "{}: recorded time between {} landmarks, distilled into a network",
        path.display(),
        n_landmarks
    ));
    let finite = |value: f64, decimals| number(value.is_finite().then_some(value), decimals);
    let columns = [
        "head",
        "updates",
        "seconds",
        "pairs",
        "spearman",
        "median_relative_difference",
        "same_reachability",
        "one_step",
        "one_step_recorded_time",
    ];
    let row = vec![
        Field::Text(head.name().to_owned()),
        Field::Count(updates as usize),
        Field::Number(seconds, 1),
        Field::Count(found.pairs),
        finite(found.spearman, 4),
        finite(found.median_relative_difference, 3),
        Field::Number(found.same_reachability, 3),
        finite(found.one_step, 2),
        finite(found.teacher_one_step, 2),
    ];
    let facts =
        json!({ "run": args.run.run, "file": path, "data_sha256": data.content_hash(), "seed": seed });
    Ok(write!(out, "{}", Report::new(facts, named(columns), [row]).print(&args.style))?)
}

/// Returns the columns that define a goal, for goals that are a slice of the state.
fn goal_space(args: &Args, within: f32, data: &Dataset) -> anyhow::Result<Range<usize>> {
    check_within(f64::from(within))?;
    if args.head == HeadArg::Mrn {
        bail!("--within with --head mrn: a quasimetric compares full states; hint: use --head pair");
    }
    let (goal, width) =
        (args.goal.clone().unwrap_or(data.spec().goal_space()), data.spec().observation.width);
    if goal.is_empty() || goal.end > width {
        bail!(
            "--goal {}..{}: not a range of observation columns; hint: choose from 0..{width}",
            goal.start,
            goal.end
        );
    }
    Ok(goal)
}
