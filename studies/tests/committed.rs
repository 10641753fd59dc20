//! The committed results match the recipes of this repository.

use isochrone_envs::nav2d::Nav2d;
use isochrone_learn::Algorithm;
use isochrone_studies::{Part, Recipe, Results, jobs};
use std::{collections::BTreeMap, path::PathBuf};

fn results_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/results")
}

/// Settings and datasets are those of the recipe, and no run is missing.
#[test]
fn committed_results_match_the_recipes() {
    for name in [
        "nav2d",
        "nav2d-v2",
        "mazes",
        "antmaze",
        "antmaze-alone",
        "mazes-planners",
        "nav2d-planners",
        "antmaze-planners",
        "policies-search",
        "two-levels-search",
        "d4rl-two-levels",
    ] {
        let path = results_folder().join(name).join("results.json");
        let results: Results = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let recipe = Recipe::built_in(name).unwrap();
        let as_json = |recipe: &Recipe| serde_json::to_value(recipe).unwrap();
        assert_eq!(as_json(&results.recipe), as_json(&recipe), "run the study {name} again");
        let jobs = jobs(&recipe, &Part::default());
        assert_eq!(results.runs.len(), jobs.len(), "run the study {name} again");
        for (run, job) in results.runs.iter().zip(jobs) {
            let found = (run.dataset.as_str(), run.method.as_str(), run.seed, run.steps);
            assert_eq!(found, (job.dataset, job.method.name(), job.seed, recipe.steps(job.method)));
            assert_eq!(results.datasets[job.dataset].content_hash, run.provenance.data_hash);
            assert_eq!(run.checkpoints.len(), recipe.evaluation.checkpoints);
            assert!(run.evaluations(None).len() == recipe.evaluation.checkpoints);
        }
    }
}

/// The default weight of advantages is that of the search with the highest success rate.
#[test]
fn default_alphas_are_those_of_the_search() {
    let mut best = BTreeMap::new();
    for name in ["results.json", "beyond.json"] {
        let path = results_folder().join("two-levels-search").join(name);
        let results: Results = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for run in results.runs.iter().filter(|run| run.variant.is_none()) {
            for evaluation in &run.evaluations {
                let Some(planner) = &evaluation.planner else { continue };
                let alpha: f64 = planner.strip_prefix("alpha ").unwrap().parse().unwrap();
                let success = evaluation.success.iter().sum::<f64>();
                let known = best.entry(run.method.clone()).or_insert((success, alpha));
                *known = if success >= known.0 { (success, alpha) } else { *known };
            }
        }
    }
    assert_eq!(best.len(), 5);
    for (method, (_, alpha)) in best {
        assert_eq!(Algorithm::named(&method).unwrap().advantage_alpha(), alpha, "{method}");
    }
}

/// The content hash as defined when the committed reports were written, for data without rewards,
/// timestamps and extra columns.
fn first_content_hash(data: &isochrone_data::Dataset) -> String {
    let spec = data.spec();
    assert!(!spec.has_rewards && !spec.has_timestamps && spec.extras.is_empty());
    let mut bytes = b"isochrone trajectories 1\n".to_vec();
    for (name, width) in [("observations", spec.observation.width), ("actions", spec.action.width)] {
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name.bytes());
        bytes.extend((width as u64).to_le_bytes());
    }
    bytes.extend([0, 0]);
    for episode in (0..data.n_episodes()).map(|number| data.episode(number)) {
        bytes.extend((episode.steps as u64).to_le_bytes());
        bytes.extend(episode.ending.name().bytes());
        bytes
            .extend(episode.observations.iter().chain(episode.actions).flat_map(|value| value.to_le_bytes()));
    }
    isochrone_learn::run::checkpoint::sha256(&bytes)
}

/// The data of the navigation study are collected again; the report names their hash, and its
/// figures exist.
#[test]
fn the_committed_report_matches_the_data() {
    let recipe = Recipe::built_in("nav2d").unwrap();
    let data = Nav2d::standard().dataset(2000, recipe.data_seed);
    let folder = results_folder().join("nav2d");
    let results: Results =
        serde_json::from_str(&std::fs::read_to_string(folder.join("results.json")).unwrap()).unwrap();
    let hash = first_content_hash(&data);
    assert_eq!(results.datasets["nav2d"].content_hash, hash);
    let report = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(report.contains(&hash[..16]));
    for name in report.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(folder.join(name).exists(), "{name}");
    }
}

/// The committed table has a row for every method and variant of the recipe.
#[test]
fn the_committed_search_matches_the_recipe() {
    let recipe = Recipe::built_in("nav2d-search").unwrap();
    let table = std::fs::read_to_string(results_folder().join("nav2d-search.md")).unwrap();
    for method in recipe.methods() {
        let rows = table.lines().filter(|line| line.starts_with(&format!("| {} |", method.name()))).count();
        let runs = jobs(&recipe, &Part::default()).iter().filter(|job| job.method == method).count();
        assert_eq!(rows, runs, "{}", method.name());
    }
}
