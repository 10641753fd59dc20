//! Flipped bits in the files of a run are refused.

#![cfg(feature = "learn")]

use isochrone::{
    TemporalDistance as _,
    data::{
        Dataset,
        shards::{Part, Shards, StateColumns},
        tables::{Column, write_parquet},
    },
    learn::{
        Algorithm, ComputeDevice, Preset, Training,
        distill::{
            DistillConfig, DistilledDistance, distill,
            policy::{
                DistilledPolicy, PolicyDistillConfig, WaypointPolicy, distill_policy, distill_waypoints,
            },
        },
        error::LearnError,
        model::{CheckpointSelector, Model},
        run::{REFINED_FILE, Run},
    },
    plan::{RecordedPlanner, WaypointDisplacements},
    refined::{GraphPart, Landmarks, RefinedConfig, RefinedDistance},
    rng,
};
use std::{fs, path::Path, sync::Arc};

const CHECKPOINT: &str = "checkpoints/step-000000000004";

/// Random walks in the plane; the actions are the moves.
fn walks() -> Dataset {
    let mut random = rng::stream(5, 0);
    let episodes: Vec<_> = (0..8)
        .map(|_| {
            let moves: Vec<f32> = (0..2 * 40).map(|_| rng::normal(&mut random) as f32).collect();
            let mut states = vec![0.0, 0.0];
            for step in moves.chunks(2) {
                let [x, y] = [states[states.len() - 2], states[states.len() - 1]];
                states.extend([x + step[0], y + step[1]]);
            }
            (states, moves)
        })
        .collect();
    Dataset::from_arrays(2, 2, episodes).unwrap()
}

/// Flips random bits of a file, one at a time. `used` returns everything that later work takes from
/// the file, or `None` if the file is refused.
fn flip<T: PartialEq>(folder: &Path, file: &str, used: impl Fn() -> Option<T>) {
    let flips: usize = std::env::var("ISOCHRONE_FLIPS").map_or(40, |text| text.parse().unwrap());
    let path = folder.join(file);
    let (intact, expected) = (fs::read(&path).unwrap(), used());
    assert!(expected.is_some(), "{file}");
    let (mut refused, mut equal) = (0, 0);
    let mut random = rng::stream(7, 0);
    for _ in 0..flips {
        let bit = rng::below(&mut random, 8 * intact.len());
        let mut bytes = intact.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, bytes).unwrap();
        match used() {
            None => refused += 1,
            found => {
                assert!(found == expected, "{file}: bit {bit} is used silently");
                equal += 1;
            }
        }
    }
    fs::write(&path, intact).unwrap();
    println!("{file}: of {flips} flipped bits {refused} were refused, {equal} changed nothing");
    assert!(refused > equal, "{file}: {refused} refused, {equal} equal");
    assert!(used() == expected, "{file}");
}

/// The settings, the provenance, the complete checkpoint, and a distance.
fn used_of_run(folder: &Path) -> Result<(String, Vec<u8>, Vec<f32>), LearnError> {
    let run = Run::open(folder)?;
    let settings = format!("{:?} {:?}", run.config(), run.manifest());
    let state = run.checkpoints().load(4)?.snapshot;
    let state = [state.weights.to_bytes(), state.training.to_bytes()].concat();
    let model = Model::of_run(&run, CheckpointSelector::Step(4))?;
    let distance = model.distance.expect("it learns a distance");
    Ok((settings, state, distance.paired_nats(&[0.0; 2], &[1.0; 2])))
}

#[test]
fn no_flipped_bit_of_a_run_is_used() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks());
    let training = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(4).batch_size(32);
    training.run_dir(folder.path()).train(&data).unwrap();
    let parts = ["weights.safetensors", "training.safetensors", "checkpoint.json", "SHA256SUMS"];
    let parts = parts.map(|name| format!("{CHECKPOINT}/{name}"));
    for file in ["config.toml", "manifest.json"].into_iter().chain(parts.iter().map(String::as_str)) {
        flip(folder.path(), file, || used_of_run(folder.path()).ok());
    }
}

