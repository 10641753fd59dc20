//! The table of algorithms and its documentation.

use isochrone_learn::Algorithm;

/// The guide has one row for every algorithm, with the same description, and no others.
#[test]
fn the_guide_lists_all_algorithms() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/learning.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let rows: Vec<&str> = guide.lines().filter(|line| line.contains("| [paper](")).collect();
    assert_eq!(rows.len(), Algorithm::ALL.len());
    for (algorithm, row) in Algorithm::ALL.into_iter().zip(rows) {
        let (name, idea, paper) = (algorithm.name(), algorithm.idea(), algorithm.paper());
        assert!(row.starts_with(&format!("| `{name}` | {idea} | [paper]({paper}) |")), "{row}");
        let actions = if algorithm.needs_actions() { "| required |" } else { "| if any |" };
        assert!(row.ends_with(actions), "{row}");
    }
}

#[test]
fn names_are_unique_and_found() {
    for algorithm in Algorithm::ALL {
        assert_eq!(Algorithm::named(algorithm.name()), Some(algorithm));
        assert!(algorithm.paper().starts_with("https://"));
    }
    let mut names = Algorithm::ALL.map(Algorithm::name);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(Algorithm::named("sac"), None);
}
