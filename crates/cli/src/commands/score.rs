//! `isochrone score`: distances for every row of a Parquet dataset of any size.

use crate::commands::{
    device_args::DeviceArgs,
    output::{Field, Report, StyleArgs, bar, named, note},
    query::{DistanceArg, LoadedRun, open_run, parse_checkpoint},
    read_args::trimmed,
    remote::local,
    states::{SelectionArgs, point},
};
use anyhow::{Context as _, bail};
use clap::ValueEnum as _;
use isochrone::{
    TemporalDistance,
    data::{
        file_sha256, sha256,
        shards::{Keep, Part, Shards},
    },
    learn::{distill::DistilledDistance, model::CheckpointSelector},
    refined::{GraphPart, Reading, RefinedDistance},
    score::{ScoreGoal, Scored, Scoring},
};
use serde_json::json;
use std::{io::Write, path::PathBuf, time::Instant};

/// Compute the distance to a goal for every row of a Parquet dataset of any size
///
/// Writes the rows with the additional column `distance_steps` (and `distance_seconds`, if the
/// frame rate is known) to the folder OUT: one Parquet file per file of IN, or several per large
/// file. The rows of a file keep their order. A distance is missing where the state or the goal has
/// missing values.
///
/// `--part I/N` computes one of N parts, so that N jobs on any machines that share the files divide
/// the work. The output does not depend on N. Every file is written atomically, and a file that is
/// complete is skipped: start a job that was killed again with the same arguments.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Parquet file, folder of Parquet files, or pattern such as 'data/*.parquet'
    #[arg(value_name = "IN")]
    dataset: PathBuf,

    /// Output directory
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Run directory with the distance
    #[arg(long, value_name = "RUN", required_unless_present = "graph")]
    run: Option<PathBuf>,

    /// Graph of isochrone graph merge with the distance, instead of a run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "distance", "checkpoint", "accept_edits", "within"])]
    graph: Option<PathBuf>,

    /// Goal of all rows: a state or goal set as in isochrone distance, or last for the last state
    /// of each row's episode
    #[arg(long, value_name = "STATE", allow_hyphen_values = true, required_unless_present = "goals")]
    to: Option<String>,

    /// Columns with the goal of each row, in the order of the observation
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with = "to")]
    goals: Vec<String>,

    /// Maximum distance to the values of a slice such as x=1.5,y=2, in the units of its columns
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f64>,

    /// Part I of N, counted from 1
    #[arg(long, value_name = "I/N", default_value_t = Part::ALL)]
    part: Part,

    /// Distance of the run to use
    #[arg(long, value_enum, value_name = "NAME", default_value = "refined")]
    distance: DistanceArg,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    checkpoint: CheckpointSelector,

    #[command(flatten)]
    device: DeviceArgs,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,

    /// Columns of the observation, in this order [default: those of the run or graph]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    observations: Vec<String>,

    /// Column with the episode identifier; the rows of an episode follow each other [default: that
    /// of the run or graph]
    #[arg(long, value_name = "COLUMN")]
    episode: Option<String>,

    /// Columns to keep beside the distance: all, none, or names
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', default_value = "all")]
    keep: Vec<String>,

    /// Frame rate in states per second, to write seconds; overrides that of the run
    #[arg(long, value_name = "FPS", allow_negative_numbers = true)]
    fps: Option<f64>,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone score logs scored --run runs/robot --to last --distance learned
  isochrone score 'logs/*.parquet' scored --run runs/maze --to 20,12 --keep episode,step
  isochrone score logs scored --run runs/maze --goals goal_x,goal_y --part 3/64
  isochrone score logs scored --graph graph.parquet --to last --json";

/// The text of `--to` for the last state of each row's episode.
const LAST: &str = "last";

