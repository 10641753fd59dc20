//! Console blocks of the README and of the book run, and print what the pages show.
//!
//! A comment directly above a block changes how it is checked:
//! `<!-- not run: REASON -->` leaves the block out, and
//! `<!-- numbers vary: REASON -->` accepts any value for every word that contains a digit.

use crate::{
    pages::{files, text},
    run::workspace,
};
use std::{fmt::Write as _, fs, path::Path};

/// How the output of a block is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Check {
    Exact,
    AnyNumbers,
    Skip,
}

struct Block {
    line: usize,
    check: Check,
    /// The lines between the fences.
    text: String,
}

/// Returns the console blocks of a page, or the line of a comment without a reason.
fn console_blocks(markdown: &str) -> Result<Vec<Block>, usize> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines().enumerate();
    let mut above = "";
    while let Some((at, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```")).collect();
            if language == "console" {
                let check = check(above).ok_or(at)?;
                blocks.push(Block { line: at + 1, check, text: inside.join("\n") });
            }
        }
        above = line;
    }
    Ok(blocks)
}

/// Reads the comment above a block; `None` if it has no reason.
fn check(above: &str) -> Option<Check> {
    for (start, check) in [("<!-- not run:", Check::Skip), ("<!-- numbers vary:", Check::AnyNumbers)] {
        if let Some(reason) = above.strip_prefix(start) {
            return (!reason.trim_end_matches("-->").trim().is_empty()).then_some(check);
        }
    }
    Some(Check::Exact)
}

/// Replaces every word with a digit, and the spaces before it, by a wildcard; commands and
/// exit codes stay.
fn any_numbers(block: &str) -> String {
    let mut text = String::new();
    for line in block.lines() {
        if line.starts_with("$ ") || line.starts_with("? ") {
            text += line;
        } else {
            for word in line.split_inclusive(' ') {
                match word.contains(|c: char| c.is_ascii_digit()) {
                    true => text = format!("{}[..]", text.trim_end_matches(' ')),
                    false => text += word,
                }
            }
        }
        text.push('\n');
    }
    while text.contains("[..][..]") {
        text = text.replace("[..][..]", "[..]");
    }
    text.trim_end().to_owned()
}

/// Ends the output of every command with an empty line, which stands for its last line break.
fn with_line_breaks(block: &str) -> String {
    let lines: Vec<&str> = block.lines().collect();
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let is_last = lines.get(at + 1).is_none_or(|next| next.starts_with("$ "));
        let is_output = !["$ ", "? "].iter().any(|start| line.starts_with(start)) && *line != "...";
        text += line;
        text += if is_last && is_output { "\n\n" } else { "\n" };
    }
    text
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// Writes the blocks of each page into a folder, each page with a working directory of its own that
/// holds the examples.
fn prepare(folder: &Path) -> usize {
    let mut n_blocks = 0;
    for page in files(&["md"]) {
        let blocks = console_blocks(&text(&page)).unwrap_or_else(|line| {
            panic!("{page}:{line}: a comment without a reason; hint: `<!-- not run: why -->`")
        });
        let mut runnable = String::new();
        for Block { line, check, text } in blocks {
            let text = match check {
                Check::Exact => text,
                Check::AnyNumbers => any_numbers(&text),
                Check::Skip => continue,
            };
            n_blocks += 1;
            // Outputs are reported by the line of the copy: this one leads back to the page.
            write!(runnable, "{page}:{line}\n```console\n{}```\n", with_line_breaks(&text)).unwrap();
        }
        if !runnable.is_empty() {
            let name = page.replace('/', "-");
            fs::write(folder.join(&name), runnable).unwrap();
            let working = folder.join(&name).with_extension("in");
            copy_folder(&workspace().join("examples"), &working.join("examples"));
        }
    }
    n_blocks
}

#[test]
fn console_blocks_run() {
    let folder = tempfile::tempdir().unwrap();
    let n_blocks = prepare(folder.path());
    assert!(n_blocks >= 20, "only {n_blocks} console blocks are run");
    let cases = trycmd::TestCases::new();
    cases.register_bin("isochrone", Path::new(env!("CARGO_BIN_EXE_isochrone")));
    cases.case(folder.path().join("*.md"));
    cases.run();
}

#[test]
fn comments_choose_how_a_block_is_checked() {
    let blocks = console_blocks(
        "<!-- not run: needs a download -->\n```console\n$ a\n```\n\n<!-- numbers vary: trained -->\n```console\n$ b 1\nx   12.5 ms\n```\n```rust\n$ c\n```\n```console\n$ d\n```\n",
    )
    .unwrap();
    let checks: Vec<Check> = blocks.iter().map(|block| block.check).collect();
    assert_eq!(checks, [Check::Skip, Check::AnyNumbers, Check::Exact]);
    assert_eq!(any_numbers(&blocks[1].text), "$ b 1\nx[..]ms");
    assert_eq!(any_numbers("1 2 3 x"), "[..]x");
    assert_eq!(with_line_breaks("$ a\nb\n$ c\n..."), "$ a\nb\n\n$ c\n...\n");
    assert!(matches!(console_blocks("<!-- not run: -->\n```console\n$ a\n```\n"), Err(1)));
}
