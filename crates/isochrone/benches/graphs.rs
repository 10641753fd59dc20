//! The cost of graphs of 8,000 dataset states over learned distances: `just bench-graphs`.
//!
//! ```text
//! graphs RESULTS.json FILE... > README.md
//! ```

use isochrone::{
    TemporalDistance as _,
    data::{Dataset, formats::ReadOptions},
    learn::{Algorithm, Preset, Training, model::Model, run::Provenance},
    plan::{PlanMethod, PlannerConfig, Vertices},
    rng,
};
use serde_json::{Value, json};
use std::{error::Error, path::Path, time::Instant};

/// The number of states of a graph.
const STATES: usize = 8000;
/// The edge length up to which a learned distance counts as accurate, in learned steps.
const EDGE_SCALE_STEPS: f64 = 20.0;
/// The number of plans.
const PLANS: usize = 100;
const UPDATES: u64 = 3000;
const BATCH_SIZE: usize = 256;
const DISCOUNT: f64 = 0.95;

const INTRODUCTION: &str = "\
# Graphs of 8,000 states over learned distances

Made by `just bench-graphs`; [results.json](results.json) has machine, version, data hashes and settings.
CMD-1 is trained for 3,000 updates, with the sizes `small` and `standard`; then 8,000 dataset states are chosen, all pairs are compared, and 100 paths between random states are planned over the complete graph (`isochrone plan --planner graph --states 8000`), each to a goal that was not planned to before.
Seconds with all cores, and with one thread.

| dataset | network | vertices | graph (s) | one thread | plan to a new goal (ms) | one thread | to a known goal (ms) | states of a path | equal with 1, 2 and 3 threads |
|---|---|---|---|---|---|---|---|---|---|";

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [results, files @ ..] = &arguments[..] else { return Err("RESULTS.json FILE...".into()) };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{INTRODUCTION}");
    let mut cases = Vec::new();
    for file in files {
        let data = Dataset::load(file, ReadOptions::default())?;
        for preset in [Preset::Small, Preset::Standard] {
            let training =
                Training::new(Algorithm::Cmd1).preset(preset).steps(UPDATES).batch_size(BATCH_SIZE);
            let model = training.discount(DISCOUNT).fit(&data)?;
            for vertices in [Vertices::Random, Vertices::Efficient] {
                let mut case = case(&data, &model, vertices)?;
                case["dataset"] = json!(Path::new(file).file_stem().map(|name| name.to_string_lossy()));
                case["data_hash"] = json!(data.content_hash());
                case["network"] = json!(format!("{preset:?}").to_lowercase());
                case["vertices"] = json!(format!("{vertices:?}").to_lowercase());
                print(&case);
                cases.push(case);
            }
        }
    }
    let made_by = Provenance::now();
    let summary = json!({
        "command": "just bench-graphs",
        "version": env!("CARGO_PKG_VERSION"),
        "revision": Provenance::revision(),
        "platform": made_by.platform,
        "cores": std::thread::available_parallelism()?,
        "load_before": load.split(' ').next(),
        "states": STATES,
        "edge_scale_steps": EDGE_SCALE_STEPS,
        "plans": PLANS,
        "training": { "algorithm": "cmd1", "updates": UPDATES, "batch_size": BATCH_SIZE, "discount": DISCOUNT, "seed": 0 },
        "cases": cases,
    });
    std::fs::write(results, serde_json::to_string_pretty(&summary)? + "\n")?;
    Ok(())
}

/// Prints a row of the table.
fn print(case: &Value) {
    let seconds = |of: &str, what: &str| case[of][what].as_f64().expect("a number");
    let text = |name: &str| case[name].as_str().expect("a text").to_owned();
    let millis = |of: &str, what: &str| 1e3 * seconds(of, what);
    let (all, one) = ("seconds", "seconds_of_one_thread");
    println!(
        "| {} | {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} | {} |",
        text("dataset"),
        text("network"),
        text("vertices"),
        seconds(all, "graph"),
        seconds(one, "graph"),
        millis(all, "plan_to_new_goal"),
        millis(one, "plan_to_new_goal"),
        millis(all, "plan_to_known_goal"),
        case["mean_path_states"].as_f64().expect("a number"),
        if case["equal_for_1_2_3_threads"] == json!(true) { "yes" } else { "**no**" },
    );
}

/// Measures the graph over one model with all cores, and compares its plans with those of one and
/// of three threads.
fn case(data: &Dataset, model: &Model, vertices: Vertices) -> Outcome<Value> {
    let all = measure(data, model, vertices, None)?;
    let (one, three) = (measure(data, model, vertices, Some(1))?, measure(data, model, vertices, Some(3))?);
    let seconds = |measured: &Measured| {
        let Measured { graph, new_goal, known_goal, .. } = measured;
        json!({ "graph": graph, "plan_to_new_goal": new_goal, "plan_to_known_goal": known_goal })
    };
    Ok(json!({
        "seconds": seconds(&all),
        "seconds_of_one_thread": seconds(&one),
        "mean_path_states": all.paths.iter().map(Vec::len).sum::<usize>() as f64
            / (PLANS * data.spec().observation.width) as f64,
        "equal_for_1_2_3_threads": all.paths == one.paths && all.paths == three.paths,
    }))
}

/// Seconds, and the states of the paths.
struct Measured {
    graph: f64,
    new_goal: f64,
    known_goal: f64,
    paths: Vec<Vec<f32>>,
}

/// Builds a graph and plans over it with a number of threads; `None` for one per core.
fn measure(data: &Dataset, model: &Model, vertices: Vertices, threads: Option<usize>) -> Outcome<Measured> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()?;
    pool.install(|| {
        let distance = model.distance()?;
        let width = distance.width();
        let config = PlannerConfig {
            method: PlanMethod::SoftGraph { edge_scale_steps: EDGE_SCALE_STEPS },
            round_trip: false,
            calibrated: false,
            transitions: STATES,
            vertices,
            seed: 0,
        };
        let start = Instant::now();
        let planner = config.build(distance, data)?;
        let graph = start.elapsed().as_secs_f64();
        let (starts, goals) = (states(data, 0), states(data, 1));
        let plan = |start: usize, goal: usize| {
            planner.plan(&starts[start * width..][..width], &goals[goal * width..][..width])
        };
        let start = Instant::now();
        let paths: Result<Vec<_>, _> = (0..PLANS).map(|pair| plan(pair, pair)).collect();
        let new_goal = start.elapsed().as_secs_f64() / PLANS as f64;
        let start = Instant::now();
        (0..PLANS).try_for_each(|pair| plan(pair, 0).map(|_| ()))?;
        let known_goal = start.elapsed().as_secs_f64() / PLANS as f64;
        let paths = paths?.into_iter().map(|path| path.states).collect();
        Ok(Measured { graph, new_goal, known_goal, paths })
    })
}

/// Returns random states of a dataset, `[n, width]`.
fn states(data: &Dataset, stream: u64) -> Vec<f32> {
    let mut random = rng::stream(2, stream);
    let rows = data.index().n_states() as usize;
    (0..PLANS).flat_map(|_| data.state(rng::below(&mut random, rows) as u64)).copied().collect()
}