/// What computes distances.
enum Source {
    Run(Box<LoadedRun>),
    Graph { distance: RefinedDistance, columns: (Vec<String>, Option<String>), key: String },
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(fps) = args.fps.filter(|fps| !(fps.is_finite() && *fps > 0.0)) {
        bail!("--fps {fps}; hint: give a positive number of states per second");
    }
    let to_slice = args.to.as_deref().is_some_and(|to| to.contains('='));
    if args.within.is_some() && !to_slice {
        bail!("--within does not apply; hint: use it with a slice such as x=1.5,y=2");
    }
    let shards = Shards::open(&local(&args.dataset)?)?;
    let source = source(args)?;
    let distance = source.distance(args)?;
    // Goal sets have a faster method if the distance is a refined one.
    let refined = source.refined(args)?;
    let (mut key, goal_set);
    let mut to_set = None;
    key = source.key(args)?;
    let goal = match args.to.as_deref() {
        None => ScoreGoal::Columns(trimmed(&args.goals)),
        Some(LAST) => ScoreGoal::LastState,
        Some(to) => {
            let states = source.goal_states(to, args.within, distance.width())?;
            let bytes: Vec<u8> = states.iter().flat_map(|value| value.to_le_bytes()).collect();
            key += &format!(", to {to} ({})", sha256(&bytes));
            match refined.as_ref().filter(|_| states.len() > distance.width()) {
                Some(refined) => {
                    goal_set = refined.goal_set(&states)?;
                    let steps = |from: &[f32]| {
                        refined.steps_to_set(from, &goal_set).expect("rows have the width of the distance")
                    };
                    ScoreGoal::Steps(to_set.insert(steps))
                }
                None => ScoreGoal::Nearest(states),
            }
        }
    };
    let (observations, episode) = source.columns(args);
    let scoring = Scoring {
        distance: &*distance,
        key,
        goal,
        observations,
        episode,
        keep: keep(&args.keep),
        frames_per_second: args.fps.or(source.frames_per_second()),
    };
    let rows: u64 = shards.units(args.part).iter().map(|unit| unit.rows).sum();
    let bar = bar(rows as usize, "{bar:24} {human_pos}/{human_len} rows  {per_sec}  {eta} left");
    let began = Instant::now();
    let scored = scoring.run(&shards, args.part, &args.output, |scored| bar.set_position(scored.rows));
    bar.finish_and_clear();
    report(args, scored?, began.elapsed().as_secs_f64(), out)
}

fn report(args: &Args, scored: Scored, seconds: f64, out: &mut dyn Write) -> anyhow::Result<()> {
    if scored.skipped_units > 0 {
        note(&format!("{} of {} files were complete already", scored.skipped_units, scored.units));
    }
    let new_rows = scored.rows - scored.skipped_rows;
    let columns = ["part", "files", "skipped_files", "rows", "skipped_rows", "seconds", "rows_per_second"];
    let row = vec![
        Field::Text(args.part.to_string()),
        Field::Count(scored.units),
        Field::Count(scored.skipped_units),
        Field::Count(scored.rows as usize),
        Field::Count(scored.skipped_rows as usize),
        Field::Number(seconds, 2),
        Field::Number(new_rows as f64 / seconds.max(1e-9), 0),
    ];
    let facts = json!({ "output": args.output });
    Ok(write!(out, "{}", Report::new(facts, named(columns), [row]).print(&args.style))?)
}

fn keep(names: &[String]) -> Keep {
    match &trimmed(names)[..] {
        [all] if all == "all" => Keep::All,
        [none] if none == "none" => Keep::Named(Vec::new()),
        names => Keep::Named(names.to_vec()),
    }
}

