//! `isochrone distill`: recorded time as a network.

use crate::commands::{
    output::{Field, Report, StyleArgs, bar, named, number, tell},
    query::{Asker, RunArgs},
    read_args::parse_range,
    situations::check_within,
};
use anyhow::bail;
use clap::ValueEnum;
use isochrone::{
    TemporalDistance,
    data::Dataset,
    learn::{
        distill::{DistillConfig, DistillHead, DistilledDistance, distill},
        model::CheckpointSelector,
    },
    refined::SliceDistance,
};
use serde_json::json;
use std::{io::Write, ops::Range, time::Instant};

/// Lines of a whole training where there is no terminal.
const LINES: u64 = 5;

/// Distills recorded time into a network that answers in true steps, without the data
///
/// Recorded time between landmarks needs the data and a graph. This trains a network to answer alike, in about
/// a minute, and writes it to distilled.safetensors in the folder of the run.
/// `isochrone distance --distance distilled` asks it. How it agrees with recorded time on fresh pairs of states
/// is printed, and kept with it.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// How the network compares two states
    #[arg(long, value_enum, value_name = "HEAD", default_value = "pair")]
    head: HeadArg,

    /// Goals are a slice of a state, such as its place: any recorded state will do that is within this distance in the columns
    /// of --goal
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f32>,

    /// The columns of that slice, the last not included [default: the goal space of the data]
    #[arg(long, value_name = "FROM..TO", value_parser = parse_range, requires = "within")]
    goal: Option<Range<usize>>,

    /// Updates of the network
    #[arg(long, value_name = "N", default_value_t = DistillConfig::default().updates)]
    updates: u64,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    style: StyleArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HeadArg {
    /// Both states together: keeps one-way streets, and says where there is no path; not a metric
    Pair,
    /// A metric residual network: keeps the triangle inequality, fast for all pairs; blurs one-way streets
    Mrn,
}

const EXAMPLES: &str = "\
Examples:
  isochrone distill runs/maze
  isochrone distance runs/maze --distance distilled --from 0,0 --to 20,12
  isochrone distill runs/ant --goal 0..2 --within 0.7   # a place, wherever its legs are
  isochrone distill runs/maze --head mrn --json      # for planning over many states";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.updates == 0 {
        bail!("--updates 0; hint: give 1 or more");
    }
    isochrone::nn::memory::retain_heap();
    let asker = Asker::open(&args.run, CheckpointSelector::Last, None)?;
    let (data, teacher) = (asker.data()?, asker.refined()?);
    let head = match args.head {
        HeadArg::Pair => DistillHead::Pair,
        HeadArg::Mrn => DistillHead::Mrn,
    };
    // Recorded time does not look at other columns either.
    let column_scales = Some(teacher.metric().column_scales());
    let n_landmarks = teacher.n_landmarks();
    let (teacher, goal): (Box<dyn TemporalDistance>, _) = match args.within {
        None => (Box::new(teacher.clone()), None),
        Some(within) => {
            let goal = goal_space(args, within, data)?;
            (Box::new(SliceDistance::new(teacher.clone(), data, goal.clone(), within)), Some(goal))
        }
    };
    let config = DistillConfig { head, updates: args.updates, seed: args.seed, column_scales, goal };
    let began = Instant::now();
    let bar = bar(args.updates as usize, "{bar:24} {human_pos}/{human_len}  {per_sec}  {eta} left  {msg}");
    let progress = |update: u64, loss: f64| {
        bar.set_position(update);
        bar.set_message(format!("loss {loss:.4}"));
        if bar.is_hidden() && update * LINES / args.updates > (update - 1) * LINES / args.updates {
            tell(&format!("update {update}/{}  loss {loss:.4}", args.updates));
        }
    };
    let distilled = distill(&*teacher, data, &config, progress);
    bar.finish_and_clear();
    let mut distance = distilled?;
    let seconds = began.elapsed().as_secs_f64();
    let found = distance.compare(&*teacher, data, args.seed)?;
    let path = asker.run.folder().join(DistilledDistance::FILE_NAME);
    distance.save(&path)?;
    tell(&format!("{}: recorded time between {} landmarks as a network", path.display(), n_landmarks));
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
        Field::Count(args.updates as usize),
        Field::Number(seconds, 1),
        Field::Count(found.pairs),
        finite(found.spearman, 4),
        finite(found.median_relative_difference, 3),
        Field::Number(found.same_reachability, 3),
        finite(found.one_step, 2),
        finite(found.teacher_one_step, 2),
    ];
    let facts =
        json!({ "run": args.run.run, "file": path, "data_sha256": data.content_hash(), "seed": args.seed });
    Ok(write!(out, "{}", Report::new(facts, named(columns), [row]).print(&args.style))?)
}

/// The columns that make a state a goal, where they are some of all.
fn goal_space(args: &Args, within: f32, data: &Dataset) -> anyhow::Result<Range<usize>> {
    check_within(f64::from(within))?;
    if args.head == HeadArg::Mrn {
        bail!("--within with --head mrn: a quasimetric compares whole states; hint: --head pair");
    }
    let (goal, width) =
        (args.goal.clone().unwrap_or(data.spec().goal_space()), data.spec().observation.width);
    if goal.is_empty() || goal.end > width {
        bail!(
            "--goal {}..{}: no columns of an observation; hint: choose from 0..{width}",
            goal.start,
            goal.end
        );
    }
    Ok(goal)
}