/// What the jobs of a graph in parts hand on.
#[test]
fn no_flipped_bit_of_a_graph_in_parts_is_used() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks());
    let path = |file: &str| folder.path().join(file);
    let number = |of: &dyn Fn(u64) -> f64| Column::Numbers((0..data.index().n_states()).map(of).collect());
    let columns = [
        ("obs_x", number(&|row| f64::from(data.state(row)[0]))),
        ("obs_y", number(&|row| f64::from(data.state(row)[1]))),
        ("episode", number(&|row| data.index().row_of_state(row).0 as f64)),
    ];
    write_parquet(&path("logs.parquet"), &columns).unwrap();
    let shards = Shards::open(&path("logs.parquet")).unwrap();
    let columns = StateColumns { width: 2, ..StateColumns::default() };
    let config = RefinedConfig { landmarks: 40, ..RefinedConfig::default() };
    let landmarks = Landmarks::choose(&shards, &columns, 1000, &config).unwrap();
    landmarks.save(&path("landmarks.json")).unwrap();
    flip(folder.path(), "landmarks.json", || Landmarks::open(&path("landmarks.json")).ok());
    let part = GraphPart::build(&Arc::new(landmarks), &shards, Part::ALL).unwrap();
    part.save(&path("graph.parquet")).unwrap();
    flip(folder.path(), "graph.parquet", || GraphPart::open(&path("graph.parquet")).ok());
}

/// What `distill` and queries add to a run.
#[test]
fn no_flipped_bit_of_a_graph_or_a_distilled_network_is_used() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks());
    let path = |file: &str| folder.path().join(file);
    let (config, graph) = (RefinedConfig::default(), path(REFINED_FILE));
    let refined = RefinedDistance::fit(&data, &config).unwrap();
    refined.save(&graph, &data, &config).unwrap();
    let (from, to) = (data.episode(0).observations, data.episode(7).observations);
    flip(folder.path(), REFINED_FILE, || {
        // Queries build a graph again if the file is for other data or settings.
        let opened = RefinedDistance::open(&graph, &data, &config).ok()??;
        Some((opened.n_edges(), opened.all_pairs_steps(from, to).unwrap()))
    });

    let file = path(DistilledDistance::FILE_NAME);
    let config = DistillConfig { updates: 3, ..DistillConfig::default() };
    distill(&refined, &data, &config, |_, _| {}).unwrap().save(&file).unwrap();
    flip(folder.path(), DistilledDistance::FILE_NAME, || {
        Some(DistilledDistance::load(&file).ok()?.paired_nats(&from[..2], &to[..2]))
    });

    let file = path(DistilledPolicy::FILE_NAME);
    let config =
        PolicyDistillConfig { goals: 20, starts_per_goal: 5, updates: 3, width: 8, ..Default::default() };
    let model = Training::new(Algorithm::Gcbc).preset(Preset::Small).steps(1).batch_size(32);
    let teacher = model.train(&data).unwrap().model.policy.expect("it learns a policy");
    distill_policy(&teacher, "cloned", &data, &config, |_, _| {}).unwrap().save(&file).unwrap();
    flip(folder.path(), DistilledPolicy::FILE_NAME, || {
        Some(DistilledPolicy::load_on(&file, ComputeDevice::Cpu).ok()?.to_bytes())
    });

    let file = path(WaypointPolicy::FILE_NAME);
    let refined = RecordedPlanner::new(refined, &data, 5.0);
    let goal = data.spec().goal_space();
    let teacher =
        WaypointDisplacements { planner: refined, observation_width: data.spec().observation.width, goal };
    distill_waypoints(&teacher, "recorded", &data, &config, |_, _| {}).unwrap().save(&file).unwrap();
    flip(folder.path(), WaypointPolicy::FILE_NAME, || {
        Some(DistilledPolicy::load_on(&file, ComputeDevice::Cpu).ok()?.to_bytes())
    });
}
