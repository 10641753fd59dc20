//! The reference datasets, compared with NumPy.

use crate::support::{assert_summary, fixture_json, read};
use isochrone_data::{
    formats::{Format, ReadOptions},
    validate::{Rule, Severity, validate},
};
use std::path::{Path, PathBuf};

/// Returns the folder next to the checkout. If it does not exist, the tests report so and are
/// skipped.
fn reference_folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: the reference datasets are not at {}", folder.display());
    None
}

#[test]
fn reference_datasets_match_numpy() {
    let Some(folder) = reference_folder() else { return };
    let expected = fixture_json("reference.json");
    let expected = expected.as_object().unwrap();
    assert_eq!(expected.len(), 8);
    for (name, summary) in expected {
        let data = read(&folder.join(name), &ReadOptions::default()).unwrap();
        assert_summary(&data, summary, name);
    }
}

#[test]
fn reference_datasets_pass_validation() {
    let Some(folder) = reference_folder() else { return };
    for name in fixture_json("reference.json").as_object().unwrap().keys() {
        let found = validate(&folder.join(name), Format::OgBench, &ReadOptions::default()).unwrap();
        assert_eq!(found.count(Severity::Error), 0, "{name}: {:#?}", found.findings);
        // The teleport maze teleports, and nothing else does.
        let rules: Vec<Rule> = found.counts.keys().copied().collect();
        assert_eq!(
            rules,
            if name.contains("teleport") { vec![Rule::Jump] } else { vec![] },
            "{name}: {:#?}",
            found.findings
        );
    }
}
