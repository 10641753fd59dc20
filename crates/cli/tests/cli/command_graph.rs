//! Tests of `isochrone graph`.

use crate::{
    run::isochrone_in,
    score_data::{column, train, write_shards},
};
use std::path::Path;

fn succeeds(folder: &Path, arguments: &str) {
    let outcome = isochrone_in(folder, arguments);
    assert_eq!(outcome.code, Some(0), "{arguments}: {}", outcome.stderr);
}

#[test]
fn a_graph_in_parts_scores_like_the_run_on_the_same_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    train(path);
    write_shards(&path.join("in"), "", 150);
    succeeds(path, "graph landmarks in --observations x,y -o landmarks.json");
    for part in 1..=3 {
        succeeds(path, &format!("graph part in landmarks.json --part {part}/3 -o {part}.parquet"));
    }
    // A part that is complete is left as it is.
    let before = std::fs::read(path.join("2.parquet")).unwrap();
    succeeds(path, "graph part in landmarks.json --part 2/3 -o 2.parquet");
    assert!(std::fs::read(path.join("2.parquet")).unwrap() == before);
    succeeds(path, "graph part in landmarks.json -o once.parquet");
    succeeds(path, "graph merge 3.parquet 1.parquet 2.parquet -o graph.parquet");
    assert!(
        std::fs::read(path.join("graph.parquet")).unwrap()
            == std::fs::read(path.join("once.parquet")).unwrap()
    );
    for to in ["5,5", "last"] {
        succeeds(path, &format!("score in graph-{to} --graph graph.parquet --to {to}"));
        succeeds(path, &format!("score in run-{to} --run runs/a --to {to}"));
        let [graph, run] =
            ["graph", "run"].map(|name| column(&path.join(format!("{name}-{to}")), "distance_steps"));
        assert!(graph == run && graph.iter().any(|steps| *steps > 1.0), "--to {to}");
    }
    isochrone_in(path, "score in new --graph graph.parquet --to end").assert_refused("--to end", "use --run");
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_shards(&path.join("in"), "", 150);
    write_shards(&path.join("other"), "", 200);
    succeeds(path, "graph landmarks in --observations x,y -o landmarks.json");
    succeeds(path, "graph part in landmarks.json --part 1/3 -o 1.parquet");
    for (arguments, expected) in [
        ("graph landmarks in -o new.json", "no column looks like an observation"),
        ("graph landmarks in --observations x,y -o landmarks.json", "already exists"),
        ("graph landmarks in --observations x,y --landmarks 0 -o new.json", "--landmarks 0"),
        ("graph landmarks none -o new.json", "none"),
        ("graph part in none.json -o new.parquet", "none.json"),
        ("graph part other landmarks.json -o new.parquet", "other shards"),
        ("graph part in landmarks.json --part 2/3 -o 1.parquet", "other landmarks or rows"),
        ("graph part in landmarks.json --part 0/3 -o new.parquet", "not a part"),
        ("graph merge 1.parquet -o new.parquet", "in no part"),
        ("graph merge 1.parquet 1.parquet -o new.parquet", "in two parts"),
        ("graph merge in/000.parquet -o new.parquet", "in/000.parquet"),
        ("score in out --graph 1.parquet --to 5,5", "in no part"),
    ] {
        isochrone_in(path, arguments).assert_refused(arguments, expected);
    }
    assert!(!path.join("new.parquet").exists() && !path.join("new.json").exists());
}
