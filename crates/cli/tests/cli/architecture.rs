//! The house is built as drawn: crates depend as ARCHITECTURE.md says, and its paths exist.

use crate::run::workspace;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// What each of our crates may use of the others.
const ALLOWED: &[(&str, &[&str])] = &[
    ("isochrone-core", &[]),
    ("isochrone-data", &["core"]),
    ("isochrone-envs", &["core", "data"]),
    ("isochrone-eval", &["core", "data"]),
    ("isochrone-nn", &["core"]),
    ("isochrone-learn", &["core", "data", "nn"]),
    ("isochrone-plot", &["core", "data", "eval"]),
    ("isochrone", &["core", "data", "envs", "eval", "learn", "nn", "plot"]),
    ("isochrone-studies", &["core", "data", "envs", "eval", "learn", "plot"]),
    ("isochrone-cli", &["isochrone", "studies"]),
];

/// Heavy engines, and the crates that must be buildable without them.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("burn", &["isochrone-core", "isochrone-data", "isochrone-envs", "isochrone-eval", "isochrone-plot"]),
    // Of the default build: mazes are an optional feature.
    ("mujoco", &["isochrone-envs", "isochrone-learn", "isochrone-studies", "isochrone-cli"]),
];

/// For each package of the graph, the packages it depends on outside of tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    // For this platform only: what others need has not been downloaded.
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let is_normal = |dependency: &&Value| {
        dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].as_str() != Some("dev"))
    };
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let mut graph = BTreeMap::<String, BTreeSet<String>>::new();
    for node in nodes {
        let uses = node["deps"].as_array().unwrap().iter().filter(is_normal);
        let uses = uses.map(|dependency| names[dependency["pkg"].as_str().unwrap()].to_owned());
        graph.entry(names[node["id"].as_str().unwrap()].to_owned()).or_default().extend(uses);
    }
    graph
}

#[test]
fn crates_depend_as_drawn() {
    let graph = dependencies();
    for package in graph.keys().filter(|name| name.starts_with("isochrone")) {
        let (_, allowed) = ALLOWED
            .iter()
            .find(|(name, _)| name == package)
            .unwrap_or_else(|| panic!("{package} is not on the plan: add it to ALLOWED and ARCHITECTURE.md"));
        for used in graph[package].iter().filter(|name| name.starts_with("isochrone")) {
            let short = used.strip_prefix("isochrone-").unwrap_or(used);
            assert!(allowed.contains(&short), "{package} must not depend on {used}");
        }
    }
    assert_eq!(graph.keys().filter(|name| name.starts_with("isochrone")).count(), ALLOWED.len());
}

#[test]
fn light_crates_stay_light() {
    let graph = dependencies();
    for (engine, packages) in FORBIDDEN {
        for package in *packages {
            let mut reached = BTreeSet::from([(*package).to_owned()]);
            let mut open = vec![(*package).to_owned()];
            while let Some(name) = open.pop() {
                for used in &graph[&name] {
                    assert!(!used.starts_with(engine), "{package} reaches {used} by way of {name}");
                    if reached.insert(used.clone()) {
                        open.push(used.clone());
                    }
                }
            }
        }
    }
}

#[test]
fn paths_in_the_architecture_page_exist() {
    let root = workspace();
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| {
            !code.contains(' ')
                && ["crates/", "docs/", "examples/", "studies/", ".ci/"].iter().any(|p| code.starts_with(p))
        })
        .collect();
    assert!(paths.len() >= 10, "the page names its places: {paths:?}");
    for path in paths {
        assert!(root.join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
    }
}

#[test]
fn local_links_in_the_documents_exist() {
    let root = workspace();
    for document in [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "docs/guides/data.md",
        "docs/guides/exact.md",
        "docs/guides/learning.md",
        "docs/guides/mazes.md",
        "docs/guides/networks.md",
        "docs/guides/planning.md",
        "docs/results/antmaze/README.md",
        "docs/results/mazes/README.md",
        "docs/results/nav2d/README.md",
    ] {
        let folder = root.join(document).parent().unwrap().to_owned();
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            if !target.is_empty() && !target.starts_with("http") {
                assert!(folder.join(target).exists(), "{document} links to {target}, which does not exist");
            }
        }
    }
}

/// Manifests say which engine computed.
#[test]
fn manifests_name_the_engine_that_is_used() {
    let text = std::fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let said = isochrone::learn::run::Provenance::now().burn;
    assert!(
        text.contains(&format!("burn = {{ version = \"={said}\"")),
        "Cargo.toml asks for another Burn than {said}"
    );
}
