//! `isochrone exact`: exact distances of a described or counted process.

mod log;
mod map;
mod process;
mod solve;

use super::output::StyleArgs;
use anyhow::{Context, bail};
use clap::ValueEnum;
use isochrone::{Discount, plot::Figure};
use std::{io::Write, path::PathBuf};

/// Exact distances in time: from every state to a goal, for a map, an MDP file or an event log
///
/// The distance is d = -log max E[gamma^H], with H the number of steps until the goal is reached, shown in
/// effective steps d / log(1/gamma): the true number of steps where nothing is left to chance. Every distance
/// comes with a certified bound on its error.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// A map (.txt, .map), an MDP file (.json, .npz) or an event log (.csv)
    input: PathBuf,

    /// What the input is, where its name does not say
    #[arg(long, value_enum)]
    kind: Option<Kind>,

    /// Where to go: ROW,COLUMN on a map (from 0, top left), a state or an activity otherwise. Given several
    /// times: whichever is reached first. Maps default to their G cells
    #[arg(long)]
    goal: Vec<String>,

    /// Where to start, to show one distance and the best path. Maps default to their S cell
    #[arg(long)]
    start: Option<String>,

    /// Discount: how much a step ahead counts; below 1. Long ways want it close to 1
    #[arg(long, default_value_t = 0.99, allow_negative_numbers = true)]
    gamma: f64,

    /// Maps: the probability that a move slips to one side or the other
    #[arg(long, allow_negative_numbers = true)]
    slip: Option<f64>,

    /// Distances between all pairs of states, instead of to a goal
    #[arg(long, conflicts_with_all = ["goal", "start", "plot"])]
    all_pairs: bool,

    /// How to solve; by default the structure of the process decides
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    method: MethodArg,

    /// Relative error asked for
    #[arg(long, default_value = "1e-9", allow_negative_numbers = true)]
    tolerance: f64,

    /// Duration of a step, to show seconds beside steps (maps and MDP files)
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    step_seconds: Option<f64>,

    /// Event logs: the column that tells cases apart
    #[arg(long, value_name = "COLUMN")]
    case: Option<String>,

    /// Event logs: the column that names the activity
    #[arg(long, value_name = "COLUMN")]
    activity: Option<String>,

    /// Event logs: the column with the time
    #[arg(long, value_name = "COLUMN")]
    timestamp: Option<String>,

    /// Draw a picture (.svg or .png): heat map with isochrones for maps, bars otherwise
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone exact examples/slippery-maze.txt --slip 0.2 --plot maze.svg
  isochrone exact examples/teleport-maze.txt --start 9,1 --goal 1,9
  isochrone exact examples/commute.json --goal work --json
  isochrone exact examples/orders.csv --goal delivered --plot orders.png

Maps: '#' wall, '.' free, '^>v<' one-way, equal digits teleport to each other, 'S' start, 'G' goal.
File formats: docs/guides/exact.md.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Map,
    Mdp,
    Log,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Auto,
    /// Breadth-first search: deterministic processes
    Bfs,
    /// Sparse LU: Markov chains
    Lu,
    /// Marched policy iteration: everything
    PolicyIteration,
}

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.plot.as_deref().map_or(Ok(()), Figure::check_path)?;
    check_number("--tolerance", args.tolerance, 1e-15..1.0, "1e-9 is plenty")?;
    if let Some(seconds) = args.step_seconds {
        check_number("--step-seconds", seconds, 1e-12..1e12, "a camera at 10 Hz has 0.1")?;
    }
    let kind = args.kind()?;
    args.refuse_flags_of_other_kinds(kind)?;
    match kind {
        Kind::Map => map::run(args, out),
        Kind::Mdp => process::run(args, out),
        Kind::Log => log::run(args, out),
    }
}

fn check_number(flag: &str, value: f64, range: std::ops::Range<f64>, hint: &str) -> anyhow::Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    bail!("{flag} = {value} is not between {:e} and {:e}; hint: {hint}", range.start, range.end)
}

impl Args {
    fn discount(&self) -> anyhow::Result<Discount> {
        Discount::new(self.gamma).context("--gamma")
    }

    /// The goals and the start, by what finds either from its flag and its text.
    fn ends<T>(&self, find: impl Fn(&str, &str) -> anyhow::Result<T>) -> anyhow::Result<(Vec<T>, Option<T>)> {
        let goals = self.goal.iter().map(|text| find("--goal", text)).collect::<anyhow::Result<_>>()?;
        Ok((goals, self.start.as_ref().map(|text| find("--start", text)).transpose()?))
    }

    fn extension(&self) -> String {
        self.input.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
    }

    fn kind(&self) -> anyhow::Result<Kind> {
        if let Some(kind) = self.kind {
            return Ok(kind);
        }
        match self.extension().as_str() {
            "txt" | "map" => Ok(Kind::Map),
            "json" | "npz" => Ok(Kind::Mdp),
            "csv" | "tsv" => Ok(Kind::Log),
            _ => bail!(
                "{}: cannot tell what this is from its name; hint: say --kind map, --kind mdp or --kind log",
                self.input.display()
            ),
        }
    }

    /// A flag that would do nothing is an error, not a surprise.
    fn refuse_flags_of_other_kinds(&self, kind: Kind) -> anyhow::Result<()> {
        let (is_log, is_map) = (kind == Kind::Log, kind == Kind::Map);
        let of_logs = "applies to event logs only; hint: leave it out, or say --kind log";
        let of_maps = "applies to maps only; hint: leave it out, or say --kind map";
        let own_times = "does not apply to event logs; hint: leave it out, a log has times of its own";
        let one_goal = "does not apply to event logs; hint: name an activity with --goal";
        let flags = [
            ("--case", self.case.is_some() && !is_log, of_logs),
            ("--activity", self.activity.is_some() && !is_log, of_logs),
            ("--timestamp", self.timestamp.is_some() && !is_log, of_logs),
            ("--slip", self.slip.is_some() && !is_map, of_maps),
            ("--step-seconds", self.step_seconds.is_some() && is_log, own_times),
            ("--all-pairs", self.all_pairs && is_log, one_goal),
        ];
        match flags.into_iter().find(|(_, is_wrong, _)| *is_wrong) {
            Some((flag, _, why)) => bail!("{flag} {why}"),
            None => Ok(()),
        }
    }
}
