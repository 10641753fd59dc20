//! Tests of `isochrone explore`.

use crate::run::{isochrone, isochrone_in, workspace};
use std::path::Path;

/// The walks of the examples.
fn walks() -> String {
    format!("{} --observations x,y", workspace().join("examples/walks.csv").display())
}

fn page(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn help() {
    insta::assert_snapshot!("help_explore", isochrone("explore --help").transcript());
}

#[test]
fn a_run_and_its_dataset_give_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let train =
        format!("train --data {} --size small --threads 1 --steps 2 batch_size=16 --run runs/a", walks());
    assert_eq!(isochrone_in(folder, &train).code, Some(0));
    let of_run = isochrone_in(folder, "explore runs/a -o run.html --json");
    assert_eq!(of_run.code, Some(0), "{}", of_run.stderr);
    let of_data = isochrone_in(folder, &format!("explore {} -o data.html", walks()));
    assert_eq!(of_data.code, Some(0), "{}", of_data.stderr);
    let report: serde_json::Value = serde_json::from_str(&of_run.stdout).unwrap();
    let html = page(folder, "run.html");
    assert_eq!(report["bytes"].as_u64(), Some(html.len() as u64));
    let numbers = |html: &str| html.split("application/json\">").nth(1).unwrap().to_owned();
    assert_eq!(numbers(&html), numbers(&page(folder, "data.html")));
    // A page without a network: nothing is loaded.
    assert!(!html.contains("http") && !html.contains("src="));
    // Fewer states make a smaller page, and a file is overwritten only on request.
    let again = isochrone_in(folder, "explore runs/a -o run.html --states 50");
    assert!(again.code == Some(2) && again.stderr.contains("--force"), "{}", again.stderr);
    let forced = isochrone_in(folder, "explore runs/a -o run.html --states 50 --landmarks 32 --force");
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert!(page(folder, "run.html").len() < html.len());
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("gaps.json"), r#"{"bridges": [{"from": 3}]}"#).unwrap();
    let doctor = r#"{"episodes": [{"episode": 100000, "findings": [{"rule": "stall", "first_frame": 0, "end_frame": 1}]}]}"#;
    std::fs::write(folder.join("doctor.json"), doctor).unwrap();
    let walks = walks();
    for (arguments, expected) in [
        (format!("{walks} -o page.svg"), "hint: use -o page.html"),
        (format!("{walks} -o page.html --gaps gaps.json"), "gaps.json: invalid type"),
        (format!("{walks} -o page.html --gaps none.json"), "none.json: No such file"),
        (format!("{walks} -o page.html --doctor doctor.json"), "frame 0 of episode 100000"),
        (format!("{walks} -o page.html --accept-edits"), "does not apply to a dataset"),
        (format!("{walks} -o page.html --states 1"), "1 is not between 2 and 5000"),
    ] {
        let refused = isochrone_in(folder, &format!("explore {arguments}"));
        assert_eq!(refused.code, Some(2), "{arguments}: {}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{arguments}: {}", refused.stderr);
        assert!(!folder.join("page.html").exists());
    }
}
