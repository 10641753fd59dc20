//! `isochrone distance`: distances between states, from a trained run.

use crate::commands::{
    device_args::DeviceArgs,
    goal_steps::{GoalSteps, Pairs, SetArgs},
    output::{Field, Report, StyleArgs, named, note, refuse_existing},
    query::{DistanceArg, LoadedRun, RunArgs, parse_checkpoint},
    states::{Goal, QueryStates, SYNTAX, SelectionArgs},
};
use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum as _;
use isochrone::{data::tables::write_npy, learn::model::CheckpointSelector, refined::Reading};
use serde_json::json;
use std::{
    collections::HashMap,
    io::Write,
    path::{Path, PathBuf},
};

/// Compute distances in steps between states, using a trained run
///
/// By default, the distance is recorded time: the fastest recorded segments between landmarks of
/// the dataset, joined by short connections. `--distance learned` uses the network instead: for
/// CMD and CRL, steps under the behavior policy. The distance used and its reliability are printed
/// to standard error.
///
/// Several states on both sides give all pairs. `end`, `success`, a slice and a file of states are
/// goal sets: the distance to a set is the distance to its nearest state, see `--quantile` and
/// `--each`.
#[derive(clap::Args)]
#[command(after_help = format!("{SYNTAX}\n\n{EXAMPLES}"))]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Start state; may be repeated
    #[arg(long, required_unless_present = "pairs", value_name = "STATE", allow_hyphen_values = true)]
    from: Vec<String>,

    /// Goal state or goal set; may be repeated
    #[arg(long, required_unless_present = "pairs", value_name = "STATE", allow_hyphen_values = true)]
    to: Vec<String>,

    /// CSV table of pairs, with the columns from and to
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to", "paired"])]
    pairs: Option<PathBuf>,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    sets: SetArgs,

    /// Distance to use
    #[arg(long, value_enum, value_name = "NAME", default_value = "refined")]
    distance: DistanceArg,

    /// Pair the first --from with the first --to, the second with the second, and so on, instead of
    /// all pairs
    #[arg(long)]
    paired: bool,

    /// Dataset that @EPISODE:ROW refers to [default: the run's training data]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    checkpoint: CheckpointSelector,

    /// Frame rate in states per second, to print seconds; overrides that of the data
    #[arg(long, value_name = "FPS")]
    fps: Option<f64>,

    /// Output file: a table (.csv or .parquet), or only the steps as an array [from, to] (.npy)
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "csv"])]
    output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone distance runs/maze --from 0,0 --to 20,12
  isochrone distance runs/maze --from 0,0 --from 4,8 --to 20,12 --json
  isochrone distance runs/ant --from @0:0 --to x=20,y=12 --within 0.5     # any pose of the legs
  isochrone distance runs/robot --from @3 --to end --other-episodes       # steps to completion
  isochrone distance runs/robot --from all --to end --quantile 0.25 \\
    --other-episodes -o steps.parquet
  isochrone distance runs/robot --from all --stride 50 --to all -o matrix.npy
  isochrone distance runs/robot --pairs pairs.csv -o steps.csv

A file of pairs:
  from,to
  @3:0,@7:last
  \"0,0\",end";

/// The maximum number of pairs of a table, so that it fits in memory.
const MAX_PAIRS: usize = 5_000_000;
/// The maximum number of pairs of an array: 0.8 GB.
const MAX_ARRAY: usize = 100_000_000;

/// The states, goals and pairs of a query.
struct Query {
    from: QueryStates,
    goals: Vec<Goal>,
    pairs: Pairs,
}

impl Query {
    fn len(&self) -> usize {
        match &self.pairs {
            Pairs::All => self.from.len().saturating_mul(self.goals.len()),
            Pairs::Listed(pairs) => pairs.len(),
        }
    }

