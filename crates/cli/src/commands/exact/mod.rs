//! `isochrone exact`: exact distances for maps, MDP files and event logs.

mod log;
mod map;
mod process;
mod solve;

use super::output::StyleArgs;
use anyhow::{Context, bail};
use clap::ValueEnum;
use isochrone::{Discount, plot::Figure};
use std::{io::Write, path::PathBuf};

/// Compute exact distances to a goal for a map, an MDP file or an event log
///
/// The distance is d = -log max E[gamma^H], where H is the number of steps until the goal is
/// reached. It is printed in effective steps d / log(1/gamma), which is the true number of steps in
/// deterministic processes. Every distance has a certified error bound.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Input: a map (.txt, .map), an MDP file (.json, .npz) or an event log (.csv)
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// Kind of the input [default: detected from its name]
    #[arg(long, value_enum)]
    kind: Option<Kind>,

    /// Goal: ROW,COLUMN on a map (from 0 at the top left), otherwise a state or an activity; if
    /// repeated, the goal reached first counts [default for maps: G cells]
    #[arg(long, value_name = "STATE")]
    goal: Vec<String>,

    /// Start, to print its distance and the optimal path [default for maps: S cell]
    #[arg(long, value_name = "STATE")]
    start: Option<String>,

    /// Discount factor, below 1; long distances need a value close to 1
    #[arg(long, value_name = "GAMMA", default_value_t = 0.99, allow_negative_numbers = true)]
    gamma: f64,

    /// Maps: probability that a move slips to either side
    #[arg(long, value_name = "PROBABILITY", allow_negative_numbers = true)]
    slip: Option<f64>,

    /// Compute distances between all pairs of states instead of to a goal
    #[arg(long, conflicts_with_all = ["goal", "start", "plot"])]
    all_pairs: bool,

    /// Solver; auto chooses by the structure of the process
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    method: MethodArg,

    /// Relative error tolerance
    #[arg(long, default_value = "1e-9", allow_negative_numbers = true)]
    tolerance: f64,

    /// Maps and MDP files: duration of a step, to print seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    step_seconds: Option<f64>,

    /// Event logs: column with the case identifier
    #[arg(long, value_name = "COLUMN")]
    case: Option<String>,

    /// Event logs: column with the activity
    #[arg(long, value_name = "COLUMN")]
    activity: Option<String>,

    /// Event logs: column with the timestamp
    #[arg(long, value_name = "COLUMN")]
    timestamp: Option<String>,

    /// Plot the distances (.svg or .png): a heat map with isochrones for maps, bars otherwise
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

Maps: '#' wall, '.' free, '^>v<' one-way, 'S' start, 'G' goal;
equal digits teleport to each other.
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
    /// Breadth-first search, for deterministic processes
    Bfs,
    /// Sparse LU decomposition, for Markov chains
    Lu,
    /// Policy iteration, for all processes
    PolicyIteration,
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.plot.as_deref().map_or(Ok(()), Figure::check_path)?;
    check_number("--tolerance", args.tolerance, 1e-15..1.0, "1e-9 is sufficient")?;
    if let Some(seconds) = args.step_seconds {
        check_number("--step-seconds", seconds, 1e-12..1e12, "a step at 10 Hz takes 0.1 s")?;
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

    /// Resolves the goals and the start with a function of flag and text.
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
                "{}: unknown kind of file; hint: set --kind map, --kind mdp or --kind log",
                self.input.display()
            ),
        }
    }

    /// Rejects flags that would have no effect.
    fn refuse_flags_of_other_kinds(&self, kind: Kind) -> anyhow::Result<()> {
        let (is_log, is_map) = (kind == Kind::Log, kind == Kind::Map);
        let of_logs = "applies to event logs only; hint: leave it out, or set --kind log";
        let of_maps = "applies to maps only; hint: leave it out, or set --kind map";
        let has_timestamps = "does not apply to event logs; hint: leave it out, the log has timestamps";
        let one_goal = "does not apply to event logs; hint: set an activity with --goal";
        let flags = [
            ("--case", self.case.is_some() && !is_log, of_logs),
            ("--activity", self.activity.is_some() && !is_log, of_logs),
            ("--timestamp", self.timestamp.is_some() && !is_log, of_logs),
            ("--slip", self.slip.is_some() && !is_map, of_maps),
            ("--step-seconds", self.step_seconds.is_some() && is_log, has_timestamps),
            ("--all-pairs", self.all_pairs && is_log, one_goal),
        ];
        match flags.into_iter().find(|(_, is_wrong, _)| *is_wrong) {
            Some((flag, _, why)) => bail!("{flag} {why}"),
            None => Ok(()),
        }
    }
}
