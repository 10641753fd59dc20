//! `isochrone plan`: a path from one situation to another, over what was recorded.

mod recorded;

pub use recorded::states as recorded_path;

use crate::commands::{
    output::{Field, Report, StyleArgs, save, tell},
    planner_args::{PlannerArgs, found},
    query::{Asker, RunArgs, parse_which},
    situations::SelectionArgs,
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

/// Finds a path from one situation to another over recorded states
///
/// Situations are given as for `isochrone distance`. Without planner flags, the path is made of recorded segments and short hops between them, the fastest that were recorded: each waypoint
/// names its row of the data. With planner flags, it is searched with the distance that the run learned.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Where one is: a point, or a state of the data
    #[arg(long, value_name = "SITUATION", allow_hyphen_values = true)]
    from: String,

    /// Where one wants to be: likewise, or a set of which the nearest will do: end, success, a slice like x=1.5,y=2, a .npy or .csv file
    #[arg(long, value_name = "SITUATION", allow_hyphen_values = true)]
    to: String,

    /// How near states must be to the values of a slice, in the units of these columns
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    within: Option<f64>,

    #[command(flatten)]
    planner: PlannerArgs,

    /// Draw the way over the data (.svg or .png)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Logs to find the way in [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone plan runs/nav2d --from -12,0 --to 0,-20 --plot path.svg
  isochrone plan runs/nav2d --from -12,0 --to 0,-20 --planner graph --max-edge-steps 8
  isochrone plan runs/nav2d --from -12,0 --to -16,0 --planner greedy --radius 0.8 --states 5000 --plot way.svg
  isochrone plan runs/robot --from @3:0 --to @7:last --json
  isochrone plan runs/robot --from @3:0 --to success                     # the nearest in recorded time
  isochrone plan runs/ant --from @0:0 --to x=20,y=12 --within 0.5        # a place, wherever its legs are";

/// Usual moves from anything recorded, beyond which a way leads through nowhere.
const FAR_OFF: f64 = 5.0;

/// Cells on the longer side of a picture.
const CELLS: usize = 110;
/// Dimensions of a state that a table on the screen shows.
const MAX_DIMENSIONS: usize = 6;

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    args.plot.as_deref().map_or(Ok(()), Figure::check_path)?;
    args.planner.check_without_policy()?;
    let asker = Asker::open(&args.run, args.checkpoint, args.data.as_deref())?;
    let selection = SelectionArgs::within(args.within);
    selection.refuse_unused(&[args.to.as_str()])?;
    let from = asker.situation(&args.from, "--from")?;
    if args.planner.is_recorded() {
        let goal = recorded::goal(&asker, &from, &args.to, &selection)?;
        return recorded::run(args, &asker, &from, &goal, out);
    }
    let to = asker.situation(&args.to, "--to")?;
    let distance = asker.distance()?;
    let planner = args.planner.planner(&asker)?;
    for (flag, text, state) in [("--from", &args.from, &from), ("--to", &args.to, &to)] {
        let away = planner.distance_to_data(state);
        if away > FAR_OFF {
            tell(&format!(
                "warning: {flag} {text}: the nearest recorded state is {away:.0} transitions away; nothing was recorded there"
            ));
        }
    }
    let path = found(planner.plan(&from, &to))?;
    let width = distance.width();
    if let Some(file) = &args.plot {
        let states = path.as_ref().map(|path| &path.states[..]);
        draw(args, &asker, distance, (&from, &to), states, args.planner.describe(), file)?;
    }
    let Some(path) = path else {
        bail!("no path was found from {} to {}; hint: {}", args.from, args.to, args.planner.hint());
    };
    // Wide states would fill the screen: files and programs get all of them.
    let shown = if args.style.is_text() { width.min(MAX_DIMENSIONS) } else { width };
    let mut columns = vec!["waypoint".to_owned()];
    columns.extend((0..shown).map(|dimension| asker.model.spec.observation.dimension(dimension)));
    columns.extend(["steps".to_owned(), "steps_left".to_owned()]);
    // In the steps that the plan was made with; the start is no steps from itself.
    let edge_steps = std::iter::once(0.0).chain(path.edge_steps.iter().copied());
    let rows = path.states.chunks_exact(width).zip(edge_steps).enumerate().map(|(number, (state, steps))| {
        let mut row = vec![Field::Count(number)];
        row.extend(state[..shown].iter().map(|&x| Field::Number(f64::from(x), 3)));
        row.extend([Field::Number(steps, 2), Field::Number(path.steps_left[number], 2)]);
        row
    });
    let facts = json!({
        "checkpoint_step": asker.model.step, "planner": args.planner.describe(),
        "steps_straight": path.steps_left[0], "steps_over_waypoints": path.steps(),
    });
    write!(out, "{}", Report::new(facts, columns, rows).print(&args.style))?;
    if args.style.is_text() {
        let hidden = hidden(width - shown);
        writeln!(out, "in all {:.2} steps over {} waypoints{hidden}", path.steps(), path.waypoints().len())?;
    }
    Ok(())
}

/// What a table on the screen leaves out.
fn hidden(dimensions: usize) -> String {
    match dimensions {
        0 => String::new(),
        hidden => format!("; {hidden} dimensions are not shown, see --json"),
    }
}

/// Draws a path over a map of steps to the goal.
fn draw(
    args: &Args,
    asker: &Asker,
    distance: &dyn TemporalDistance,
    (from, to): (&[f32], &[f32]),
    path: Option<&[f32]>,
    note: String,
    file: &Path,
) -> anyhow::Result<()> {
    let map = StepMap::new(asker, None, CELLS)?;
    let heading = if path.is_some() { "" } else { "no path was found" };
    let mut panel = map.panel(heading, distance, to, MapDirection::To);
    map.draw_path(&mut panel, from, path);
    let title = format!("From {} to {}", args.from, args.to);
    save(&PlaneChart { title, note, axes: map.axes(), panels: vec![panel] }.draw(), file)
}
