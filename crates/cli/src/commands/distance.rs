//! `isochrone distance`: ask a run how far apart situations are.

use crate::commands::{
    goal_steps::{GoalReader, Pairs, SetArgs},
    output::{Field, Report, StyleArgs, named, refuse_existing, tell},
    query::{Asker, DistanceArg, RunArgs, parse_which},
    situations::{Goal, SYNTAX, SelectionArgs, Situations},
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

/// How far apart are two situations, in steps? Asks a trained run
///
/// The answer is recorded time: the fastest segments that were recorded between landmarks of the data, joined by short hops. `--distance learned` asks the network instead, which
/// generalizes beyond the data, but whose steps are those of the behavior. What was asked, and how far it can be trusted, goes to the standard error.
///
/// Several situations on both sides give all pairs. `end`, `success`, a slice and a file of states are sets
/// of goals: as far as their nearest state, see `--quantile` and `--each`.
#[derive(clap::Args)]
#[command(after_long_help = format!("{SYNTAX}\n\n{EXAMPLES}"))]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Where one is; may be repeated
    #[arg(long, required_unless_present = "pairs", value_name = "SITUATION", allow_hyphen_values = true)]
    from: Vec<String>,

    /// Where one wants to be; may be repeated
    #[arg(long, required_unless_present = "pairs", value_name = "SITUATION", allow_hyphen_values = true)]
    to: Vec<String>,

    /// Ask about the pairs of a CSV table with the columns from and to, each a situation
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to", "paired"])]
    pairs: Option<PathBuf>,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    sets: SetArgs,

    /// Which distance answers
    #[arg(long, value_enum, value_name = "WHICH", default_value = "refined")]
    distance: DistanceArg,

    /// The first of --from with the first of --to, the second with the second, instead of all pairs
    #[arg(long)]
    paired: bool,

    /// Logs that @EPISODE:ROW is about [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,

    /// States per second, to show seconds, whatever the data say
    #[arg(long, value_name = "RATE")]
    fps: Option<f64>,

    /// Write a table (.csv or .parquet), or the steps alone as an array [from, to] (.npy)
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "csv"])]
    output: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone distance runs/maze --from 0,0 --to 20,12
  isochrone distance runs/maze --from 0,0 --from 4,8 --to 20,12 --json
  isochrone distance runs/ant --from @0:0 --to x=20,y=12 --within 0.5     # wherever its legs are
  isochrone distance runs/robot --from @3 --to end --other-episodes       # how far from done?
  isochrone distance runs/robot --from all --to end --quantile 0.25 --other-episodes -o steps.parquet
  isochrone distance runs/robot --from all --stride 50 --to all -o matrix.npy
  isochrone distance runs/robot --pairs pairs.csv -o steps.csv

A file of pairs:
  from,to
  @3:0,@7:last
  \"0,0\",end";

/// A table of more would not fit in memory.
const MAX_PAIRS: usize = 5_000_000;
/// Nor would an array: 0.8 GB.
const MAX_ARRAY: usize = 100_000_000;

/// What is asked.
struct Question {
    from: Situations,
    goals: Vec<Goal>,
    pairs: Pairs,
}

impl Question {
    fn len(&self) -> usize {
        match &self.pairs {
            Pairs::All => self.from.len().saturating_mul(self.goals.len()),
            Pairs::Listed(pairs) => pairs.len(),
        }
    }

    /// The names of both sides of every pair.
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

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(fps) = args.fps.filter(|fps| !(fps.is_finite() && *fps > 0.0)) {
        bail!("--fps {fps}; hint: give a positive number of states per second");
    }
    let array = args.output.as_deref().map(is_array).transpose()?.unwrap_or(false);
    if let Some(file) = &args.output {
        refuse_existing(file, args.force)?;
    }
    let asker = Asker::open(&args.run, args.checkpoint, args.data.as_deref())?;
    let distance = asker.distance_of(args.distance)?;
    let question = ask(args, &asker)?;
    let (pairs, limit) = (question.len(), if array { MAX_ARRAY } else { MAX_PAIRS });
    if pairs > limit {
        bail!(
            "{pairs} pairs, more than {limit}; hint: ask in parts, take fewer with --stride, or use the library"
        );
    }
    args.sets.check(&question.goals)?;
    let fps = args.fps.or(asker.model.spec.frames_per_second);
    let reading = match args.distance {
        DistanceArg::Refined => Some(Reading::Fastest),
        DistanceArg::Typical => Some(Reading::Typical),
        _ => None,
    };
    let refined = reading.map(|reading| Ok::<_, anyhow::Error>(asker.refined()?.with_reading(reading)));
    let reader = GoalReader { distance: &*distance, refined: refined.transpose()?, sets: &args.sets };
    let steps = reader.steps(&question.from, &question.goals, &question.pairs)?;
    if reading.is_some() {
        warn_of_extrapolation(&asker, &question)?;
        if steps.iter().any(|steps: &f64| steps.is_infinite()) {
            tell(
                "warning: for some pairs no recorded path is known; hint: --distance learned estimates them",
            );
        }
    }
    let trust = asker.trust(args.distance, &*distance)?;
    tell(&trust);
    if let Some(file) = args.output.as_deref().filter(|_| array) {
        let shape = match question.pairs {
            Pairs::All => vec![question.from.len(), question.goals.len()],
            Pairs::Listed(_) => vec![steps.len()],
        };
        write_npy(file, &shape, &steps)?;
        tell(&format!("wrote {}: {shape:?} steps", file.display()));
        return Ok(());
    }
    // Nats have a meaning where a network learned them.
    let nats_per_step =
        matches!(args.distance, DistanceArg::Learned).then(|| distance.discount().nats_per_step());
    let columns = ["from", "to", "steps"].into_iter().chain(fps.map(|_| "seconds"));
    let columns = columns.chain(nats_per_step.map(|_| "nats"));
    let rows = question.names().into_iter().zip(steps).map(|((from, to), steps)| {
        let mut row = vec![Field::Text(from.to_owned()), Field::Text(to.to_owned()), Field::Number(steps, 2)];
        row.extend(fps.map(|fps| Field::Number(steps / fps, 2)));
        row.extend(nats_per_step.map(|nats| Field::Number(steps * nats, 4)));
        row
    });
    let which = args.distance.to_possible_value().expect("all are shown").get_name().to_owned();
    let facts = json!({
        "distance": which, "trust": trust, "checkpoint_step": asker.model.step, "discount": asker.run.config().discount, "frames_per_second": fps,
    });
    let report = Report::new(facts, named(columns), rows);
    match &args.output {
        Some(file) => {
            report.save(file)?;
            tell(&format!("wrote {}: {} rows", file.display(), report.rows.len()));
        }
        None => write!(out, "{}", report.print(&args.style))?,
    }
    Ok(())
}

