//! `isochrone plan`: a way from one situation to another, over what was recorded.

use crate::verbs::{
    planning::PlannerArgs,
    report::{Field, Report, StyleArgs, save, tell},
    situations::{Asker, RunArgs, parse_which},
};
use anyhow::bail;
use isochrone::{
    TemporalDistance as _,
    figures::{Direction, MapFrame, in_steps},
    learn::model::Which,
    plot::{Picture, PlaneChart},
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Finds a way from one situation to another, over recorded states, with the distance that a run learned
///
/// Situations are given as for `isochrone distance`. The way is a list of recorded states, each with the steps from the one before and those that are left.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Where one is: a point, or a state of the data
    #[arg(long, value_name = "SITUATION", allow_hyphen_values = true)]
    from: String,

    /// Where one wants to be: likewise
    #[arg(long, value_name = "SITUATION", allow_hyphen_values = true)]
    to: String,

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
    checkpoint: Which,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone plan runs/nav2d --from -12,0 --to 0,-20
  isochrone plan runs/nav2d --from -12,0 --to -16,0 --planner greedy --radius 0.8 --states 5000 --plot way.svg
  isochrone plan runs/robot --from @3:0 --to @7:last --json";

/// Usual moves from anything recorded, beyond which a way leads through nowhere.
const FAR_OFF: f64 = 5.0;

/// Cells on the longer side of a picture.
const CELLS: usize = 110;

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(path) = &args.plot {
        Picture::check_path(path)?;
    }
    let asker = Asker::open(&args.run, args.checkpoint, args.data.as_deref())?;
    let distance = asker.distance()?;
    let (from, to) = (asker.situation(&args.from, "--from")?, asker.situation(&args.to, "--to")?);
    let (way, stops, hops, left) = args.planner.with_atlas(&asker, |atlas, read| {
        for (flag, text, place) in [("--from", &args.from, &from), ("--to", &args.to, &to)] {
            let moves_away = atlas.moves_away(place);
            if moves_away > FAR_OFF {
                tell(&format!(
                    "warning: {flag} {text}: the nearest recorded state is {moves_away:.0} moves away; nothing was recorded there"
                ));
            }
        }
        let way = atlas.way(&from, &to);
        // In the steps that the plan was made with.
        let stops = [&from[..], way.as_deref().unwrap_or_default(), &to].concat();
        let before = [&from[..], &stops[..stops.len() - from.len()]].concat();
        let hops = in_steps(read, read.paired_nats(&before, &stops));
        let left = in_steps(read, read.all_pairs_nats(&stops, &to));
        (way, stops, hops, left)
    })?;
    let width = distance.width();
    if let Some(path) = &args.plot {
        if width < 2 {
            bail!("--plot: observations of one number are not places; hint: leave it out");
        }
        let frame = MapFrame::new(asker.data()?, [0, 1], CELLS);
        let mut panel =
            frame.panel(if way.is_some() { "" } else { "no way was found" }, distance, &to, Direction::To);
        frame.draw_way(&mut panel, &from, way.as_deref(), &to);
        let title = format!("From {} to {}", args.from, args.to);
        let axes = [0, 1].map(|dimension| asker.model.spec.observation.dimension(dimension));
        save(&PlaneChart { title, note: args.planner.describe(), axes, panels: vec![panel] }.draw(), path)?;
    }
    if way.is_none() {
        bail!("no way was found from {} to {}; hint: {}", args.from, args.to, args.planner.hint());
    }
    let mut columns: Vec<std::borrow::Cow<'static, str>> = vec!["stop".into()];
    columns.extend((0..width).map(|dimension| asker.model.spec.observation.dimension(dimension).into()));
    columns.extend(["steps".into(), "steps_left".into()]);
    let rows = stops.chunks_exact(width).enumerate().map(|(stop, place)| {
        let mut row = vec![Field::Count(stop)];
        row.extend(place.iter().map(|&x| Field::Number(f64::from(x), 3)));
        row.extend([Field::Number(hops[stop], 2), Field::Number(left[stop], 2)]);
        row
    });
    let facts = json!({
        "version": env!("CARGO_PKG_VERSION"), "checkpoint_step": asker.model.step, "planner": args.planner.describe(),
        "steps_straight": left[0], "steps_over_stops": hops.iter().sum::<f64>(),
    });
    let facts = facts.as_object().expect("it is one").clone();
    let report = Report { facts, columns, min_widths: Vec::new(), rows: rows.collect() };
    write!(out, "{}", report.print(args.style.style()))?;
    Ok(())
}
