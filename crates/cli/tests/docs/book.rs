//! The book has every page.

use crate::{
    links::targets,
    pages::{files, text},
};
use std::collections::BTreeSet;

#[test]
fn the_table_of_contents_has_every_page() {
    let listed: BTreeSet<String> =
        targets(&text("docs/SUMMARY.md")).into_iter().map(|target| format!("docs/{target}")).collect();
    let is_page = |path: &String| path.starts_with("docs/") && path != "docs/SUMMARY.md";
    let pages: BTreeSet<String> = files(&["md"]).into_iter().filter(is_page).collect();
    let missing: Vec<&String> = pages.difference(&listed).collect();
    assert!(missing.is_empty(), "pages that docs/SUMMARY.md does not list: {missing:?}");
}

/// A landing page is read at one sitting.
#[test]
fn the_readme_is_short() {
    let lines = text("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines; the book is the place for more");
}

/// The Rust program of the README is an example that CI runs.
#[test]
fn the_program_of_the_readme_is_an_example() {
    let readme = text("README.md");
    let program = readme.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    let example = text("crates/isochrone/examples/readme.rs").replace("\n    ", "\n");
    assert!(example.contains(program), "README.md and examples/readme.rs differ:\n{program}");
}
