//! `isochrone distance`: ask a run how far apart situations are.

use crate::verbs::report::{Field, Report, StyleArgs, named, tell};
use anyhow::{Context as _, bail};
use isochrone::{
    TemporalDistance as _,
    data::{Trajectories, formats},
    learn::{
        model::{LearnedDistance, Model, Which},
        run::Run,
    },
};
use serde_json::json;
use std::{io::Write, ops::Range, path::PathBuf};

/// How far apart are two situations, in steps? Asks a trained run
///
/// A situation is a point, `1.5,2` (one number for each dimension of an observation), or a state of the data: `@EPISODE:ROW`, `@EPISODE:last`; `@EPISODE:FROM..TO` for several, `@EPISODE` for all.
/// Several situations on both sides give all pairs.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// The folder of a run
    run: PathBuf,

    /// Where one is: points, or states of the data; may be repeated
    #[arg(long, required = true, value_name = "SITUATION", allow_hyphen_values = true)]
    from: Vec<String>,

    /// Where one wants to be: likewise
    #[arg(long, required = true, value_name = "SITUATION", allow_hyphen_values = true)]
    to: Vec<String>,

    /// The first of --from with the first of --to, the second with the second, instead of all pairs
    #[arg(long)]
    paired: bool,

    /// Logs that @EPISODE:ROW is about [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: Which,

    /// States per second, to show seconds, whatever the data say
    #[arg(long, value_name = "RATE")]
    fps: Option<f64>,

    #[command(flatten)]
    style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone distance runs/maze --from 0,0 --to 20,12
  isochrone distance runs/maze --from 0,0 --from 4,8 --to 20,12 --json
  isochrone distance runs/robot --from @3 --to @3:last --csv   # how far from done is each frame?";

/// Deviations from the mean of the data, in any dimension, beyond which a network guesses.
const FAR_OUT: f32 = 6.0;

/// A table of more would not fit in memory.
const MOST_PAIRS: usize = 5_000_000;

fn parse_which(text: &str) -> Result<Which, String> {
    match text {
        "last" => Ok(Which::Last),
        "best" => Ok(Which::Best),
        step => step.parse().map(Which::Step).map_err(|_| "not last, best or a step".into()),
    }
}

/// Where situations stand, and what they are called.
#[derive(Default)]
struct Situations {
    names: Vec<String>,
    /// `[n, width]`
    rows: Vec<f32>,
}

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(fps) = args.fps.filter(|fps| !(fps.is_finite() && *fps > 0.0)) {
        bail!("--fps {fps}; hint: give a positive number of states per second");
    }
    let model = Model::open(&args.run, args.checkpoint)?;
    let Some(distance) = &model.distance else {
        bail!(
            "{}: behaviour cloning knows no distance; hint: train with another --algorithm",
            args.run.display()
        );
    };
    model.warnings.iter().for_each(|warning| tell(&format!("warning: {warning}")));
    let mut data = None;
    let from = situations(&args.from, args, distance.width(), &mut data).context("--from")?;
    let to = situations(&args.to, args, distance.width(), &mut data).context("--to")?;
    if args.paired && from.names.len() != to.names.len() {
        bail!(
            "--paired with {} from and {} to; hint: give as many of each",
            from.names.len(),
            to.names.len()
        );
    }
    for (flag, situations) in [("--from", &from), ("--to", &to)] {
        let (row, deviations) = distance.farthest(&situations.rows);
        if deviations > FAR_OUT {
            tell(&format!(
                "warning: {flag} {}: {deviations:.0} deviations from the mean of the data; nothing was learned out there",
                situations.names[row]
            ));
        }
    }
    let pairs = if args.paired { from.names.len() } else { from.names.len().saturating_mul(to.names.len()) };
    if pairs > MOST_PAIRS {
        bail!("{pairs} pairs, more than {MOST_PAIRS}; hint: ask in parts, or use the library");
    }
    let fps = args.fps.or(model.spec.frames_per_second);
    let report = report(&model, distance, args.paired, fps, &from, &to);
    write!(out, "{}", report.print(args.style.style()))?;
    Ok(())
}

