//! `isochrone audit`: checks the reliability of the distances of a run or of another program.

use crate::commands::{
    device_args::DeviceArgs,
    output::{Field, Report, StyleArgs, file_name, named, note, number},
    query::{DistanceArg, LoadedRun, open_run, parse_checkpoint},
    read_args::ReadArgs,
    remote::local,
};
use anyhow::{Context as _, bail};
use clap::ValueEnum as _;
use isochrone::{
    audit::{AcrossEpisodes, Consistency, DistanceMatrix, Readings},
    data::{
        Dataset,
        formats::{Extras, Format, ReadOptions},
        tables::Matrix,
    },
    learn::model::CheckpointSelector,
    refined::{Reading, RefinedConfig, RefinedDistance},
};
use serde_json::{Value, json};
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Check how reliable the distances of a run or of another program are
///
/// Compares each distance with recorded time: its values for one recorded step, forward and
/// backward; the fraction of recorded pairs that it overestimates (by more than a quarter and five
/// steps); the fraction of random pairs that it puts closer than the fastest recorded speed allows;
/// the fraction of triangle inequality violations; and the rank correlation with recorded time over
/// random pairs of different episodes.
///
/// Distances of another program are given as a matrix in steps: entry (i, j) is the distance from
/// row i to row j. Its rows are all states of the dataset, those listed by --rows, or every Nth
/// state with --stride. With a subset of the states, the one-step columns are empty.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run directory
    #[arg(value_name = "RUN", required_unless_present = "matrix", conflicts_with = "matrix")]
    run: Option<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long, requires = "run")]
    accept_edits: bool,

    /// Dataset to compare distances with, ideally held-out episodes [default: the run's training
    /// data]
    #[arg(long, value_name = "FILE", required_unless_present = "run")]
    data: Option<PathBuf>,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    checkpoint: CheckpointSelector,

    /// Random seed for sampling pairs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Audit a matrix of distances in steps instead of a run (.npy or .csv)
    #[arg(long, value_name = "FILE", help_heading = "Matrix")]
    matrix: Option<PathBuf>,

    /// State indices of the matrix rows, counted from 0 over all episodes in order (.npy or .csv)
    #[arg(
        long,
        value_name = "FILE",
        requires = "matrix",
        conflicts_with = "stride",
        help_heading = "Matrix"
    )]
    rows: Option<PathBuf>,

    /// Use every Nth state, counted over all episodes in order, as the matrix rows
    #[arg(long, value_name = "N", requires = "matrix", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Matrix")]
    stride: Option<u64>,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    style: StyleArgs,

    #[command(flatten, next_help_heading = "Dataset of the matrix")]
    read: ReadArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone audit runs/maze
  isochrone audit runs/robot --data held-out.npz --json
  isochrone audit --matrix critic.npy --data robot.npz
  isochrone audit --matrix critic.npy --data robot.npz --rows rows.npy
  isochrone audit --matrix critic.npy --data robot.npz --stride 10

In Python, for rows of the observations of all episodes:
  rows = numpy.sort(numpy.random.choice(len(observations), 2000, replace=False))
  matrix = [[steps(observations[i], observations[j]) for j in rows] for i in rows]
  numpy.save('critic.npy', matrix)
  numpy.save('rows.npy', rows)";

/// The audited distances and their results.
struct Findings<'a> {
    recorded: &'a RefinedDistance,
    seed: u64,
    rows: Vec<Vec<Field>>,
    /// The unreliable distances, with the reasons.
    unreliable: Vec<String>,
}

impl Findings<'_> {
    /// Audits a distance. Recorded time itself is not compared with recorded time.
    fn add(&mut self, name: String, readings: &Readings<'_>, is_recorded_time: bool) {
        let found = Consistency::of_readings(readings, self.seed);
        let agreement = match is_recorded_time {
            true => f64::NAN,
            false => AcrossEpisodes::new(readings, self.recorded, self.seed).rank_correlation(readings),
        };
        let problems = found.problems(agreement);
        if !problems.is_empty() {
            self.unreliable.push(format!("{name}: {}", problems.join("; ")));
        }
        self.rows.push(vec![
            Field::Text(name),
            number(found.one_step.is_finite().then_some(found.one_step), 2),
            number(found.one_step_back.is_finite().then_some(found.one_step_back), 2),
            Field::Number(found.above_recorded_lag, 3),
            Field::Number(found.below_speed_limit, 3),
            Field::Number(found.triangle_violations, 3),
            Field::Number(found.largest_self_distance, 2),
            number(agreement.is_finite().then_some(agreement), 3),
        ]);
    }

    fn print(self, mut facts: Value, style: &StyleArgs, out: &mut dyn Write) -> anyhow::Result<()> {
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
        facts["seed"] = json!(self.seed);
        facts["untrusted"] = json!(self.unreliable);
        write!(out, "{}", Report::new(facts, named(columns), self.rows).print(style))?;
        if style.is_text() {
            self.unreliable.iter().try_for_each(|line| writeln!(out, "do not trust {line}"))?;
        }
        Ok(())
    }
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match (&args.run, &args.matrix, &args.data) {
        (Some(run), _, _) => audit_run(args, run, out),
        (None, Some(matrix), Some(data)) => audit_matrix(args, matrix, data, out),
        _ => bail!("no RUN given, and no --matrix with --data; hint: see isochrone audit --help"),
    }
}

