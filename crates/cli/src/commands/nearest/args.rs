//! The arguments of `isochrone nearest`.

use crate::commands::{
    device_args::DeviceArgs,
    output::StyleArgs,
    query::{DistanceArg, RunArgs, parse_checkpoint},
    states::SYNTAX,
};
use isochrone::learn::model::CheckpointSelector;
use std::path::PathBuf;

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
    pub(super) run: RunArgs,

    #[command(flatten)]
    pub(super) query: QueryArgs,

    /// Number of states to find
    #[arg(short, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=MAX_K))]
    pub(super) k: u32,

    /// Distance to use
    #[arg(long, value_enum, value_name = "NAME", default_value = "learned")]
    pub(super) distance: DistanceArg,

    /// Compare every state, without an index
    #[arg(long)]
    pub(super) exact: bool,

    /// Dataset to search, and that @EPISODE:ROW refers to [default: the run's training data]
    #[arg(long, value_name = "FILE")]
    pub(super) data: Option<PathBuf>,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    pub(super) checkpoint: CheckpointSelector,

    #[command(flatten)]
    pub(super) device: DeviceArgs,

    #[command(flatten)]
    pub(super) style: StyleArgs,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct QueryArgs {
    /// Goal state: find the states from which it is reached soonest
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    pub(super) to: Option<String>,

    /// Start state: find the states that are reached soonest from it
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    pub(super) from: Option<String>,

    /// Compare the index with exact search for this many random recorded states, in both
    /// directions: recall and queries per second
    #[arg(long, value_name = "QUERIES", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) check: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  isochrone nearest runs/maze --to 20,12
  isochrone nearest runs/maze --from @3:10 -k 50 --json
  isochrone nearest runs/maze --to @3:last --distance refined
  isochrone nearest runs/maze --check 200                       # recall of the index";

/// The maximum number of states to find.
const MAX_K: i64 = 100_000;
