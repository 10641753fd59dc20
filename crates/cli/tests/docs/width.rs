//! Comments are at most 100 columns wide, and Markdown has one sentence per line.

use crate::pages::{files, text};

const MAX_COMMENT_COLUMNS: usize = 100;

/// Returns whether a comment line may be longer: tables and links cannot be wrapped.
fn cannot_be_wrapped(comment: &str) -> bool {
    comment.contains("://") || comment.trim_start_matches(['/', '!']).trim_start().starts_with('|')
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    let mut wide = Vec::new();
    for path in files(&["rs"]) {
        let mut is_code = false;
        for (number, line) in text(&path).lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            let is_fence = line.trim_start_matches([' ', '/', '!']).starts_with("```");
            is_code = is_comment && is_code != is_fence;
            if is_comment
                && !is_code
                && line.chars().count() > MAX_COMMENT_COLUMNS
                && !cannot_be_wrapped(line.trim_start())
            {
                wide.push(format!("{path}:{}: {} columns", number + 1, line.chars().count()));
            }
        }
    }
    assert!(wide.is_empty(), "{} comments are too wide:\n{}", wide.len(), wide.join("\n"));
}

/// Returns whether two sentences share a line of prose.
fn has_two_sentences(line: &str) -> bool {
    let ends = |(at, _): (usize, &str)| {
        let (before, after) = (&line[..at], &line[at + 2..]);
        let word = before.rsplit([' ', '(']).next().unwrap_or("");
        let is_abbreviation = ["e.g", "i.e", "vs", "al", "cf", "Fig", "approx"].contains(&word);
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        !is_abbreviation && !is_number && after.starts_with(|c: char| c.is_uppercase())
    };
    line.match_indices(". ").any(ends)
}

#[test]
fn markdown_has_one_sentence_per_line() {
    let mut found = Vec::new();
    for path in files(&["md"]) {
        // Reports are written by the commands that measured, and generated pages by a test.
        if ["docs/results/", "docs/reference/cli", "docs/reference/config", "crates/", ".github/"]
            .iter()
            .any(|start| path.starts_with(start))
        {
            continue;
        }
        let mut is_code = false;
        for (number, line) in text(&path).lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            let is_table = line.starts_with('|') || line.starts_with('<') || line.starts_with("![");
            if !is_code && !is_table && has_two_sentences(line) {
                found.push(format!("{path}:{}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} lines have two sentences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn abbreviations_do_not_end_a_sentence() {
    assert!(has_two_sentences("One. Two.") && has_two_sentences("See `a.b`. Then."));
    assert!(
        !has_two_sentences("Myers et al. Show, e.g. Gymnasium, version 1. Next")
            && !has_two_sentences("One.")
    );
}