    /// Returns the names of both sides of every pair.
    fn names(&self) -> Vec<(&str, &str)> {
        let name = |from: usize, to: usize| (self.from.names[from].as_str(), self.goals[to].name.as_str());
        match &self.pairs {
            Pairs::All => (0..self.from.len())
                .flat_map(|from| (0..self.goals.len()).map(move |to| name(from, to)))
                .collect(),
            Pairs::Listed(pairs) => pairs.iter().map(|&(from, to)| name(from, to)).collect(),
        }
    }
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(fps) = args.fps.filter(|fps| !(fps.is_finite() && *fps > 0.0)) {
        bail!("--fps {fps}; hint: give a positive number of states per second");
    }
    let array = args.output.as_deref().map(is_array).transpose()?.unwrap_or(false);
    if let Some(file) = &args.output {
        refuse_existing(file, args.force)?;
    }
    let loaded = LoadedRun::open(&args.run, args.checkpoint, args.data.as_deref(), args.device.device)?;
    let distance = loaded.distance_of(args.distance)?;
    let query = build_query(args, &loaded)?;
    let (pairs, limit) = (query.len(), if array { MAX_ARRAY } else { MAX_PAIRS });
    if pairs > limit {
        bail!(
            "{pairs} pairs, more than {limit}; hint: split the query, take fewer states with --stride, or use the library"
        );
    }
    args.sets.check(&query.goals)?;
    let fps = args.fps.or(loaded.model.spec.frames_per_second);
    let reading = match args.distance {
        DistanceArg::Refined => Some(Reading::Fastest),
        DistanceArg::Typical => Some(Reading::Typical),
        _ => None,
    };
    let refined = reading.map(|reading| Ok::<_, anyhow::Error>(loaded.refined()?.with_reading(reading)));
    let goal_steps = GoalSteps { distance: &*distance, refined: refined.transpose()?, sets: &args.sets };
    let steps = goal_steps.steps(&query.from, &query.goals, &query.pairs)?;
    if let Some(pair) = steps.iter().position(|steps| steps.is_nan()) {
        let (from, to) = query.names()[pair];
        bail!(
            "the distance from {from} to {to} is not a number; hint: give states in the range of the data, see isochrone data inspect"
        );
    }
    if reading.is_some() {
        warn_of_extrapolation(&loaded, &query)?;
        if steps.iter().any(|steps: &f64| steps.is_infinite()) {
            note("warning: some pairs have no recorded path; hint: --distance learned estimates them");
        }
    }
    let trust = loaded.trust(args.distance, &*distance)?;
    note(&trust);
    if let Some(file) = args.output.as_deref().filter(|_| array) {
        let shape = match query.pairs {
            Pairs::All => vec![query.from.len(), query.goals.len()],
            Pairs::Listed(_) => vec![steps.len()],
        };
        write_npy(file, &shape, &steps)?;
        note(&format!("wrote {}: {shape:?} steps", file.display()));
        return Ok(());
    }
    // Nats are meaningful only for the distance that a network learned.
    let nats_per_step =
        matches!(args.distance, DistanceArg::Learned).then(|| distance.discount().nats_per_step());
    let columns = ["from", "to", "steps"].into_iter().chain(fps.map(|_| "seconds"));
    let columns = columns.chain(nats_per_step.map(|_| "nats"));
    let rows = query.names().into_iter().zip(steps).map(|((from, to), steps)| {
        let mut row = vec![Field::Text(from.to_owned()), Field::Text(to.to_owned()), Field::Number(steps, 2)];
        row.extend(fps.map(|fps| Field::Number(steps / fps, 2)));
        row.extend(nats_per_step.map(|nats| Field::Number(steps * nats, 4)));
        row
    });
    let which = args.distance.to_possible_value().expect("all are shown").get_name().to_owned();
    let facts = json!({
        "distance": which, "trust": trust, "checkpoint_step": loaded.model.step, "discount": loaded.run.config().discount, "frames_per_second": fps,
    });
    let report = Report::new(facts, named(columns), rows);
    match &args.output {
        Some(file) => {
            report.save(file)?;
            note(&format!("wrote {}: {} rows", file.display(), report.rows.len()));
        }
        None => write!(out, "{}", report.print(&args.style))?,
    }
    Ok(())
}

/// Returns whether the file name selects an array (.npy) instead of a table.
fn is_array(file: &Path) -> anyhow::Result<bool> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Ok(true),
        Some("csv" | "parquet") => Ok(false),
        _ => {
            bail!(
                "--output {}: unknown format; hint: use the extension .csv, .parquet or .npy",
                file.display()
            )
        }
    }
}

