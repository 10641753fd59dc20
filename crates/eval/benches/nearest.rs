//! The cost of nearest states and of large graphs: `just bench-nearest`.
//!
//! Arguments: the number of states of the search, then the numbers of states of the graphs.

#[path = "../tests/nearest/slope.rs"]
#[allow(dead_code)]
mod slope;

use isochrone_core::{LatentDistance as _, TemporalDistance};
use isochrone_eval::{
    nearest::{Direction, IndexConfig, NearestIndex, SliceStates, nearest_latent},
    plan::{PlanMethod, Planner, Transitions},
};
use rayon::prelude::*;
use serde_json::{Value, json};
use slope::{Opaque, Slope, WIDTH, asymmetry};
use std::time::Instant;

const QUERIES: usize = 200;
const K: usize = 10;
/// The number of planned paths.
const PATHS: usize = 20;
/// The largest graph whose pairs are all compared: 1.6 GB.
const MAX_ALL_PAIRS: usize = 20_000;
/// The maximum edge length, relative to a typical distance.
const EDGE_SHARE: f64 = 0.2;

fn main() {
    // `cargo bench` passes `--bench`.
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let states = numbers.next().unwrap_or(100_000);
    let mut graphs: Vec<usize> = numbers.collect();
    if graphs.is_empty() {
        graphs = vec![10_000, 20_000, 100_000];
    }
    let slope = Slope::new(1);
    let report = json!({
        "command": "cargo bench -p isochrone-eval --features nearest --bench nearest",
        "distance": "a metric residual network over smooth random features of 4 coordinates, seed 1",
        "threads": rayon::current_num_threads(),
        "version": env!("CARGO_PKG_VERSION"),
        "search": search(&slope, states),
        "graphs": graphs.into_iter().map(|states| graph(&slope, states)).collect::<Value>(),
    });
    println!("{report:#}");
}

/// Measures recall and queries per second on random positions.
fn search(slope: &Slope, n: usize) -> Value {
    let rows = Slope::positions(n, 2);
    let (latent, metric) = (slope.embed(&rows), slope.metric());
    let start = Instant::now();
    let states = SliceStates { values: &rows, width: WIDTH };
    let index =
        NearestIndex::build(slope, &states, IndexConfig::default(), &|_| ()).expect("memory suffices");
    let build_seconds = start.elapsed().as_secs_f64();
    let queries = slope.embed(&Slope::positions(QUERIES, 3));
    let queries: Vec<&[f32]> = queries.chunks_exact(metric.width()).collect();
    let directions: Value = Direction::ALL
        .into_iter()
        .map(|direction| {
            let start = Instant::now();
            let exact: Vec<_> =
                queries.iter().map(|query| nearest_latent(&*metric, &latent, query, direction, K)).collect();
            let exact_seconds = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let found: Vec<_> = queries.par_iter().map(|query| index.nearest(query, direction, K)).collect();
            let index_seconds = start.elapsed().as_secs_f64();
            let hits: usize = exact
                .iter()
                .zip(&found)
                .map(|(exact, found)| found.iter().filter(|found| exact.contains(found)).count())
                .sum();
            json!({
                "direction": format!("{direction:?}").to_lowercase(),
                "recall": hits as f64 / (QUERIES * K) as f64,
                "exact_queries_per_second": QUERIES as f64 / exact_seconds,
                "index_queries_per_second": QUERIES as f64 / index_seconds,
            })
        })
        .collect();
    json!({
        "states": n,
        "k": K,
        "queries": QUERIES,
        "latent_width": metric.width(),
        "asymmetry": asymmetry(slope, &rows[..n.min(20_000) * WIDTH]),
        "build_seconds": build_seconds,
        "directions": directions,
    })
}

/// Measures the construction of a planner with and without the index, and the lengths of its paths.
fn graph(slope: &Slope, n: usize) -> Value {
    let sample = Slope::positions(2000, 4);
    let nats = slope.paired_nats(&sample[..1000 * WIDTH], &sample[1000 * WIDTH..]);
    let typical = f64::from(nats.iter().sum::<f32>()) / 1000.0 / slope.discount().nats_per_step();
    let (seconds, plan_seconds, indexed) = planned(slope, n, EDGE_SHARE * typical);
    let all_pairs = (n <= MAX_ALL_PAIRS).then(|| planned(&Opaque(slope), n, EDGE_SHARE * typical));
    let ratios = all_pairs.as_ref().map(|(.., lengths)| {
        indexed.iter().zip(lengths).map(|(indexed, all)| indexed / all).collect::<Vec<f64>>()
    });
    json!({
        "states": n,
        "max_edge_share": EDGE_SHARE,
        "paths": PATHS,
        "index_seconds": seconds,
        "index_seconds_per_path": plan_seconds,
        "all_pairs_seconds": all_pairs.as_ref().map(|all| all.0),
        "all_pairs_seconds_per_path": all_pairs.as_ref().map(|all| all.1),
        "mean_length_ratio": ratios.as_ref().map(|ratios| ratios.iter().sum::<f64>() / PATHS as f64),
        "min_length_ratio": ratios.as_ref().map(|ratios| ratios.iter().copied().fold(f64::INFINITY, f64::min)),
        "max_length_ratio": ratios.as_ref().map(|ratios| ratios.iter().copied().fold(0.0, f64::max)),
    })
}

/// Returns the seconds of construction, the seconds per path, and the lengths of paths in steps.
fn planned(distance: &dyn TemporalDistance, n: usize, max_edge_steps: f64) -> (f64, f64, Vec<f64>) {
    let states = Slope::positions(n, 2);
    let transitions = Transitions { next_states: states.clone(), states, actions: Vec::new() };
    let start = Instant::now();
    let planner = Planner::new(PlanMethod::Graph { max_edge_steps }, distance, transitions).expect("valid");
    let seconds = start.elapsed().as_secs_f64();
    let (from, to) = (Slope::positions(PATHS, 5), Slope::positions(PATHS, 6));
    let start = Instant::now();
    let pairs = from.chunks_exact(WIDTH).zip(to.chunks_exact(WIDTH));
    let lengths =
        pairs.map(|(from, to)| planner.plan(from, to).map_or(f64::NAN, |path| path.steps())).collect();
    (seconds, start.elapsed().as_secs_f64() / PATHS as f64, lengths)
}
