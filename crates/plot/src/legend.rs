//! The legend of a line chart.

use crate::{
    lettering, palette,
    series::{Panel, Series},
    shapes::{line, text},
};
use std::collections::HashSet;
use svg::node::element::Group;

/// Dash patterns: once all colors are used, they repeat with the next pattern.
const DASHES: [&str; 4] = ["none", "6 3", "1.5 2.5", "9 3 2 3"];
const ROW_HEIGHT: f64 = 18.0;
const SAMPLE_WIDTH: f64 = 28.0;
/// The gaps between a sample and its name, and between a name and the next sample.
const GAPS: (f64, f64) = (7.0, 20.0);
const FONT_SIZE: f64 = 11.0;
/// Longer names are shortened if they stay different.
const NAME_WIDTH: f64 = 240.0;

/// The names of all series and reference lines of a chart, each once, in the order of their first
/// appearance.
pub(super) struct Legend<'a> {
    names: Vec<&'a str>,
    references: Vec<&'a str>,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub(super) color: &'static str,
    /// The dash pattern in SVG syntax.
    pub(super) dashes: &'static str,
    pub(super) width: f64,
}

/// The stroke of reference lines, which cannot be mistaken for a run.
pub(super) const REFERENCE: Stroke = Stroke { color: palette::HATCH, dashes: "5 4", width: 1.0 };
const LINE_WIDTH: f64 = 1.5;

impl<'a> Legend<'a> {
    pub(super) fn of(panels: &'a [Panel]) -> Self {
        let unique = |of: fn(&Panel) -> &Vec<Series>| {
            let mut seen = HashSet::new();
            let names = panels.iter().flat_map(of).map(|series| series.name.as_str());
            names.filter(|&name| seen.insert(name)).collect()
        };
        Self { names: unique(|panel| &panel.series), references: unique(|panel| &panel.references) }
    }

    /// The stroke of a name, the same in all panels.
    pub(super) fn stroke(&self, name: &str) -> Stroke {
        let index = self.names.iter().position(|&other| other == name).unwrap_or(0);
        let (dash, color) = (index / palette::LINES.len(), index % palette::LINES.len());
        Stroke { color: palette::LINES[color], dashes: DASHES[dash % DASHES.len()], width: LINE_WIDTH }
    }

    /// Draws rows of samples and names within `width`, and returns their height.
    pub(super) fn draw(&self, (left, top): (f64, f64), width: f64) -> (Group, f64) {
        let entries = self.entries(width - SAMPLE_WIDTH - GAPS.0);
        let widest = entries.iter().map(|(_, label)| lettering::width(label, FONT_SIZE)).fold(0.0, f64::max);
        let column_width = SAMPLE_WIDTH + GAPS.0 + widest + GAPS.1;
        let columns = ((width + GAPS.1) / column_width).floor().max(1.0) as usize;
        let mut group = Group::new();
        for (k, (stroke, label)) in entries.iter().enumerate() {
            let x = (left + column_width * (k % columns) as f64).round();
            let y = (top + ROW_HEIGHT * ((k / columns) as f64 + 0.5)).round();
            let sample =
                line((x, y), (x + SAMPLE_WIDTH, y), stroke.color).set("stroke-width", stroke.width + 0.5);
            let name = text(label, (x + SAMPLE_WIDTH + GAPS.0, y + 4.0), FONT_SIZE, "start");
            group = group.add(sample.set("stroke-dasharray", stroke.dashes)).add(name);
        }
        (group, ROW_HEIGHT * entries.len().div_ceil(columns) as f64)
    }

    /// Strokes and names that fit into `room`. A line without a name has no entry.
    fn entries(&self, room: f64) -> Vec<(Stroke, String)> {
        let shortened = |room: f64| {
            let label = |name: &str| lettering::shortened(name, room, FONT_SIZE);
            let series = self.names.iter().map(|name| (self.stroke(name), label(name)));
            let references = self.references.iter().map(|name| (REFERENCE, label(name)));
            series.chain(references).filter(|(_, label)| !label.is_empty()).collect::<Vec<_>>()
        };
        let entries = shortened(NAME_WIDTH.min(room));
        let different: HashSet<&String> = entries.iter().map(|(_, label)| label).collect();
        if different.len() == entries.len() { entries } else { shortened(room) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(names: &[String]) -> Panel {
        let series = |name: &String| Series { name: name.clone(), ..Series::default() };
        Panel { series: names.iter().map(series).collect(), ..Panel::default() }
    }

    #[test]
    fn a_name_has_one_entry_and_one_stroke() {
        let panels = [panel(&["a".into(), "b".into()]), panel(&["b".into(), "c".into(), String::new()])];
        let legend = Legend::of(&panels);
        let entries = legend.entries(500.0);
        assert_eq!(entries.iter().map(|entry| entry.1.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(entries[1].0, legend.stroke("b"));
    }

    #[test]
    fn strokes_differ_beyond_the_palette() {
        let names: Vec<String> = (0..28).map(|k| format!("run {k}")).collect();
        let panels = [panel(&names)];
        let legend = Legend::of(&panels);
        for (k, name) in names.iter().enumerate() {
            assert!(names[..k].iter().all(|other| legend.stroke(other) != legend.stroke(name)), "{name}");
        }
    }

    #[test]
    fn shortened_names_stay_different() {
        let name = |middle: &str| format!("a-common-prefix-of-names-{middle}-and-a-common-suffix-of-names");
        let panels = [panel(&[name("1"), name("2")])];
        let entries = Legend::of(&panels).entries(600.0);
        assert_eq!(entries[1].1, name("2"));
    }
    #[test]
    fn reference_lines_are_gray_and_listed_last() {
        let reference = Series { name: "predicted = observed".into(), ..Series::default() };
        let panels = [Panel { references: vec![reference], ..panel(&["a".into(), "b".into()]) }];
        let entries = Legend::of(&panels).entries(500.0);
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[2], (REFERENCE, "predicted = observed".into()));
        assert!(!palette::LINES.contains(&REFERENCE.color) && REFERENCE.width < LINE_WIDTH);
    }
}
