//! The report of a study, as Markdown, HTML and JSON.

mod figures;
mod page;
mod summary;
mod tables;

use crate::{
    error::StudyError,
    files::{MAX_RESULTS_BYTES, read_text},
    results::Results,
};
use figures::{NamedFigure, Source};
use isochrone_core::is_control;
use isochrone_learn::run::write_file;
use std::path::Path;

/// Writes `results.json` and the tables as `report.md`.
pub fn write_tables(folder: &Path, results: &Results) -> Result<(), StudyError> {
    results.write(folder)?;
    write_text(folder, "report.md", &plain_markdown(&page::markdown(results, &[])))
}

/// Writes `results.json`, `report.md`, `report.html` and figures. Runs and datasets are loaded from
/// `sources`; figures whose runs or dataset are missing are left out.
pub fn write(folder: &Path, results: &Results, sources: &[&Path]) -> Result<(), StudyError> {
    let figures = figures::draw(&Source { results, folders: sources })?;
    results.write(folder)?;
    save(&folder.join("figures"), &figures)?;
    write_text(folder, "report.md", &plain_markdown(&page::markdown(results, &figures)))?;
    write_text(folder, "report.html", &page::html(results, &figures))
}

/// Returns Markdown without control characters and tags: names may come from files of strangers.
pub fn plain_markdown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let begins_tag = |c: &char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
        match c {
            '<' if chars.peek().is_some_and(begins_tag) => plain += "&lt;",
            c if is_control(c) && c != '\n' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

fn write_text(folder: &Path, name: &str, text: &str) -> Result<(), StudyError> {
    Ok(write_file(&folder.join(name), text.as_bytes())?)
}

/// The list of figures that the report has written.
const LIST: &str = "figures.txt";

/// Saves figures, and removes those of an earlier report. Other files in the folder are not
/// touched.
fn save(folder: &Path, figures: &[NamedFigure]) -> Result<(), StudyError> {
    std::fs::create_dir_all(folder).map_err(StudyError::io(folder))?;
    let files: Vec<String> = figures
        .iter()
        .flat_map(|figure| ["svg", "png"].map(|extension| format!("{}.{extension}", figure.name)))
        .collect();
    let listed = read_text(&folder.join(LIST), MAX_RESULTS_BYTES).unwrap_or_default();
    for old in listed.lines().filter(|old| is_figure(old) && !files.iter().any(|file| file == old)) {
        match std::fs::remove_file(folder.join(old)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StudyError::io(&folder.join(old))(error));
            }
            _ => {}
        }
    }
    write_text(folder, LIST, &files.iter().map(|file| format!("{file}\n")).collect::<String>())?;
    for NamedFigure { name, figure, .. } in figures {
        for extension in ["svg", "png"] {
            figure.save(&folder.join(format!("{name}.{extension}")))?;
        }
    }
    Ok(())
}

/// Whether a listed name is the name of a figure, and not a path to another folder.
fn is_figure(name: &str) -> bool {
    let stem = name.strip_suffix(".svg").or(name.strip_suffix(".png"));
    stem.is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_figures_of_the_last_report_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let figures = folder.path().join("figures");
        std::fs::create_dir(&figures).unwrap();
        for name in ["my-own.svg", "success.svg", "success.png", "map-qrl.png"] {
            std::fs::write(figures.join(name), "x").unwrap();
        }
        std::fs::write(folder.path().join("mine.svg"), "x").unwrap();
        save(&figures, &[]).unwrap();
        assert_eq!(std::fs::read_dir(&figures).unwrap().count(), 5, "without a list, nothing is removed");
        std::fs::write(figures.join(LIST), "success.png\nsuccess.svg\n../mine.svg\n").unwrap();
        save(&figures, &[]).unwrap();
        let mut left: Vec<_> =
            std::fs::read_dir(&figures).unwrap().map(|file| file.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [LIST, "map-qrl.png", "my-own.svg"]);
        assert!(folder.path().join("mine.svg").exists());
    }
}
