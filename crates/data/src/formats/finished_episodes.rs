//! The identifiers of the episodes of a table that have ended.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

/// The maximum number of ranges; other identifiers are kept as hashes, which take less memory.
const MAX_RANGES: usize = 1 << 16;

/// A set of identifiers. A small file can have tens of millions of them, so consecutive integers
/// take no memory and all others take a few bytes each, whatever their length.
#[derive(Debug, Default)]
pub(super) struct FinishedEpisodes {
    /// Integers: the first and the last of each range.
    ranges: BTreeMap<i64, i64>,
    /// 64 bits of each other identifier. Two of ten million are equal by chance with a probability
    /// of about 3 in 10^6; then a valid table is reported as invalid.
    hashes: HashSet<u64>,
}

impl FinishedEpisodes {
    pub fn contains(&self, identifier: &str) -> bool {
        let is_in_range =
            |number| self.ranges.range(..=number).next_back().is_some_and(|(_, &last)| number <= last);
        integer(identifier).is_some_and(is_in_range)
            || (!self.hashes.is_empty() && self.hashes.contains(&hash(identifier)))
    }

    pub fn insert(&mut self, identifier: &str) {
        if self.contains(identifier) {
            return;
        }
        match integer(identifier) {
            Some(number) if self.insert_integer(number) => {}
            _ => drop(self.hashes.insert(hash(identifier))),
        }
    }

    /// Adds a number that is not in any range yet. Returns whether there is a place for it.
    fn insert_integer(&mut self, number: i64) -> bool {
        let before = self.ranges.range(..number).next_back().map(|(&first, &last)| (first, last));
        let before = before.filter(|(_, last)| last.checked_add(1) == Some(number));
        let after = number.checked_add(1).and_then(|next| self.ranges.get(&next).copied());
        if before.is_none() && after.is_none() && self.ranges.len() >= MAX_RANGES {
            return false;
        }
        if after.is_some() {
            self.ranges.remove(&(number + 1));
        }
        self.ranges.insert(before.map_or(number, |(first, _)| first), after.unwrap_or(number));
        true
    }
}

/// Returns the integer of an identifier that is written as integers mostly are: `07` is not `7`.
fn integer(identifier: &str) -> Option<i64> {
    let digits = identifier.strip_prefix('-').unwrap_or(identifier);
    let is_typical = identifier != "-0" && (digits == "0" || !digits.starts_with(['0', '+']));
    if is_typical { identifier.parse().ok() } else { None }
}

fn hash(identifier: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    identifier.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::rng;

    #[test]
    fn the_set_equals_a_set_of_strings() {
        let (mut random, mut expected) = (rng::stream(1, 0), HashSet::new());
        let mut found = FinishedEpisodes::default();
        let odd = ["", "-", "+3", "03", "-0", "0", "-1", "9223372036854775807", "9223372036854775808"];
        for _ in 0..4000 {
            let identifier = match rng::below(&mut random, 3) {
                0 => odd[rng::below(&mut random, odd.len())].to_owned(),
                1 => format!("episode {}", rng::below(&mut random, 300)),
                _ => (rng::below(&mut random, 600) as i64 - 300).to_string(),
            };
            assert_eq!(found.contains(&identifier), expected.contains(&identifier), "{identifier}");
            found.insert(&identifier);
            expected.insert(identifier);
        }
    }

    #[test]
    fn memory_grows_with_ranges_only_up_to_a_limit() {
        let mut found = FinishedEpisodes::default();
        for number in 0..1_000_000 {
            found.insert(&number.to_string());
        }
        assert_eq!((found.ranges.len(), found.hashes.len()), (1, 0));
        for number in 0..MAX_RANGES + 10 {
            found.insert(&(3_000_000 + 2 * number).to_string());
        }
        assert_eq!((found.ranges.len(), found.hashes.len()), (MAX_RANGES, 11));
        assert!((0..MAX_RANGES + 10).all(|number| found.contains(&(3_000_000 + 2 * number).to_string())));
        assert!(!found.contains("3000001"));
    }
}
