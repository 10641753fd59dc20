//! The index compared with exact search.

use super::{args::Args, index};
use crate::commands::{
    output::{Field, Report, bar, named},
    query::{DistanceArg, LoadedRun},
};
use anyhow::{Context as _, bail};
use isochrone::{
    LatentMetric, TemporalDistance,
    nearest::{Direction, Nearest, NearestIndex, Neighbor, States as _, nearest_latent},
    rng,
};
use rayon::prelude::*;
use serde_json::json;
use std::{io::Write, time::Instant};

/// The seed of the random queries and pairs.
const SEED: u64 = 0;
/// The number of random pairs that the asymmetry is computed from.
const PAIRS: usize = 20_000;
/// The relative difference of distances that count as equal: they are rounded differently.
const TOLERANCE: f32 = 1e-5;
/// The number of states that are embedded at a time.
const CHUNK: usize = 1 << 16;

/// Measures recall and queries per second of the index, against exact search.
pub fn check(
    args: &Args,
    loaded: &LoadedRun,
    distance: &dyn TemporalDistance,
    queries: usize,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (data, k) = (loaded.data()?, args.k as usize);
    if args.distance != DistanceArg::Learned || args.exact {
        bail!(
            "--check: there is an index of the learned distance only; hint: leave out --distance and --exact"
        );
    }
    let latent = distance.as_latent().with_context(|| {
        format!(
            "--check: {} does not compare latent states; hint: train cmd1, cmd2, qrl, tmd or mqe",
            loaded.run.manifest().algorithm
        )
    })?;
    let start = Instant::now();
    let opened = index::of(args, loaded, distance)?;
    let index = match opened {
        Some(index) => index,
        None => index::build(latent, data)?,
    };
    let ready_seconds = start.elapsed().as_secs_f64();
    let metric = latent.metric();
    let n = data.n_states();
    let mut rows = Vec::with_capacity(n * metric.width());
    for first in (0..n).step_by(CHUNK) {
        rows.extend(latent.embed(&data.states(first..n.min(first + CHUNK))));
    }
    let row = |number: usize| &rows[number * metric.width()..][..metric.width()];
    let mut random = rng::stream(SEED, 0);
    let asked: Vec<usize> = (0..queries).map(|_| rng::below(&mut random, n)).collect();
    let progress = bar(2 * queries, "exact search {wide_bar} {pos}/{len} queries, {eta} left");
    let table = Direction::ALL.map(|direction| {
        let (mut seconds, mut truth) = (0.0, Vec::new());
        for &query in &asked {
            let start = Instant::now();
            // The query is a recorded state, and nearest to itself.
            truth.push(others(nearest_latent(&*metric, &rows, row(query), direction, k + 1), query, k));
            seconds += start.elapsed().as_secs_f64();
            progress.inc(1);
        }
        let exact = queries as f64 / seconds;
        let start = Instant::now();
        let found: Vec<Vec<Neighbor>> = asked
            .par_iter()
            .map(|&query| others(index.nearest(row(query), direction, k + 1), query, k))
            .collect();
        let indexed = queries as f64 / start.elapsed().as_secs_f64();
        let ranked = ranked_per_second(distance, loaded, &index, &asked, direction, k);
        let recall = truth.iter().zip(&found).map(|(truth, found)| recall(truth, found)).sum::<f64>();
        let name = if direction == Direction::To { "to" } else { "from" };
        Ok::<_, anyhow::Error>(vec![
            Field::Text(name.to_owned()),
            Field::Number(recall / queries as f64, 4),
            Field::Number(exact, 1),
            Field::Number(indexed, 1),
            Field::Number(ranked?, 1),
        ])
    });
    progress.finish_and_clear();
    let table: Vec<Vec<Field>> = table.into_iter().collect::<Result<_, _>>()?;
    let facts = json!({
        "k": k,
        "queries": queries,
        "seed": SEED,
        "states": n,
        "latent_width": metric.width(),
        "asymmetry": asymmetry(&*metric, n, row),
        "index_ready_seconds": ready_seconds,
        "threads": rayon::current_num_threads(),
        "algorithm": loaded.run.manifest().algorithm,
        "checkpoint_step": loaded.model.step,
        "data_sha256": data.content_hash(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let columns = [
        "direction",
        "recall",
        "exact_queries_per_second",
        "index_queries_per_second",
        "ranked_queries_per_second",
    ];
    Ok(write!(out, "{}", Report::new(facts, named(columns), table).print(&args.style))?)
}

/// Returns the queries per second of the complete query: embedding, index, ranking by the model.
fn ranked_per_second(
    distance: &dyn TemporalDistance,
    loaded: &LoadedRun,
    index: &NearestIndex,
    asked: &[usize],
    direction: Direction,
    k: usize,
) -> anyhow::Result<f64> {
    let data = loaded.data()?;
    let nearest = Nearest::with_index(distance, data, index)?;
    let start = Instant::now();
    for &query in asked {
        nearest.search(data.state(query as u64), direction, k)?;
    }
    Ok(asked.len() as f64 / start.elapsed().as_secs_f64())
}

/// Returns the first `k` neighbors other than the query itself.
fn others(found: Vec<Neighbor>, query: usize, k: usize) -> Vec<Neighbor> {
    found.into_iter().filter(|found| found.row != query as u64).take(k).collect()
}

/// Returns the share of the true neighbors that were found. Any state that is as near as the
/// farthest of them counts.
fn recall(truth: &[Neighbor], found: &[Neighbor]) -> f64 {
    let Some(last) = truth.last() else { return 1.0 };
    let bound = last.nats + last.nats.abs() * TOLERANCE;
    found.iter().filter(|found| found.nats <= bound).count() as f64 / truth.len() as f64
}

/// Returns the mean of `|d(a, b) - d(b, a)|` over random pairs, divided by the mean of
/// `max(d(a, b), d(b, a))`.
fn asymmetry<'a>(metric: &dyn LatentMetric, n: usize, row: impl Fn(usize) -> &'a [f32]) -> f64 {
    let mut random = rng::stream(SEED, 1);
    let (mut gap, mut larger) = (0.0, 0.0);
    for _ in 0..PAIRS {
        let (a, b) = (row(rng::below(&mut random, n)), row(rng::below(&mut random, n)));
        let (there, back) = (f64::from(metric.nats(a, b)), f64::from(metric.nats(b, a)));
        gap += (there - back).abs();
        larger += there.max(back);
    }
    gap / larger
}
