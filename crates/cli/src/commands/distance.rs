//! `isochrone distance`: ask a run how far apart situations are.

use crate::commands::{
    output::{Field, Report, StyleArgs, named, tell},
    query::{Asker, DistanceArg, RunArgs, parse_which},
};
use anyhow::bail;
use clap::ValueEnum as _;
use isochrone::learn::model::CheckpointSelector;
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// How far apart are two situations, in steps? Asks a trained run
///
/// The answer is recorded time: the fastest segments that were recorded between landmarks of the data, joined by short hops. `--distance learned` asks the network instead, which
/// generalizes beyond the data, but whose steps are those of the behavior. What was asked, and how far it can be trusted, goes to the standard error.
///
/// A situation is a point, `1.5,2` (one number for each dimension of an observation), or a state of the data: `@EPISODE:ROW`, `@EPISODE:last`; `@EPISODE:FROM..TO` for several, `@EPISODE` for all.
/// Several situations on both sides give all pairs.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Where one is: points, or states of the data; may be repeated
    #[arg(long, required = true, value_name = "SITUATION", allow_hyphen_values = true)]
    from: Vec<String>,

    /// Where one wants to be: likewise
    #[arg(long, required = true, value_name = "SITUATION", allow_hyphen_values = true)]
    to: Vec<String>,

    /// Which distance answers
    #[arg(long, value_enum, value_name = "WHICH", default_value = "refined")]
    distance: DistanceArg,

    /// The first of --from with the first of --to, the second with the second, instead of all pairs
    #[arg(long)]
    paired: bool,

    /// Logs that @EPISODE:ROW is about [default: those that the run learned from]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Which checkpoint: last, best, or a step
    #[arg(long, default_value = "best", value_name = "WHICH", value_parser = parse_which)]
    checkpoint: CheckpointSelector,

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

/// A table of more would not fit in memory.
const MOST_PAIRS: usize = 5_000_000;

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(fps) = args.fps.filter(|fps| !(fps.is_finite() && *fps > 0.0)) {
        bail!("--fps {fps}; hint: give a positive number of states per second");
    }
    let asker = Asker::open(&args.run, args.checkpoint, args.data.as_deref())?;
    let distance = asker.distance_of(args.distance)?;
    let (from, to) = (asker.situations(&args.from, "--from")?, asker.situations(&args.to, "--to")?);
    let (n_from, n_to) = (from.names.len(), to.names.len());
    if args.paired && n_from != n_to {
        bail!("--paired with {n_from} from and {n_to} to; hint: give as many of each");
    }
    let pairs = if args.paired { n_from } else { n_from.saturating_mul(n_to) };
    if pairs > MOST_PAIRS {
        bail!("{pairs} pairs, more than {MOST_PAIRS}; hint: ask in parts, or use the library");
    }
    let fps = args.fps.or(asker.model.spec.frames_per_second);
    let (pairs, steps): (Vec<(&String, &String)>, _) = match args.paired {
        true => (from.names.iter().zip(&to.names).collect(), distance.paired_steps(&from.rows, &to.rows)?),
        false => {
            let pairs = from.names.iter().flat_map(|from| to.names.iter().map(move |to| (from, to)));
            (pairs.collect(), distance.all_pairs_steps(&from.rows, &to.rows)?)
        }
    };
    if matches!(args.distance, DistanceArg::Refined | DistanceArg::Typical) {
        for (flag, asked) in [("--from", &from), ("--to", &to)] {
            let outside =
                asker.refined()?.extrapolates(&asked.rows)?.into_iter().position(|is_outside| is_outside);
            if let Some(row) = outside {
                tell(&format!(
                    "warning: {flag} {} lies beyond the data, and the answer extrapolates; hint: --distance learned generalizes",
                    asked.names[row]
                ));
            }
        }
        if steps.iter().any(|steps: &f64| steps.is_infinite()) {
            tell(
                "warning: for some pairs no recorded path is known; hint: --distance learned estimates them",
            );
        }
    }
    let trust = asker.trust(args.distance, &*distance)?;
    tell(&trust);
    // Nats have a meaning where a network learned them.
    let nats_per_step =
        matches!(args.distance, DistanceArg::Learned).then(|| distance.discount().nats_per_step());
    let columns = ["from", "to", "steps"].into_iter().chain(fps.map(|_| "seconds"));
    let columns = columns.chain(nats_per_step.map(|_| "nats"));
    let rows = pairs.into_iter().zip(steps).map(|((from, to), steps)| {
        let mut row = vec![Field::Text(from.clone()), Field::Text(to.clone()), Field::Number(steps, 2)];
        row.extend(fps.map(|fps| Field::Number(steps / fps, 2)));
        row.extend(nats_per_step.map(|nats| Field::Number(steps * nats, 4)));
        row
    });
    let which = args.distance.to_possible_value().expect("all are shown").get_name().to_owned();
    let facts = json!({
        "distance": which, "trust": trust, "checkpoint_step": asker.model.step, "discount": asker.run.config().discount, "frames_per_second": fps,
    });
    Ok(write!(out, "{}", Report::new(facts, named(columns), rows).print(&args.style))?)
}
