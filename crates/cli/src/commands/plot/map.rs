use crate::commands::{
    output::{file_stem, save},
    planner_args::{PlannerArgs, found},
    query::{Asker, RunArgs, parse_which},
};
use anyhow::bail;
use isochrone::{
    TemporalDistance as _,
    learn::model::CheckpointSelector,
    plot::{Figure, MapDirection, MapFrame, PlaneChart, on_one_scale},
};
use std::path::PathBuf;

/// A map of learned steps with its isochrones: to a goal, from a start, or both side by side
///
/// Two dimensions of the observation are the plane; the others are those of the situation. Only where there are data, since nothing is known elsewhere.
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

    /// Draw a planned way between the two, on the map of steps to the goal
    #[arg(long, requires = "from", requires = "to")]
    way: bool,

    #[command(flatten)]
    planner: PlannerArgs,

    /// The picture (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// The two dimensions of an observation that are the plane
    #[arg(long, value_name = "X,Y", default_value = "0,1", value_parser = parse_dimensions)]
    dimensions: [usize; 2],

    /// Logs to look at [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Cells on the longer side
    #[arg(long, value_name = "N", default_value_t = 110, value_parser = clap::value_parser!(u16).range(10..=500))]
    cells: u16,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,
}

fn parse_dimensions(text: &str) -> Result<[usize; 2], String> {
    let numbers =
        text.split_once(',').and_then(|(x, y)| Some([x.trim().parse().ok()?, y.trim().parse().ok()?]));
    numbers.ok_or_else(|| "not two numbers like 0,1".into())
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    Figure::check_path(&args.output)?;
    let asker = Asker::open(&args.run, args.checkpoint, args.data.as_deref())?;
    let distance = asker.distance()?;
    let (spec, width) = (&asker.model.spec.observation, distance.width());
    let dimensions @ [x, y] = args.dimensions;
    if width < 2 {
        bail!(
            "{}: observations of one number are not places of a map; hint: isochrone distance asks about them",
            args.run.run.display()
        );
    }
    if x == y || x.max(y) >= width {
        bail!(
            "--dimensions {x},{y}: observations have {width} dimensions; hint: give two different ones, counted from 0"
        );
    }
    let situation =
        |text: &Option<String>, flag| text.as_ref().map(|text| asker.situation(text, flag)).transpose();
    let (from, to) = (situation(&args.from, "--from")?, situation(&args.to, "--to")?);
    let frame = MapFrame::new(asker.data()?, dimensions, usize::from(args.cells));
    let mut panels = Vec::new();
    if let Some(to) = &to {
        panels.push(frame.panel("to the star", distance, to, MapDirection::To));
    }
    if let Some(from) = &from {
        panels.push(frame.panel("from the circle", distance, from, MapDirection::From));
    }
    on_one_scale(&mut panels);
    let mut note = String::new();
    if let (true, Some(from), Some(to)) = (args.way, &from, &to) {
        let path = found(args.planner.planner(&asker)?.plan(from, to))?;
        note = args.planner.describe();
        if path.is_none() {
            note += "; no path was found";
        }
        panels.truncate(1);
        frame.draw_path(&mut panels[0], from, path.as_ref().map(|path| &path.states[..]));
    }
    let manifest = asker.run.manifest();
    let (data, step) = (file_stem(&manifest.data.path), asker.model.step);
    let title = format!("{} on {data}, step {step}", manifest.algorithm);
    let axes = dimensions.map(|dimension| spec.dimension(dimension));
    save(&PlaneChart { title, note, axes, panels }.draw(), &args.output)
}
