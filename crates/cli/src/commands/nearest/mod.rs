//! `isochrone nearest`: recorded states that are nearest in time to a state.

#[cfg(feature = "nearest")]
mod check;
#[cfg(feature = "nearest")]
mod index;

use crate::commands::{
    device_args::DeviceArgs,
    output::{Field, Report, StyleArgs, count, named, note},
    query::{DistanceArg, LoadedRun, RunArgs, parse_checkpoint},
    states::SYNTAX,
};
use anyhow::bail;
use clap::ValueEnum as _;
use isochrone::{
    TemporalDistance,
    learn::model::CheckpointSelector,
    nearest::{Direction, Nearest},
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Find the recorded states that are nearest in time to a state, using a trained run
///
/// `--to` finds the states from which the given state is reached soonest, `--from` those that are
/// reached soonest from it. The two differ if some transitions cannot be undone.
///
/// With the feature `nearest` and a quasimetric (cmd1, cmd2, qrl), a dataset of many states is
/// searched with an index. It is built by the first query, stored in the run directory, and built
/// again if the checkpoint or the data changed. Its candidates are ranked by the distance itself.
/// Otherwise, every state is compared.
#[derive(clap::Args)]
#[command(after_help = format!("{SYNTAX}\n\n{EXAMPLES}"))]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    query: QueryArgs,

    /// Number of states to find
    #[arg(short, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=MAX_K))]
    k: u32,

    /// Distance to use
    #[arg(long, value_enum, value_name = "NAME", default_value = "learned")]
    distance: DistanceArg,

    /// Compare every state, without an index
    #[arg(long)]
    exact: bool,

    /// Dataset to search, and that @EPISODE:ROW refers to [default: the run's training data]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    checkpoint: CheckpointSelector,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    style: StyleArgs,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct QueryArgs {
    /// Goal state: find the states from which it is reached soonest
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    to: Option<String>,

    /// Start state: find the states that are reached soonest from it
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    from: Option<String>,

    /// Compare the index with exact search for this many random recorded states, in both
    /// directions: recall and queries per second
    #[arg(long, value_name = "QUERIES", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    check: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  isochrone nearest runs/maze --to 20,12
  isochrone nearest runs/maze --from @3:10 -k 50 --json
  isochrone nearest runs/maze --to @3:last --distance refined
  isochrone nearest runs/maze --check 200                       # recall of the index";

/// The maximum number of states to find.
const MAX_K: i64 = 100_000;

/// How the states were searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    #[cfg(feature = "nearest")]
    Index,
    Exact,
}

impl Search {
    fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "nearest")]
            Self::Index => "index",
            Self::Exact => "exact",
        }
    }
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let loaded = LoadedRun::open(&args.run, args.checkpoint, args.data.as_deref(), args.device.device)?;
    let distance = loaded.distance_of(args.distance)?;
    let data = loaded.data()?;
    if let Some(queries) = args.query.check {
        return check(args, &loaded, &*distance, queries as usize, out);
    }
    let (text, flag, direction) = match (&args.query.to, &args.query.from) {
        (Some(to), _) => (to, "--to", Direction::To),
        (None, Some(from)) => (from, "--from", Direction::From),
        (None, None) => bail!("no state; hint: give --to STATE or --from STATE"),
    };
    let state = loaded.query_state(text, flag)?;
    let (found, search) = find(args, &loaded, &*distance, &state, direction)?;
    if search == Search::Exact {
        let states = count(data.index().n_states() as usize, "state");
        note(&format!("compared all {states}"));
    }
    let fps = loaded.model.spec.frames_per_second;
    let columns = ["state", "episode", "row", "steps"].into_iter().chain(fps.map(|_| "seconds"));
    let rows = found.iter().map(|found| {
        let (episode, row) = data.index().row_of_state(found.row);
        let steps = distance.discount().steps_from_nats(f64::from(found.nats)) + 0.0;
        let mut fields = vec![
            Field::Text(format!("@{episode}:{row}")),
            Field::Count(episode),
            Field::Count(row),
            Field::Number(steps, 2),
        ];
        fields.extend(fps.map(|fps| Field::Number(steps / fps, 2)));
        fields
    });
    let facts = json!({
        "query": text,
        "direction": if direction == Direction::To { "to" } else { "from" },
        "distance": args.distance.to_possible_value().expect("all are shown").get_name(),
        "search": search.name(),
        "states": data.index().n_states(),
        "checkpoint_step": loaded.model.step,
        "discount": loaded.run.config().discount,
        "frames_per_second": fps,
    });
    Ok(write!(out, "{}", Report::new(facts, named(columns), rows).print(&args.style))?)
}

/// Returns the nearest states, and how they were found.
fn find(
    args: &Args,
    loaded: &LoadedRun,
    distance: &dyn TemporalDistance,
    state: &[f32],
    direction: Direction,
) -> anyhow::Result<(Vec<isochrone::nearest::Neighbor>, Search)> {
    let (data, k) = (loaded.data()?, args.k as usize);
    #[cfg(feature = "nearest")]
    if let Some(index) = index::of(args, loaded, distance)? {
        let nearest = Nearest::with_index(distance, data, &index)?;
        return Ok((nearest.search(state, direction, k)?, Search::Index));
    }
    Ok((Nearest::exact(distance, data).search(state, direction, k)?, Search::Exact))
}

#[cfg(feature = "nearest")]
use check::check;

/// Reports that there is no index to check.
#[cfg(not(feature = "nearest"))]
fn check(
    _: &Args,
    _: &LoadedRun,
    _: &dyn TemporalDistance,
    _: usize,
    _: &mut dyn Write,
) -> anyhow::Result<()> {
    bail!("--check: this command was built without the index; hint: build it with --features nearest")
}
