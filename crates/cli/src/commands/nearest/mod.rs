//! `isochrone nearest`: recorded states that are nearest in time to a state.

mod args;
#[cfg(feature = "nearest")]
mod check;
#[cfg(feature = "nearest")]
mod index;

pub use args::Args;

use crate::commands::{
    output::{Field, Report, count, named, note},
    query::LoadedRun,
};
use anyhow::bail;
use clap::ValueEnum as _;
use isochrone::{
    TemporalDistance,
    nearest::{Direction, Nearest},
};
use serde_json::json;
use std::io::Write;

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