fn audit_run(args: &Args, folder: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.read.options() != ReadOptions::default() {
        bail!("a run has its own settings for reading data; hint: use these flags with --matrix only");
    }
    let run = open_run(folder, args.accept_edits)?;
    let loaded = LoadedRun::of(run, args.checkpoint, None, args.device.device)?;
    // The distances are those of the run, whichever dataset they are compared with.
    let held_out = args.data.as_deref().map(|path| loaded.other_data(path)).transpose()?;
    let data = held_out.as_ref().map_or_else(|| loaded.data(), Ok)?;
    let learns = loaded.model.distance.is_some();
    let mut findings =
        Findings { recorded: loaded.refined()?, seed: args.seed, rows: Vec::new(), unreliable: Vec::new() };
    for &which in DistanceArg::value_variants() {
        if !learns && matches!(which, DistanceArg::Learned | DistanceArg::Calibrated) {
            continue;
        }
        if which == DistanceArg::Distilled && !loaded.has_distilled() {
            continue;
        }
        let name = which.to_possible_value().expect("all are shown").get_name().to_owned();
        let distance = loaded.distance_of(which)?;
        findings.add(name, &Readings::of_distance(&*distance, data), which == DistanceArg::Refined);
    }
    let facts =
        json!({ "run": folder, "checkpoint_step": loaded.model.step, "data_sha256": data.content_hash() });
    findings.print(facts, &args.style, out)
}

fn audit_matrix(args: &Args, file: &Path, path: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let matrix = Matrix::read(file)?;
    let (n, name) = (matrix.n_rows(), file.display());
    if n != matrix.width || n == 0 {
        bail!(
            "{name}: {n} rows of {} numbers; hint: a distance matrix has one row and one column per state",
            matrix.width
        );
    }
    let path = &*local(path)?;
    args.read.refuse_flags_of_other_formats(Format::detect(path)?)?;
    let read = ReadOptions { extras: Extras::Named(Vec::new()), ..args.read.options() };
    let data = Dataset::load(path, &read)?;
    if data.n_transitions() == 0 {
        bail!("{}: no transitions; hint: see its contents with isochrone data inspect", path.display());
    }
    let states = states(args, &data)?;
    if states.len() != n {
        let hint = match (&args.rows, args.stride) {
            (None, None) => "specify its states with --rows or --stride",
            _ => "give one row and one column per state",
        };
        bail!("{name}: {n} rows, but there are {} states; hint: {hint}", states.len());
    }
    let matrix = DistanceMatrix::new(&data, &states, matrix.values).with_context(|| name.to_string())?;
    let recorded = RefinedDistance::fit(&data, &RefinedConfig::default())?;
    let mut findings =
        Findings { recorded: &recorded, seed: args.seed, rows: Vec::new(), unreliable: Vec::new() };
    findings.add(file_name(file), &Readings::of_matrix(&matrix, &data), false);
    for (name, reading) in [("refined", Reading::Fastest), ("typical", Reading::Typical)] {
        let readings = recorded.with_reading(reading);
        let is_recorded_time = reading == Reading::Fastest;
        findings.add(name.to_owned(), &Readings::of_distance(&readings, &data), is_recorded_time);
    }
    note(&format!("{name}: distances between {n} of {} recorded states", data.index().n_states()));
    let facts = json!({ "matrix": file, "states": n, "data_sha256": data.content_hash() });
    findings.print(facts, &args.style, out)
}

/// Returns the state indices of the matrix rows.
fn states(args: &Args, data: &Dataset) -> anyhow::Result<Vec<u64>> {
    let n_states = data.index().n_states();
    let Some(file) = &args.rows else {
        return Ok((0..n_states).step_by(args.stride.unwrap_or(1) as usize).collect());
    };
    let rows = Matrix::read(file)?;
    if rows.n_rows() > 1 && rows.width > 1 {
        bail!("{}: {} columns; hint: give one state index per row", file.display(), rows.width);
    }
    let state = |(row, &value): (usize, &f64)| {
        let is_state = value >= 0.0 && value.fract() == 0.0 && value < n_states as f64;
        is_state.then_some(value as u64).with_context(|| {
            format!("{}: row {row} is {value}; hint: state indices are 0 to {}", file.display(), n_states - 1)
        })
    };
    rows.values.iter().enumerate().map(state).collect()
}
