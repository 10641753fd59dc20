//! `isochrone plan`: plans a path between two states over recorded states.

mod recorded;
mod stochastic;

pub use recorded::path_states as recorded_path;
pub use stochastic::path_states as stochastic_path;

use crate::commands::{
    device_args::DeviceArgs,
    output::{Field, Report, StyleArgs, note, save},
    planner_args::{PlannerArgs, path_or_none},
    query::{LoadedRun, RunArgs, parse_checkpoint},
    states::SelectionArgs,
    step_map::StepMap,
};
use anyhow::bail;
use isochrone::{
    TemporalDistance,
    learn::model::CheckpointSelector,
    plot::{Figure, MapDirection, PlaneChart},
};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Plan a path between two states over recorded states
///
/// States are specified as for `isochrone distance`. By default, the path consists of the fastest
/// recorded segments and short connections between them, and each waypoint has its row in the
/// dataset. With `--planner graph` or `--planner greedy`, or a flag of these planners, the path is
/// searched with the learned distance, and the hop ratio is printed: the longest edge over the
/// direct distance from start to goal. Below 0.4, the waypoints help a policy that reaches near
/// goals. `--planner stochastic` avoids jumps whose outcome is random, such as teleporters, unless
/// they are worth the price of failing; it prints the forecast of the plan and of the gamble, which
/// is the shortest path that trusts jumps.
#[derive(clap::Args)]
// Without a policy, --look-ahead is an error.
#[command(after_help = EXAMPLES, mut_arg("look_ahead", |flag| flag.hide(true)))]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Start state: a point x,y or a dataset state @EPISODE:ROW
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    from: String,

    /// Goal state, or a goal set whose nearest state is used: end, success, a slice x=1.5,y=2, a
    /// .npy or .csv file
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    to: String,

    /// Maximum distance to the values of a slice such as x=1.5,y=2, in the units of its columns
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f64>,

    #[command(flatten)]
    planner: PlannerArgs,

    /// Plot the path over the data (.svg or .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Dataset to plan over [default: the run's training data]
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

const EXAMPLES: &str = "\
Examples:
  isochrone plan runs/nav2d --from -12,0 --to 0,-20 --plot path.svg
  isochrone plan runs/nav2d --from -12,0 --to 0,-20 --planner graph --max-edge-steps 8
  isochrone plan runs/nav2d --from -12,0 --to -16,0 --planner greedy --radius 0.8 \\
    --states 5000 --plot path.svg
  isochrone plan runs/maze --from 0,0 --to 36,24 --planner stochastic --json
  isochrone plan runs/robot --from @3:0 --to @7:last --json
  isochrone plan runs/robot --from @3:0 --to success    # nearest success state
  isochrone plan runs/ant --from @0:0 --to x=20,y=12 --within 0.5    # any pose of the legs";

/// The maximum distance to the data, in typical transitions, without a warning.
const MAX_DISTANCE_TO_DATA: f64 = 5.0;

/// The number of cells on the longer side of the map.
const CELLS: usize = 110;
/// The maximum number of state dimensions printed in text.
const MAX_DIMENSIONS: usize = 6;

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.plot.as_deref().map_or(Ok(()), Figure::check_path)?;
    args.planner.check_without_policy()?;
    let loaded = LoadedRun::open(&args.run, args.checkpoint, args.data.as_deref(), args.device.device)?;
    let selection = SelectionArgs::within(args.within);
    selection.refuse_unused(&[args.to.as_str()])?;
    let from = loaded.query_state(&args.from, "--from")?;
    if args.planner.is_recorded() {
        let goal = recorded::goal(&loaded, &from, &args.to, &selection)?;
        return recorded::run(args, &loaded, &from, &goal, out);
    }
    let to = loaded.query_state(&args.to, "--to")?;
    if args.planner.is_stochastic() {
        return stochastic::run(args, &loaded, &from, &to, out);
    }
    let distance = loaded.distance()?;
    let planner = args.planner.planner(&loaded)?;
    for (flag, text, state) in [("--from", &args.from, &from), ("--to", &args.to, &to)] {
        let away = planner.distance_to_data(state);
        if away > MAX_DISTANCE_TO_DATA {
            note(&format!(
                "warning: {flag} {text}: the nearest recorded state is {away:.0} transitions away; there are no data nearby"
            ));
        }
    }
    let path = path_or_none(planner.plan(&from, &to))?;
    let width = distance.width();
    if let Some(file) = &args.plot {
        let states = path.as_ref().map(|path| &path.states[..]);
        draw(args, &loaded, distance, (&from, &to), states, args.planner.describe(None), file)?;
    }
    let Some(path) = path else {
        bail!("no path found from {} to {}; hint: {}", args.from, args.to, args.planner.hint());
    };
    // Text shows the first dimensions of wide states; JSON and CSV have all of them.
    let shown = if args.style.is_text() { width.min(MAX_DIMENSIONS) } else { width };
    let mut columns = vec!["waypoint".to_owned()];
    columns.extend((0..shown).map(|dimension| loaded.model.spec.observation.dimension(dimension)));
    columns.extend(["steps".to_owned(), "steps_left".to_owned()]);
    // In the steps of the planner's distance; the start has no edge before it.
    let edge_steps = std::iter::once(0.0).chain(path.edge_steps.iter().copied());
    let rows = path.states.chunks_exact(width).zip(edge_steps).enumerate().map(|(number, (state, steps))| {
        let mut row = vec![Field::Count(number)];
        row.extend(state[..shown].iter().map(|&x| Field::Number(f64::from(x), 3)));
        row.extend([Field::Number(steps, 2), Field::Number(path.steps_left[number], 2)]);
        row
    });
    let facts = json!({
        "checkpoint_step": loaded.model.step, "planner": args.planner.describe(None),
        "steps_straight": path.steps_left[0], "steps_over_waypoints": path.steps(),
        "hop_ratio": path.hop_ratio(),
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    if args.style.is_text() {
        let hidden = hidden(width - shown);
        let (steps, n_waypoints, ratio) = (path.steps(), path.waypoints().len(), path.hop_ratio());
        writeln!(out, "total {steps:.2} steps over {n_waypoints} waypoints, hop ratio {ratio:.2}{hidden}")?;
    }
    Ok(())
}

/// Describes the dimensions that the text table leaves out.
fn hidden(dimensions: usize) -> String {
    match dimensions {
        0 => String::new(),
        hidden => format!("; {hidden} dimensions not shown, see --json"),
    }
}

/// Draws a path over a map of steps to the goal.
fn draw(
    args: &Args,
    loaded: &LoadedRun,
    distance: &dyn TemporalDistance,
    (from, to): (&[f32], &[f32]),
    path: Option<&[f32]>,
    note: String,
    file: &Path,
) -> anyhow::Result<()> {
    let map = StepMap::new(loaded, None, CELLS)?;
    let heading = if path.is_some() { "" } else { "no path found" };
    let mut panel = map.panel(heading, distance, to, MapDirection::To);
    map.draw_path(&mut panel, from, path);
    let title = format!("From {} to {}", args.from, args.to);
    save(&PlaneChart { title, note, axes: map.axes(), panels: vec![panel] }.draw(), file)
}