fn source(args: &Args) -> anyhow::Result<Source> {
    if let Some(path) = &args.graph {
        let (_, hash) = file_sha256(path).with_context(|| {
            format!("{}: cannot be read; hint: give a file of isochrone graph merge", path.display())
        })?;
        let key = format!("graph {hash}");
        let graph = GraphPart::open(path)?;
        let columns = graph.landmarks().columns();
        let distance = graph.distance().with_context(|| path.display().to_string())?;
        return Ok(Source::Graph { distance, columns: (columns.observations, columns.episode), key });
    }
    let run = args.run.as_deref().context("--run is missing; hint: give a run directory")?;
    let loaded = LoadedRun::of(open_run(run, args.accept_edits)?, args.checkpoint, None, args.device.device)?;
    Ok(Source::Run(Box::new(loaded)))
}

impl Source {
    fn distance(&self, args: &Args) -> anyhow::Result<Box<dyn TemporalDistance + '_>> {
        match self {
            Self::Run(loaded) => loaded.distance_of(args.distance),
            // A reference would compute steps from nats, with rounding.
            Self::Graph { distance, .. } => Ok(Box::new(distance.clone())),
        }
    }

    fn refined(&self, args: &Args) -> anyhow::Result<Option<RefinedDistance>> {
        Ok(match (self, args.distance) {
            (Self::Graph { distance, .. }, _) => Some(distance.clone()),
            (Self::Run(loaded), DistanceArg::Refined) => Some(loaded.refined()?.clone()),
            (Self::Run(loaded), DistanceArg::Typical) => {
                Some(loaded.refined()?.with_reading(Reading::Typical))
            }
            _ => None,
        })
    }

    /// Identifies the distance.
    fn key(&self, args: &Args) -> anyhow::Result<String> {
        let loaded = match self {
            Self::Graph { key, .. } => return Ok(key.clone()),
            Self::Run(loaded) => loaded,
        };
        let data = &loaded.run.manifest().data.content_hash;
        let model = || loaded.run.checkpoints().model_sha256(loaded.model.step);
        let name = args.distance.to_possible_value().expect("all are shown").get_name().to_owned();
        Ok(match args.distance {
            DistanceArg::Refined | DistanceArg::Typical => format!("{name}, data {data}"),
            DistanceArg::Learned => format!("{name}, model {}", model()?),
            DistanceArg::Calibrated => format!("{name}, model {}, data {data}", model()?),
            DistanceArg::Distilled => {
                let path = loaded.run.folder().join(DistilledDistance::FILE_NAME);
                let (_, hash) =
                    file_sha256(&path).with_context(|| format!("{}; hint: check the run", path.display()))?;
                format!("{name}, model {hash}")
            }
        })
    }

    /// Returns the states of a goal or goal set, `[n, width]`.
    fn goal_states(&self, to: &str, within: Option<f64>, width: usize) -> anyhow::Result<Vec<f32>> {
        match self {
            // The hint of `point` lists goal sets, which need the data of a run.
            Self::Graph { .. } => point(to, width).ok().with_context(|| {
                format!("--to {to}: not a goal for --graph; hint: give {width} numbers, or last; for goal sets, use --run")
            }),
            Self::Run(loaded) => {
                let selection = SelectionArgs::within(within);
                let goals = loaded.goals(&[to.to_owned()], "--to", &selection, false)?;
                match &goals[..] {
                    [goal] => Ok(goal.members.rows.clone()),
                    _ => {
                        bail!("--to {to}: {} states; hint: give one, like @0:10, or a goal set", goals.len())
                    }
                }
            }
        }
    }

    /// Returns the columns of observations, and the column of episodes.
    fn columns(&self, args: &Args) -> (Vec<String>, Option<String>) {
        let (observations, episode) = match self {
            Self::Run(loaded) => {
                let read = &loaded.run.config().data.read;
                (read.observations.clone(), read.episode.clone())
            }
            Self::Graph { columns, .. } => columns.clone(),
        };
        let given = trimmed(&args.observations);
        (if given.is_empty() { observations } else { given }, args.episode.clone().or(episode))
    }

    fn frames_per_second(&self) -> Option<f64> {
        match self {
            Self::Run(loaded) => loaded.model.spec.frames_per_second,
            Self::Graph { .. } => None,
        }
    }
}