fn report(
    model: &Model,
    distance: &LearnedDistance,
    paired: bool,
    fps: Option<f64>,
    from: &Situations,
    to: &Situations,
) -> Report {
    let pairs: Vec<(&String, &String)> = match paired {
        true => from.names.iter().zip(&to.names).collect(),
        false => from.names.iter().flat_map(|from| to.names.iter().map(move |to| (from, to))).collect(),
    };
    let nats = match paired {
        true => distance.paired_nats(&from.rows, &to.rows),
        false => distance.all_pairs_nats(&from.rows, &to.rows),
    };
    let mut table = named(["from", "to", "steps"]);
    table.extend(fps.map(|_| "seconds".into()));
    table.push("nats".into());
    let rows = pairs.into_iter().zip(nats).map(|((from, to), nats)| {
        // Rounding may leave a zero with a sign.
        let nats = f64::from(nats) + 0.0;
        let steps = nats / distance.discount().nats_per_step();
        let mut row = vec![Field::Text(from.clone()), Field::Text(to.clone()), Field::Number(steps, 2)];
        row.extend(fps.map(|fps| Field::Number(steps / fps, 2)));
        row.push(Field::Number(nats, 4));
        row
    });
    let facts = json!({
        "version": env!("CARGO_PKG_VERSION"), "checkpoint_step": model.step, "discount": distance.discount().gamma(),
        "frames_per_second": fps,
    });
    let facts = facts.as_object().expect("it is one").clone();
    Report { facts, columns: table, min_widths: Vec::new(), rows: rows.collect() }
}

/// Points and states as rows. Data are read only if somebody asks for a state of them.
fn situations(
    texts: &[String],
    args: &Args,
    width: usize,
    data: &mut Option<Trajectories>,
) -> anyhow::Result<Situations> {
    let mut situations = Situations::default();
    for text in texts {
        match text.strip_prefix('@') {
            None => {
                situations.rows.extend(point(text, width)?);
                situations.names.push(text.clone());
            }
            Some(place) => {
                if data.is_none() {
                    *data = Some(load(args, width)?);
                }
                states(place, data.as_ref().expect("it was read"), &mut situations)?;
            }
        }
    }
    Ok(situations)
}

fn point(text: &str, width: usize) -> anyhow::Result<Vec<f32>> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|number| number.trim().parse::<f32>()).collect();
    let Ok(numbers) = numbers else {
        bail!(
            "'{text}' is not a point; hint: give {width} numbers like {}, or a state of the data like @0:10",
            example(width)
        );
    };
    if numbers.len() != width || numbers.iter().any(|number| !number.is_finite()) {
        bail!(
            "'{text}' is not {width} finite numbers; hint: distances compare whole observations, of {width} dimensions here; or give a state of the data like @0:10"
        );
    }
    Ok(numbers)
}

fn example(width: usize) -> String {
    (0..width).map(|dimension| dimension.to_string()).collect::<Vec<_>>().join(",")
}

fn load(args: &Args, width: usize) -> anyhow::Result<Trajectories> {
    let run = Run::open(&args.run)?;
    let path = args.data.as_ref().unwrap_or(&run.config().data.path);
    let data = formats::load(path, &run.config().data.read)?;
    if args.data.is_none() && data.content_hash() != run.manifest().data.content_hash {
        bail!(
            "{}: its contents are not those that the run learned from; hint: say --data FILE to ask about others",
            path.display()
        );
    }
    let found = data.spec().observation.width;
    if found != width {
        bail!(
            "{}: observations of {found} dimensions, not {width}; hint: give data like those that the run learned from",
            path.display()
        );
    }
    Ok(data)
}

/// `EPISODE:ROW`, `EPISODE:last` or `EPISODE:FROM..TO`, the last not included; `EPISODE` alone is all of its states.
fn states(place: &str, data: &Trajectories, situations: &mut Situations) -> anyhow::Result<()> {
    let wrong = || {
        format!("'@{place}' is not a state; hint: @EPISODE:ROW or @EPISODE:FROM..TO, like @0:10 or @0:10..20")
    };
    let (episode, rows) =
        place.split_once(':').map_or((place, None), |(episode, rows)| (episode, Some(rows)));
    let episode: usize = episode.parse().ok().with_context(wrong)?;
    if episode >= data.n_episodes() {
        bail!("'@{place}': there are {} episodes; hint: they are counted from 0", data.n_episodes());
    }
    let view = data.episode(episode);
    let states = view.steps + 1;
    let rows: Range<usize> = match rows {
        None => 0..states,
        Some(rows) => match rows.split_once("..") {
            Some((from, to)) => {
                from.parse().ok().with_context(wrong)?..to.parse().ok().with_context(wrong)?
            }
            None if rows == "last" => states - 1..states,
            None => {
                let row: usize = rows.parse().ok().with_context(wrong)?;
                row..row.saturating_add(1)
            }
        },
    };
    if rows.start >= rows.end || rows.end > states {
        bail!(
            "'@{place}': episode {episode} has rows 0 to {}; hint: FROM is less than TO, TO is not included, and @EPISODE alone is all of them",
            states - 1
        );
    }
    let width = data.spec().observation.width;
    situations.rows.extend(&view.observations[rows.start * width..rows.end * width]);
    situations.names.extend(rows.map(|row| format!("@{episode}:{row}")));
    Ok(())
}
