//! Committed counts, and their comparison with measured ones. `tests/guards.rs` tests this file.

use std::{collections::BTreeMap, fmt, path::Path};

/// Instructions by case.
pub type Counts = BTreeMap<String, u64>;

/// The additional instructions that are accepted. The order of hash tables and the cache sizes of
/// the machine, on which the blocks of matrix products depend, change counts by at most 0.2 %.
pub const TOLERANCE_PERCENT: u64 = 3;

const HEADER: &str = "# Instructions of every case of `just guards`, written by `just guards --update`.\n";

/// The counts of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub case: String,
    pub committed: Option<u64>,
    pub measured: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// Fewer instructions, by more than the tolerance.
    Faster,
    Same,
    /// More instructions, by more than the tolerance.
    Slower,
    /// There is no committed count, so that the case is not guarded.
    New,
    /// There is a committed count without a case.
    Missing,
}

impl Outcome {
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Slower | Self::New | Self::Missing)
    }
}

impl Comparison {
    pub fn outcome(&self) -> Outcome {
        match (self.committed, self.measured) {
            (None, _) => Outcome::New,
            (_, None) => Outcome::Missing,
            (Some(old), Some(new)) if new * 100 > old * (100 + TOLERANCE_PERCENT) => Outcome::Slower,
            (Some(old), Some(new)) if new * 100 < old * (100 - TOLERANCE_PERCENT) => Outcome::Faster,
            _ => Outcome::Same,
        }
    }
}

impl fmt::Display for Comparison {
    /// One line: the outcome, the case, committed and measured instructions, and their difference.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        let outcome = match self.outcome() {
            Outcome::Faster => "faster",
            Outcome::Same => "",
            Outcome::Slower => "SLOWER",
            Outcome::New => "NEW",
            Outcome::Missing => "MISSING",
        };
        let (committed, measured) = (number(self.committed), number(self.measured));
        write!(f, "{outcome:7} {:24} {committed:>11} -> {measured:>11}", self.case)?;
        match (self.committed, self.measured) {
            (Some(old), Some(new)) => write!(f, "  {:+.2} %", 100.0 * (new as f64 / old as f64 - 1.0)),
            _ => Ok(()),
        }
    }
}

/// Compares every case that is committed or measured, in the order of names.
pub fn compare(committed: &Counts, measured: &Counts) -> Vec<Comparison> {
    let new = measured.keys().filter(|case| !committed.contains_key(*case));
    let mut cases: Vec<&String> = committed.keys().chain(new).collect();
    cases.sort();
    let comparison = |case: &String| Comparison {
        case: case.clone(),
        committed: committed.get(case).copied(),
        measured: measured.get(case).copied(),
    };
    cases.into_iter().map(comparison).collect()
}

/// Reads a file of lines `CASE = COUNT`; a file that does not exist has none.
pub fn read(path: &Path) -> Result<Counts, String> {
    let text = match path.exists() {
        true => std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?,
        false => String::new(),
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let entry = line.split_once(" = ");
            let entry = entry.and_then(|(case, count)| Some((case.to_owned(), count.parse().ok()?)));
            entry.ok_or_else(|| format!("{}:{}: '{line}' is not CASE = COUNT", path.display(), number + 1))
        })
        .collect()
}

/// Writes the file that [`read`] reads.
pub fn write(path: &Path, counts: &Counts) -> Result<(), String> {
    let lines = counts.iter().map(|(case, count)| format!("{case} = {count}\n"));
    let text = [HEADER.to_owned()].into_iter().chain(lines).collect::<String>();
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
