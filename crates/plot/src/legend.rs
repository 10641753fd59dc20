//! Which line stands for which name.

use crate::{
    lettering, palette,
    series::Panel,
    shapes::{line, text},
};
use std::collections::HashSet;
use svg::node::element::Group;

/// Once all colors are used, they come again with the next of these.
const DASHES: [&str; 4] = ["none", "6 3", "1.5 2.5", "9 3 2 3"];
const ROW_HEIGHT: f64 = 18.0;
const SAMPLE_WIDTH: f64 = 28.0;
/// Between a sample and its name, and between a name and the next sample.
const GAPS: (f64, f64) = (7.0, 20.0);
const FONT_SIZE: f64 = 11.0;
/// Longer names are shortened where that leaves them different.
const NAME_WIDTH: f64 = 240.0;

/// The names of all series of a chart, each once, in the order of their first appearance.
pub(super) struct Legend<'a> {
    names: Vec<&'a str>,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub(super) color: &'static str,
    /// As SVG writes them.
    pub(super) dashes: &'static str,
}

impl<'a> Legend<'a> {
    pub(super) fn of(panels: &'a [Panel]) -> Self {
        let mut seen = HashSet::new();
        let names = panels.iter().flat_map(|panel| &panel.series).map(|series| series.name.as_str());
        Self { names: names.filter(|&name| seen.insert(name)).collect() }
    }

    /// The stroke of a name, the same in all panels.
    pub(super) fn stroke(&self, name: &str) -> Stroke {
        let index = self.names.iter().position(|&other| other == name).unwrap_or(0);
        let (dash, color) = (index / palette::LINES.len(), index % palette::LINES.len());
        Stroke { color: palette::LINES[color], dashes: DASHES[dash % DASHES.len()] }
    }

    /// Draws rows of samples and names within `width`, and says how high they are together.
    pub(super) fn draw(&self, (left, top): (f64, f64), width: f64) -> (Group, f64) {
        let entries = self.entries(width - SAMPLE_WIDTH - GAPS.0);
        let widest = entries.iter().map(|(_, label)| lettering::width(label, FONT_SIZE)).fold(0.0, f64::max);
        let column_width = SAMPLE_WIDTH + GAPS.0 + widest + GAPS.1;
        let columns = ((width + GAPS.1) / column_width).floor().max(1.0) as usize;
        let mut group = Group::new();
        for (k, (stroke, label)) in entries.iter().enumerate() {
            let x = (left + column_width * (k % columns) as f64).round();
            let y = (top + ROW_HEIGHT * ((k / columns) as f64 + 0.5)).round();
            let sample = line((x, y), (x + SAMPLE_WIDTH, y), stroke.color).set("stroke-width", 2);
            let name = text(label, (x + SAMPLE_WIDTH + GAPS.0, y + 4.0), FONT_SIZE, "start");
            group = group.add(sample.set("stroke-dasharray", stroke.dashes)).add(name);
        }
        (group, ROW_HEIGHT * entries.len().div_ceil(columns) as f64)
    }

    /// Strokes and names that fit into `room`. A series without a name has no entry.
    fn entries(&self, room: f64) -> Vec<(Stroke, String)> {
        let shortened = |room: f64| {
            let label = |name: &&str| (self.stroke(name), lettering::shortened(name, room, FONT_SIZE));
            self.names.iter().filter(|name| !name.is_empty()).map(label).collect::<Vec<_>>()
        };
        let entries = shortened(NAME_WIDTH.min(room));
        let different: HashSet<&String> = entries.iter().map(|(_, label)| label).collect();
        if different.len() == entries.len() { entries } else { shortened(room) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Series;

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
    fn names_are_not_shortened_to_the_same() {
        let name = |middle: &str| format!("a-common-beginning-of-names-{middle}-and-a-common-end-of-names");
        let panels = [panel(&[name("1"), name("2")])];
        let entries = Legend::of(&panels).entries(600.0);
        assert_eq!(entries[1].1, name("2"));
    }
}
