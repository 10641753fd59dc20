//! The comparison of instruction counts that `just guards` makes.

#[path = "../benches/guards/counts.rs"]
mod counts;

use counts::{Comparison, Counts, Outcome, TOLERANCE_PERCENT, compare, read, write};

fn counts<const N: usize>(cases: [(&str, u64); N]) -> Counts {
    cases.into_iter().map(|(case, count)| (case.to_owned(), count)).collect()
}

fn outcome(committed: u64, measured: u64) -> Outcome {
    Comparison { case: "x".to_owned(), committed: Some(committed), measured: Some(measured) }.outcome()
}

#[test]
fn a_case_is_slower_above_three_percent() {
    assert_eq!(TOLERANCE_PERCENT, 3);
    assert_eq!(outcome(1000, 1030), Outcome::Same);
    assert_eq!(outcome(1000, 1031), Outcome::Slower);
    assert_eq!(outcome(1000, 970), Outcome::Same);
    assert_eq!(outcome(1000, 969), Outcome::Faster);
    // The limit is compared without rounding.
    assert_eq!(outcome(99, 101), Outcome::Same);
    assert_eq!(outcome(99, 102), Outcome::Slower);
    let failures = [Outcome::Slower, Outcome::New, Outcome::Missing];
    assert!(failures.into_iter().all(Outcome::is_failure));
    assert!(!Outcome::Same.is_failure() && !Outcome::Faster.is_failure());
}

#[test]
fn new_and_missing_cases_are_found() {
    let found = compare(&counts([("kept", 10), ("removed", 20)]), &counts([("added", 5), ("kept", 10)]));
    let outcomes: Vec<_> = found.iter().map(|one| (one.case.as_str(), one.outcome())).collect();
    assert_eq!(outcomes, [("added", Outcome::New), ("kept", Outcome::Same), ("removed", Outcome::Missing)]);
}

#[test]
fn a_line_names_case_counts_and_percent() {
    let found = compare(&counts([("mrn-pairs", 1_000_000)]), &counts([("mrn-pairs", 1_050_000)]));
    let words: Vec<String> = found[0].to_string().split_whitespace().map(str::to_owned).collect();
    assert_eq!(words, ["SLOWER", "mrn-pairs", "1000000", "->", "1050000", "+5.00", "%"]);
}

#[test]
fn counts_are_read_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts.toml");
    assert_eq!(read(&path), Ok(Counts::new()));
    let written = counts([("a", 1), ("b-c", 123_456_789_012)]);
    write(&path, &written).unwrap();
    assert_eq!(read(&path), Ok(written));
    std::fs::write(&path, "# counts\na = 1\nb = many\n").unwrap();
    assert!(read(&path).unwrap_err().ends_with(":3: 'b = many' is not CASE = COUNT"));
}