/// Builds the query from the flags or from a file of pairs.
fn build_query(args: &Args, loaded: &LoadedRun) -> anyhow::Result<Query> {
    let Args { from, to, selection, sets, .. } = args;
    if let Some(file) = &args.pairs {
        return read_pairs(args, loaded, file).with_context(|| format!("--pairs {}", file.display()));
    }
    let texts: Vec<&str> = from.iter().chain(to).map(String::as_str).collect();
    selection.refuse_unused(&texts)?;
    let (from, goals) =
        (loaded.query_states(from, "--from", selection)?, loaded.goals(to, "--to", selection, sets.each)?);
    if args.paired && from.len() != goals.len() {
        bail!(
            "--paired with {} --from and {} --to states; hint: give the same number of each",
            from.len(),
            goals.len()
        );
    }
    let listed = || Pairs::Listed((0..from.len()).map(|number| (number, number)).collect());
    let pairs = if args.paired { listed() } else { Pairs::All };
    Ok(Query { from, goals, pairs })
}

/// Reads pairs from a table: each line has a start state, and a goal state or goal set.
fn read_pairs(args: &Args, loaded: &LoadedRun, file: &Path) -> anyhow::Result<Query> {
    let hint = "a table with the columns from and to; quote points, because they contain commas";
    let wrong = |error: csv::Error| anyhow!("{error}; hint: give {hint}");
    let mut reader = csv::Reader::from_path(file).map_err(wrong)?;
    let headers = reader.headers().map_err(wrong)?.clone();
    let column = |name: &str| {
        let found = headers.iter().position(|header| header.trim() == name);
        found.with_context(|| format!("no column '{name}'; hint: give {hint}"))
    };
    let columns = [column("from")?, column("to")?];
    // The distinct texts of both sides in order of appearance, and their indices.
    let mut texts: [Vec<String>; 2] = Default::default();
    let mut numbers: [HashMap<String, usize>; 2] = Default::default();
    let mut pairs = Vec::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let pair = [0, 1].map(|side| {
            let text = record.get(columns[side]).unwrap_or_default().trim();
            *numbers[side].entry(text.to_owned()).or_insert_with(|| {
                texts[side].push(text.to_owned());
                texts[side].len() - 1
            })
        });
        pairs.push((pair[0], pair[1]));
        if pairs.len() > MAX_PAIRS {
            bail!("more than {MAX_PAIRS} pairs; hint: split the file");
        }
    }
    if pairs.is_empty() {
        bail!("no pairs; hint: write one pair per line after the header");
    }
    let all: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    args.selection.refuse_unused(&all)?;
    let from = loaded.query_states(&texts[0], "from", &args.selection)?;
    let goals = loaded.goals(&texts[1], "to", &args.selection, false)?;
    for (side, found) in [("from", from.len()), ("to", goals.len())] {
        let side_texts = &texts[usize::from(side == "to")];
        if found != side_texts.len() {
            bail!(
                "column '{side}' has ranges of states; hint: give one state per field, or a goal set in 'to'"
            );
        }
    }
    Ok(Query { from, goals, pairs: Pairs::Listed(pairs) })
}

/// Warns about points and states of files that lie outside the data; recorded states cannot.
fn warn_of_extrapolation(loaded: &LoadedRun, query: &Query) -> anyhow::Result<()> {
    let goals = query.goals.iter().map(|goal| ("--to", &goal.members));
    for (flag, states) in std::iter::once(("--from", &query.from)).chain(goals) {
        let points = states.select((0..states.len()).filter(|&number| states.episodes[number].is_none()));
        let outside = loaded.refined()?.extrapolates(&points.rows)?;
        if let Some(row) = outside.into_iter().position(|is_outside| is_outside) {
            note(&format!(
                "warning: {flag} {} lies outside the data, so the distance is an extrapolation; hint: compare it with --distance learned",
                points.names[row]
            ));
            // One example is enough.
            return Ok(());
        }
    }
    Ok(())
}
