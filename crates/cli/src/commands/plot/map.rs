use crate::commands::{
    output::{file_stem, save},
    plan::recorded_path,
    planner_args::{PlannerArgs, found},
    query::{Asker, DistanceArg, RunArgs, parse_which},
    step_map::StepMap,
};
use clap::ValueEnum as _;
use isochrone::{
    learn::model::CheckpointSelector,
    plot::{Figure, MapDirection, PlaneChart, on_one_scale},
};
use std::path::PathBuf;

/// A map of steps: to a goal, from a start, or both side by side
///
/// Observations of two numbers are places of a plane, with isochrones where there are data: nothing is known
/// elsewhere. Of wider observations, recorded states are drawn on two axes, colored by their steps; those
/// without a path are grey.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// A map of the steps to this situation
    #[arg(long, value_name = "SITUATION", allow_hyphen_values = true, required_unless_present = "from")]
    to: Option<String>,

    /// A map of the steps from this situation
    #[arg(long, value_name = "SITUATION", allow_hyphen_values = true)]
    from: Option<String>,

    /// Draw a planned way between the two, on the map of steps to the goal: along recorded segments, unless
    /// planner flags ask for another
    #[arg(long, requires = "from", requires = "to")]
    way: bool,

    #[command(flatten)]
    planner: PlannerArgs,

    /// The picture (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Which distance is drawn
    #[arg(long, value_enum, value_name = "WHICH", default_value = "refined")]
    distance: DistanceArg,

    /// The two columns that are the axes, by name or number, or `principal`: those along which states differ
    /// most in time [default: both of two columns, the goal space, or principal]
    #[arg(long, alias = "dimensions", value_name = "X,Y")]
    axes: Option<String>,

    /// Logs to look at [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Cells on the longer side of a plane
    #[arg(long, value_name = "N", default_value_t = 110, value_parser = clap::value_parser!(u16).range(10..=500))]
    cells: u16,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    Figure::check_path(&args.output)?;
    let asker = Asker::open(&args.run, args.checkpoint, args.data.as_deref())?;
    let map = StepMap::new(&asker, args.axes.as_deref(), usize::from(args.cells))?;
    let distance = asker.distance_of(args.distance)?;
    let situation =
        |text: &Option<String>, flag| text.as_ref().map(|text| asker.situation(text, flag)).transpose();
    let (from, to) = (situation(&args.from, "--from")?, situation(&args.to, "--to")?);
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
    on_one_scale(&mut panels);
    let mut note = String::new();
    if let (true, Some(from), Some(to)) = (args.way, &from, &to) {
        let (planner, states) = match args.planner.is_recorded() {
            true => ("along recorded segments".to_owned(), recorded_path(&asker, from, to)?),
            false => {
                let path = found(args.planner.planner(&asker)?.plan(from, to))?;
                (args.planner.describe(), path.map(|path| path.states))
            }
        };
        note = planner;
        if states.is_none() {
            note += "; no path was found";
        }
        panels.truncate(1);
        map.draw_path(&mut panels[0], from, states.as_deref());
    }
    let manifest = asker.run.manifest();
    let (data, step) = (file_stem(&manifest.data.path), asker.model.step);
    let title = format!("{} on {data}, step {step}", manifest.algorithm);
    save(&PlaneChart { title, note, axes: map.axes(), panels }.draw(), &args.output)
}
