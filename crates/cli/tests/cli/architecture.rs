//! Crate dependencies match ARCHITECTURE.md, and paths in the documents exist.

use crate::run::workspace;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// The workspace crates that each crate may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("isochrone-core", &[]),
    ("isochrone-data", &["core"]),
    ("isochrone-envs", &["core", "data"]),
    ("isochrone-eval", &["core", "data"]),
    ("isochrone-nn", &["core"]),
    ("isochrone-learn", &["core", "data", "nn"]),
    ("isochrone-mpi", &["nn"]),
    ("isochrone-plot", &["core", "data", "eval"]),
    ("isochrone", &["core", "data", "envs", "eval", "learn", "nn", "plot"]),
    ("isochrone-studies", &["core", "data", "envs", "eval", "learn", "plot"]),
    ("isochrone-cli", &["isochrone", "mpi", "studies"]),
    ("isochrone-python", &["isochrone", "cli"]),
];

/// Large dependencies, and the crates that must build without them.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("burn", &["isochrone-core", "isochrone-data", "isochrone-envs", "isochrone-eval", "isochrone-plot"]),
    // In the default build: mazes are an optional feature.
    ("mujoco", &["isochrone-envs", "isochrone-learn", "isochrone-studies", "isochrone-cli"]),
];

/// Returns the dependencies of each package, except dev-dependencies.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    // For this platform only: dependencies of other platforms may not be downloaded.
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
fn crate_dependencies_match_the_architecture() {
    let graph = dependencies();
    for package in graph.keys().filter(|name| name.starts_with("isochrone")) {
        let (_, allowed) = ALLOWED
            .iter()
            .find(|(name, _)| name == package)
            .unwrap_or_else(|| panic!("{package} is not in ALLOWED: add it there and to ARCHITECTURE.md"));
        for used in graph[package].iter().filter(|name| name.starts_with("isochrone")) {
            let short = used.strip_prefix("isochrone-").unwrap_or(used);
            assert!(allowed.contains(&short), "{package} must not depend on {used}");
        }
    }
    assert_eq!(graph.keys().filter(|name| name.starts_with("isochrone")).count(), ALLOWED.len());
}

#[test]
fn light_crates_do_not_depend_on_large_libraries() {
    let graph = dependencies();
    for (library, packages) in FORBIDDEN {
        for package in *packages {
            let mut reached = BTreeSet::from([(*package).to_owned()]);
            let mut open = vec![(*package).to_owned()];
            while let Some(name) = open.pop() {
                for used in &graph[&name] {
                    assert!(!used.starts_with(library), "{package} depends on {used} through {name}");
                    if reached.insert(used.clone()) {
                        open.push(used.clone());
                    }
                }
            }
        }
    }
}

#[test]
fn paths_in_the_architecture_document_exist() {
    let root = workspace();
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| {
            !code.contains(' ')
                && ["crates/", "docs/", "examples/", "studies/", ".ci/"].iter().any(|p| code.starts_with(p))
        })
        .collect();
    assert!(paths.len() >= 10, "too few paths in ARCHITECTURE.md: {paths:?}");
    for path in paths {
        assert!(root.join(path).exists(), "ARCHITECTURE.md mentions {path}, which does not exist");
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

#[test]
fn manifests_have_the_version_of_burn() {
    let text = std::fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let version = isochrone::learn::run::Provenance::now().burn;
    assert!(
        text.contains(&format!("burn = {{ package = \"burn-core\", version = \"={version}\"")),
        "Cargo.toml requires another Burn than {version}"
    );
}
