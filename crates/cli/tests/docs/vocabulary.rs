//! Sources and documentation use the field's words: see docs/STYLE.md.

use crate::pages::{files, text};

/// Words that a reader from this field would have to translate, and what to write instead.
const PRIVATE: &[(&[&str], &str)] = &[
    (&["way", "ways"], "path, plan"),
    (&["world", "worlds"], "environment"),
    (&["judge", "judges", "judged", "judging", "judgement", "verdict", "verdicts"], "evaluate, result"),
    (&["said", "say", "says"], "set, given; print, report"),
    (&["recording", "recordings"], "dataset, trajectory"),
    (&["attempt", "attempts"], "episode, rollout"),
    (&["picture", "pictures"], "figure, plot"),
    (&["usual", "usually"], "default, typical"),
    (&["situation", "situations"], "state"),
    (&["tell", "tells", "told", "telling"], "print, report, distinguish"),
    (&["somebody", "nobody", "whoever", "anybody", "everybody"], "user, process"),
    (&["law", "laws"], "distribution"),
    (&["wish", "wishes"], "setting"),
    (&["people"], "users"),
    (&["dawdle", "dawdles"], "take a detour"),
];

/// Terms that contain one of these words and are not private.
const TERMS: &[&str] = &[
    "one-way",
    "one way street",
    "oneway",
    "two-way",
    "real-world",
    "gridworld",
    "either way",
    "halfway",
    "law of large numbers",
];

/// Files that quote the words.
const EXEMPT: &[&str] = &["docs/STYLE.md", "crates/cli/tests/docs/vocabulary.rs", "CODE_OF_CONDUCT.md"];

/// Splits text into lower-case words; identifiers are split at underscores and capitals.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in line.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the private words of a line, each with what to write instead.
fn private_words(line: &str) -> Vec<(String, &'static str)> {
    let mut line = line.replace("OneWay", "").replace("one_way", "").replace("GridWorld", "");
    for term in TERMS {
        while let Some(at) = line.to_ascii_lowercase().find(term) {
            line.replace_range(at..at + term.len(), " ");
        }
    }
    let better =
        |word: &str| PRIVATE.iter().find(|(words, _)| words.contains(&word)).map(|(_, better)| *better);
    words(&line).into_iter().filter_map(|word| better(&word).map(|better| (word, better))).collect()
}

#[test]
fn sources_and_pages_use_the_words_of_the_field() {
    let mut found = Vec::new();
    for path in files(&["rs", "md", "toml", "snap", "py", "sh", "html", "css", "js"]) {
        if EXEMPT.contains(&path.as_str()) {
            continue;
        }
        for (number, line) in text(&path).lines().enumerate() {
            for (word, better) in private_words(line) {
                found.push(format!("{path}:{}: '{word}'; write {better}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} private words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn identifiers_are_split_and_terms_are_kept() {
    let found = |line: &str| private_words(line).into_iter().map(|(word, _)| word).collect::<Vec<String>>();
    assert_eq!(found("fn best_way(world: &World) {} // Tells"), ["way", "world", "world", "tells"]);
    assert!(found("a one-way street of a GridWorld: OneWay, gridworld").is_empty());
}
