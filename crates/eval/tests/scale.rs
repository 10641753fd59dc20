//! The measurement of `docs/results/score`, on few rows.

#[path = "../examples/scale.rs"]
mod scale;

#[test]
fn parts_equal_the_whole_on_synthetic_walks() {
    let folder = tempfile::tempdir().unwrap();
    let found = scale::measure(folder.path(), 30_000, &[3]).unwrap();
    assert_eq!(found["score"].as_array().unwrap().len(), 4);
    assert_eq!(found["graph"]["in_memory"]["equal"], true);
}