/// Whether a name asks for an array; otherwise it asks for a table.
fn is_array(file: &Path) -> anyhow::Result<bool> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Ok(true),
        Some("csv" | "parquet") => Ok(false),
        _ => {
            bail!("--output {}: no such format; hint: end the name in .csv, .parquet or .npy", file.display())
        }
    }
}

/// What the flags, or a file of pairs, ask.
fn ask(args: &Args, asker: &Asker) -> anyhow::Result<Question> {
    let Args { from, to, selection, sets, .. } = args;
    if let Some(file) = &args.pairs {
        return of_file(args, asker, file).with_context(|| format!("--pairs {}", file.display()));
    }
    let texts: Vec<&str> = from.iter().chain(to).map(String::as_str).collect();
    selection.refuse_unused(&texts)?;
    let (from, goals) =
        (asker.situations(from, "--from", selection)?, asker.goals(to, "--to", selection, sets.each)?);
    if args.paired && from.len() != goals.len() {
        bail!("--paired with {} from and {} to; hint: give as many of each", from.len(), goals.len());
    }
    let listed = || Pairs::Listed((0..from.len()).map(|number| (number, number)).collect());
    let pairs = if args.paired { listed() } else { Pairs::All };
    Ok(Question { from, goals, pairs })
}

/// The pairs of a table: of every line one situation, and one situation or set.
fn of_file(args: &Args, asker: &Asker, file: &Path) -> anyhow::Result<Question> {
    let hint = "a table with the columns from and to; points have commas, and stand in quotes";
    let wrong = |error: csv::Error| anyhow!("{error}; hint: give {hint}");
    let mut reader = csv::Reader::from_path(file).map_err(wrong)?;
    let headers = reader.headers().map_err(wrong)?.clone();
    let column = |name: &str| {
        let found = headers.iter().position(|header| header.trim() == name);
        found.with_context(|| format!("it has no column '{name}'; hint: give {hint}"))
    };
    let columns = [column("from")?, column("to")?];
    // Texts of both sides, in the order in which they come, and their numbers.
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
            bail!("it has more than {MAX_PAIRS} pairs; hint: ask in parts");
        }
    }
    if pairs.is_empty() {
        bail!("it has no pair; hint: every line after the first is one");
    }
    let all: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    args.selection.refuse_unused(&all)?;
    let from = asker.situations(&texts[0], "from", &args.selection)?;
    let goals = asker.goals(&texts[1], "to", &args.selection, false)?;
    for (side, found) in [("from", from.len()), ("to", goals.len())] {
        let asked = &texts[usize::from(side == "to")];
        if found != asked.len() {
            bail!(
                "column '{side}' has ranges of states; hint: give one situation in each field, or a set of goals in 'to'"
            );
        }
    }
    Ok(Question { from, goals, pairs: Pairs::Listed(pairs) })
}

/// Recorded states lie among the data; points and states of files may not.
fn warn_of_extrapolation(asker: &Asker, question: &Question) -> anyhow::Result<()> {
    let goals = question.goals.iter().map(|goal| ("--to", &goal.members));
    for (flag, asked) in std::iter::once(("--from", &question.from)).chain(goals) {
        let points = asked.select((0..asked.len()).filter(|&number| asked.episodes[number].is_none()));
        let outside = asker.refined()?.extrapolates(&points.rows)?;
        if let Some(row) = outside.into_iter().position(|is_outside| is_outside) {
            tell(&format!(
                "warning: {flag} {} lies beyond the data, and the answer extrapolates; hint: --distance learned generalizes",
                points.names[row]
            ));
            // One of them shows what is meant.
            return Ok(());
        }
    }
    Ok(())
}
