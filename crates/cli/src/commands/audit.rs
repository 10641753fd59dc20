//! `isochrone audit`: how far the distances of a run, or of any other program, can be trusted.

use crate::commands::{
    output::{Field, Report, StyleArgs, file_name, named, number, tell},
    query::{Asker, DistanceArg, open_run, parse_which},
    read_args::ReadArgs,
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

/// Says how far the distances of a run, or of any other program, can be trusted
///
/// Every distance is held against the record: what one recorded step reads, forward and back; how many recorded pairs read longer than they took (by more than a quarter and five steps), how many random pairs read shorter than
/// anybody ever was; how often the triangle inequality breaks; and how its order of random pairs agrees with recorded time between them.
///
/// The distances of another program are given as a matrix in steps: entry (i, j) leads from row i to row j.
/// Its rows are all states of the data, those that --rows lists, or every Nth with
/// --stride. Where rows are left out, nothing is said about one step.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// The folder of a run
    #[arg(value_name = "RUN", required_unless_present = "matrix", conflicts_with = "matrix")]
    run: Option<PathBuf>,

    /// Ask it although its config.toml or manifest.json was edited
    #[arg(long, requires = "run")]
    accept_edits: bool,

    /// Logs to hold distances against, best of other episodes [default: those that the run learned from]
    #[arg(long, value_name = "FILE", required_unless_present = "run")]
    data: Option<PathBuf>,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,

    /// Random seed for sampling pairs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Audit a matrix of distances in steps instead of a run (.npy or .csv)
    #[arg(long, value_name = "FILE", help_heading = "Matrix")]
    matrix: Option<PathBuf>,

    /// The states of its rows, counted from 0 over all episodes one after another (.npy or .csv)
    #[arg(
        long,
        value_name = "FILE",
        requires = "matrix",
        conflicts_with = "stride",
        help_heading = "Matrix"
    )]
    rows: Option<PathBuf>,

    /// Its rows are every Nth state of the data, all episodes one after another
    #[arg(long, value_name = "N", requires = "matrix", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Matrix")]
    stride: Option<u64>,

    #[command(flatten)]
    style: StyleArgs,

    #[command(flatten, next_help_heading = "Data of a matrix")]
    read: ReadArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone audit runs/maze
  isochrone audit runs/robot --data held-out.npz --json
  isochrone audit --matrix critic.npy --data robot.npz
  isochrone audit --matrix critic.npy --data robot.npz --rows rows.npy

In Python, for rows of the observations of all episodes:
  rows = numpy.sort(numpy.random.choice(len(observations), 2000, replace=False))
  numpy.save('critic.npy', [[steps(observations[i], observations[j]) for j in rows] for i in rows])
  numpy.save('rows.npy', rows)";

/// Distances and what was found of each.
struct Findings<'a> {
    recorded: &'a RefinedDistance,
    seed: u64,
    rows: Vec<Vec<Field>>,
    /// Which distances not to trust, and why.
    unreliable: Vec<String>,
}

impl Findings<'_> {
    /// Looks at a distance; recorded time itself is not compared with recorded time.
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
        facts["not_to_be_trusted"] = json!(self.unreliable);
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
        (Some(run), _, _) => of_run(args, run, out),
        (None, Some(matrix), Some(data)) => of_matrix(args, matrix, data, out),
        _ => bail!("neither a run nor a matrix with its --data; hint: see isochrone audit --help"),
    }
}

fn of_run(args: &Args, folder: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.read.options() != ReadOptions::default() {
        bail!("a run knows how its data are read; hint: flags of the data belong to --matrix");
    }
    let run = open_run(folder, args.accept_edits)?;
    let asker = Asker::of(run, args.checkpoint, None)?;
    // Distances are those of the run, whatever they are held against.
    let held_out = args.data.as_deref().map(|path| asker.other_data(path)).transpose()?;
    let data = held_out.as_ref().map_or_else(|| asker.data(), Ok)?;
    let learns = asker.model.distance.is_some();
    let mut findings =
        Findings { recorded: asker.refined()?, seed: args.seed, rows: Vec::new(), unreliable: Vec::new() };
    for &which in DistanceArg::value_variants() {
        if !learns && matches!(which, DistanceArg::Learned | DistanceArg::Calibrated) {
            continue;
        }
        if which == DistanceArg::Distilled && !asker.has_distilled() {
            continue;
        }
        let name = which.to_possible_value().expect("all are shown").get_name().to_owned();
        let distance = asker.distance_of(which)?;
        findings.add(name, &Readings::of_distance(&*distance, data), which == DistanceArg::Refined);
    }
    let facts =
        json!({ "run": folder, "checkpoint_step": asker.model.step, "data_sha256": data.content_hash() });
    findings.print(facts, &args.style, out)
}

fn of_matrix(args: &Args, file: &Path, data: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let matrix = Matrix::read(file)?;
    let (n, name) = (matrix.n_rows(), file.display());
    if n != matrix.width || n == 0 {
        bail!(
            "{name}: {n} rows of {} numbers; hint: a distance matrix has a row and a column for each state",
            matrix.width
        );
    }
    args.read.refuse_flags_of_other_formats(Format::detect(data)?)?;
    let read = ReadOptions { extras: Extras::Named(Vec::new()), ..args.read.options() };
    let data = Dataset::load(data, &read)?;
    if data.n_transitions() == 0 {
        bail!("the data have no transition; hint: isochrone data inspect shows what is in them");
    }
    let states = states(args, &data)?;
    if states.len() != n {
        let hint = match (&args.rows, args.stride) {
            (None, None) => "name its states with --rows or --stride",
            _ => "give a row and a column for each of them",
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
    tell(&format!("{name}: distances between {n} of {} recorded states", data.index().n_states()));
    let facts = json!({ "matrix": file, "states": n, "data_sha256": data.content_hash() });
    findings.print(facts, &args.style, out)
}

/// The states that the rows of the matrix are about.
fn states(args: &Args, data: &Dataset) -> anyhow::Result<Vec<u64>> {
    let n_states = data.index().n_states();
    let Some(file) = &args.rows else {
        return Ok((0..n_states).step_by(args.stride.unwrap_or(1) as usize).collect());
    };
    let rows = Matrix::read(file)?;
    if rows.n_rows() > 1 && rows.width > 1 {
        bail!("{}: {} columns; hint: give the number of one state in each row", file.display(), rows.width);
    }
    let state = |(row, &value): (usize, &f64)| {
        let is_state = value >= 0.0 && value.fract() == 0.0 && value < n_states as f64;
        is_state.then_some(value as u64).with_context(|| {
            format!(
                "{}: row {row} is {value}; hint: states are counted from 0 to {}",
                file.display(),
                n_states - 1
            )
        })
    };
    rows.values.iter().enumerate().map(state).collect()
}
