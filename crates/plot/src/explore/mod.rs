//! An interactive HTML page of distances that needs no server: it holds the graph of the refined
//! distance and states of the dataset, and evaluates distances in the browser.
//!
//! ```text
//! Dataset, PortableGraph -> Contents (JSON, arrays as base64) -> one HTML file with its own script
//! ```

mod base64;
mod contents;
mod error;
mod layers;
mod progress;

pub use error::ExploreError;
pub use layers::{Bridge, ExploreLayers, Finding, FrameOfEpisode, StartState};

use crate::{html::escaped, state_map::evenly_spaced};
use contents::Contents;
use isochrone_core::is_control;
use isochrone_data::Dataset;
use isochrone_eval::refined::PortableGraph;

const MARKUP: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// In this order: each file uses only names of those before it, except within functions.
const SCRIPTS: [&str; 11] = [
    include_str!("decode.js"),
    include_str!("metric.js"),
    include_str!("paths.js"),
    include_str!("reading.js"),
    include_str!("surface.js"),
    include_str!("colors.js"),
    include_str!("layers.js"),
    include_str!("map.js"),
    include_str!("timelines.js"),
    include_str!("legend.js"),
    concat!(include_str!("route.js"), include_str!("main.js")),
];

/// An interactive page about the distances of a dataset.
#[derive(Debug, Clone)]
pub struct ExplorePage<'a> {
    /// The title.
    pub title: String,
    /// The line below the title: the data.
    pub subtitle: String,
    /// The last line: how the page was made.
    pub note: String,
    /// The dataset that the graph was built from.
    pub data: &'a Dataset,
    /// The graph of its refined distance.
    pub graph: &'a PortableGraph,
    /// The states on the page, counted over all episodes, in order.
    pub states: Vec<u64>,
    /// Findings, gaps and progress.
    pub layers: ExploreLayers,
}

impl ExplorePage<'_> {
    /// The maximum size of a page in bytes, so that it can be sent by mail.
    pub const MAX_BYTES: usize = 5_000_000;

    /// Returns at most `max` states, evenly spaced over all episodes: fewer if wide states would
    /// not fit on the page beside the graph.
    ///
    /// # Errors
    /// If the graph alone is too large.
    pub fn fitting_states(data: &Dataset, graph: &PortableGraph, max: u64) -> Result<Vec<u64>, ExploreError> {
        // Base64 takes four bytes for three; texts and the script take the rest.
        let room = (Self::MAX_BYTES - Self::TEXT_BYTES) / 4 * 3;
        let bytes = contents::graph_bytes(graph);
        let per_state = 4 * (data.spec().observation.width + 2);
        let fitting = room.saturating_sub(bytes) / per_state;
        if fitting < Self::MIN_STATES.min(data.index().n_states() as usize) {
            return Err(ExploreError::TooLarge {
                bytes: bytes / 3 * 4 + Self::TEXT_BYTES + Self::MIN_STATES * per_state,
                max: Self::MAX_BYTES,
                landmarks: graph.landmark_rows.len(),
            });
        }
        Ok(evenly_spaced(data, max.min(fitting as u64)))
    }

    /// The bytes of script, style and texts that [`fitting_states`](Self::fitting_states) leaves
    /// room for.
    const TEXT_BYTES: usize = 400_000;
    /// Fewer states are not a map.
    const MIN_STATES: usize = 100;

    /// Returns the HTML file.
    ///
    /// # Errors
    /// If the file would be larger than [`MAX_BYTES`](Self::MAX_BYTES), or a layer names an episode
    /// or a frame that the dataset does not have.
    pub fn html(&self) -> Result<String, ExploreError> {
        let contents = Contents::new(self.data, self.graph, &self.states, &self.layers)?;
        let contents = serde_json::to_string(&contents).expect("names are text");
        let body = MARKUP
            .replace("{title}", &escaped(&self.title))
            .replace("{subtitle}", &escaped(&self.subtitle))
            .replace("{note}", &escaped(&self.note));
        // The text of a script element ends at the first `</`.
        let contents = without_controls(&contents).replace('<', "\\u003c");
        let title = escaped(&self.title);
        let script = SCRIPTS.concat();
        let html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title>\n<style>\n{STYLE}</style></head>\n<body>\n{body}<script id=\"data\" type=\"application/json\">{contents}</script>\n<script>\n\"use strict\";\n(() => {{\n{script}}})();\n</script>\n</body>\n</html>\n"
        );
        match html.len() <= Self::MAX_BYTES {
            true => Ok(html),
            false => Err(ExploreError::TooLarge {
                bytes: html.len(),
                max: Self::MAX_BYTES,
                landmarks: self.graph.landmark_rows.len(),
            }),
        }
    }
}

/// Replaces control characters in the strings of JSON by spaces, escaped ones too: the script shows
/// names of columns and tasks as they are.
fn without_controls(json: &str) -> String {
    let (mut plain, mut chars) = (String::with_capacity(json.len()), json.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                // JSON is written with such escapes for control characters only.
                Some('u') => {
                    chars.by_ref().take(4).for_each(drop);
                    plain.push(' ');
                }
                Some('b' | 'f' | 'n' | 'r' | 't') => plain.push(' '),
                Some(escaped) => plain.extend(['\\', escaped]),
                None => {}
            },
            c if is_control(c) => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_control_characters() {
        let name = "a\u{1b}\n\u{9b}\u{202e}b \\ \\u001b \"c\"";
        let json = serde_json::to_string(&[name]).unwrap();
        let plain: [String; 1] = serde_json::from_str(&without_controls(&json)).unwrap();
        assert_eq!(plain[0], "a    b \\ \\u001b \"c\"");
    }
}
