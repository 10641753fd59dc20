use crate::commands::{
    device_args::DeviceArgs,
    output::{file_stem, note, save},
    plan::{recorded_path, stochastic_path},
    planner_args::{PlannerArgs, path_or_none},
    query::{DistanceArg, LoadedRun, RunArgs, parse_checkpoint},
    step_map::StepMap,
};
use anyhow::bail;
use clap::ValueEnum as _;
use isochrone::{
    learn::model::CheckpointSelector,
    plot::{Figure, MapDirection, PlaneChart, on_one_scale},
};
use std::path::PathBuf;

/// Plot a map of steps: to a goal, from a start, or both side by side
///
/// Two-dimensional observations are drawn as a plane with isochrones, where there are data. Of
/// wider observations, recorded states are drawn on two axes and colored by their steps; those
/// without a path are gray.
#[derive(clap::Args)]
// Without a policy, --look-ahead has no effect.
#[command(after_help = EXAMPLES, mut_arg("look_ahead", |flag| flag.hide(true)))]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Plot the steps to this goal state
    #[arg(long, value_name = "STATE", allow_hyphen_values = true, required_unless_present = "from")]
    to: Option<String>,

    /// Plot the steps from this start state
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    from: Option<String>,

    /// Draw a planned path from --from to --to on the map of steps to the goal: along recorded
    /// segments, or searched with the learned distance by the planners graph and greedy
    #[arg(long = "path", requires = "from", requires = "to")]
    draw_path: bool,

    #[command(flatten)]
    planner: PlannerArgs,

    /// Output file (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Distance to use
    #[arg(long, value_enum, value_name = "NAME", default_value = "refined")]
    distance: DistanceArg,

    /// Columns of the axes, by name or number, or principal for the two axes along which states
    /// differ most in time [default: both of two columns, the goal space, or principal]
    #[arg(long, alias = "dimensions", value_name = "X,Y")]
    axes: Option<String>,

    /// Dataset to plot [default: the run's training data]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Number of cells on the longer side of a plane
    #[arg(long, value_name = "N", default_value_t = 110, value_parser = clap::value_parser!(u16).range(10..=500))]
    cells: u16,

    #[command(flatten)]
    device: DeviceArgs,

    /// Checkpoint to load: last, best or a step
    #[arg(long, default_value = "best", value_name = "CHECKPOINT", value_parser = parse_checkpoint)]
    checkpoint: CheckpointSelector,
}

const EXAMPLES: &str = "\
Examples:
  isochrone plot map runs/nav2d --to 0,-10 -o to.svg
  isochrone plot map runs/nav2d --from -12,0 --to 0,-20 --path -o path.png
  isochrone plot map runs/nav2d --from -12,0 --to 0,-20 --path --planner graph -o graph.svg
  isochrone plot map runs/ant --to @0:last --axes 0,1 --distance learned -o ant.png";

pub fn run(args: &Args) -> anyhow::Result<()> {
    Figure::check_path(&args.output)?;
    args.planner.check_without_policy()?;
    if let (false, Some(flag)) = (args.draw_path, args.planner.first_set()) {
        bail!("{flag} does not apply without --path; hint: add --path, or leave it out");
    }
    let loaded = LoadedRun::open(&args.run, args.checkpoint, args.data.as_deref(), args.device.device)?;
    let map = StepMap::new(&loaded, args.axes.as_deref(), usize::from(args.cells))?;
    let distance = loaded.distance_of(args.distance)?;
    let query_state =
        |text: &Option<String>, flag| text.as_ref().map(|text| loaded.query_state(text, flag)).transpose();
    let (from, to) = (query_state(&args.from, "--from")?, query_state(&args.to, "--to")?);
    let which = args.distance.to_possible_value().expect("all are shown").get_name().to_owned();
    let mut panels = Vec::new();
    if let Some(to) = &to {
        panels.push(map.panel(&format!("{which} distance, to the star"), &*distance, to, MapDirection::To));
    }
    if let Some(from) = &from {
        panels.push(map.panel(
            &format!("{which} distance, from the circle"),
            &*distance,
            from,
            MapDirection::From,
        ));
    }
    if args.draw_path {
        // The path is drawn on the map of steps to the goal alone.
        panels.truncate(1);
    }
    on_one_scale(&mut panels);
    let mut subtitle = String::new();
    if let (true, Some(from), Some(to)) = (args.draw_path, &from, &to) {
        let (planner, states) = match args.planner.is_recorded() {
            true => ("along recorded segments".to_owned(), recorded_path(&loaded, from, to)?),
            false if args.planner.is_stochastic() => {
                args.planner.check()?;
                (args.planner.describe(None), stochastic_path(&loaded, &args.planner, from, to)?)
            }
            false => {
                let path = path_or_none(args.planner.planner(&loaded)?.plan(from, to))?;
                (args.planner.describe(None), path.map(|path| path.states))
            }
        };
        subtitle = planner;
        if states.is_none() {
            subtitle += "; no path found";
            note("warning: no path found");
        }
        map.draw_path(&mut panels[0], from, states.as_deref());
    }
    let manifest = loaded.run.manifest();
    let (data, step) = (file_stem(&manifest.data.path), loaded.model.step);
    let title = format!("{} on {data}, step {step}", manifest.algorithm);
    save(&PlaneChart { title, note: subtitle, axes: map.axes(), panels }.draw(), &args.output)
}
