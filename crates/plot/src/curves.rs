//! Training curves: metrics of several runs over a common axis.

use crate::{
    axis::{Axis, limits, with_room},
    export::{Figure, MARGIN, header_height, titled},
    legend::Legend,
    lettering,
    panel::{Place, TICK_SIZE, TITLE_HEIGHT},
    scale,
    series::Panel,
    shapes::text,
};
use svg::node::element::Group;

/// Height of the numbers and the name of the axis below the lowest grid.
const X_AXIS_HEIGHT: f64 = 46.0;
/// Height of the numbers below each grid, if every panel has its own axis.
const X_NUMBERS_HEIGHT: f64 = 20.0;
/// Margin on either side of the points, as a share of their range.
const X_ROOM: f64 = 0.015;
/// The smallest gap between numbers below the axis.
const LABEL_GAP: f64 = 14.0;
/// A title widens the figure up to this width; a longer one is shortened.
const MAX_WIDTH: f64 = 1600.0;
/// More panels than this are arranged in two columns.
const MAX_STACKED: usize = 3;

/// Panels over an `x` axis, with a common legend.
///
/// Series of the same name have the same stroke in all panels and share an entry of the legend;
/// there are 28 different strokes. Where a curve has many points per pixel, the line is their mean
/// and the pale range behind it is their range.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LineChart {
    /// The title.
    pub title: String,
    /// The meaning of bands, and what is not shown.
    pub note: String,
    /// The quantity on the `x` axis, with its unit, such as "training steps".
    pub x_axis: String,
    /// Whether each panel has its own range on the `x` axis, and not all the same.
    pub has_own_x: bool,
    /// The panels from top to bottom; more than three are arranged in two columns, row by row.
    pub panels: Vec<Panel>,
}

impl LineChart {
    /// Draws the chart.
    pub fn draw(&self) -> Figure {
        let nothing = [Panel::default()];
        let panels = if self.panels.is_empty() { nothing.as_slice() } else { &self.panels };
        let columns = if panels.len() > MAX_STACKED { 2 } else { 1 };
        let (grid_width, grid_height) = match panels.len() {
            1 => (640.0, 320.0),
            2..=MAX_STACKED => (640.0, 180.0),
            _ => (400.0, 170.0),
        };
        let numbers = panels.iter().map(|panel| panel.y_label_width(grid_height)).fold(0.0, f64::max);
        let column_width = (MARGIN + numbers + 8.0 + grid_width).ceil();
        let wanted = 2.0 * MARGIN + lettering::width(&self.title, 15.0);
        let width = (columns as f64 * column_width + 2.0 * MARGIN).max(wanted.ceil().min(MAX_WIDTH));

        let legend = Legend::of(panels);
        let legend_top = header_height(&self.note, width);
        let (legend_rows, legend_height) = legend.draw((MARGIN, legend_top), width - 2.0 * MARGIN);
        let top = legend_top + legend_height;
        let numbers_height = if self.has_own_x { X_NUMBERS_HEIGHT } else { 0.0 };
        let row_height = TITLE_HEIGHT + grid_height + numbers_height;
        let rows = panels.len().div_ceil(columns);
        let height = top + row_height * rows as f64 - numbers_height + X_AXIS_HEIGHT;
        let mut document = titled(width, height, &self.title, &self.note).add(legend_rows);
        for (k, panel) in panels.iter().enumerate() {
            let on_axis = if self.has_own_x { &panels[k..=k] } else { panels };
            let x_range = limits(all_x(on_axis)).map(|limits| with_room(limits, X_ROOM));
            let ticks = x_range.map(|range| x_ticks(on_axis, range, grid_width)).unwrap_or_default();
            let place = Place {
                left: column_width * (k % columns + 1) as f64 - grid_width,
                top: top + row_height * (k / columns) as f64 + TITLE_HEIGHT,
                width: grid_width,
                height: grid_height,
            };
            let (from, to) = (place.left, place.left + place.width);
            let x = x_range.map(|(low, high)| (Axis { low, high, from, to }, ticks.as_slice()));
            document = document.add(panel.draw(place, x, &legend));
            let is_lowest = k + columns >= panels.len();
            if is_lowest || self.has_own_x {
                document = document.add(x_numbers(place, x, if is_lowest { &self.x_axis } else { "" }));
            }
        }
        Figure::new(&document)
    }
}

fn all_x(panels: &[Panel]) -> impl Iterator<Item = f64> {
    panels.iter().flat_map(Panel::visible_points).map(|(x, _)| x)
}

/// Round numbers on the axis of panels, as many as there is space for their labels.
fn x_ticks(panels: &[Panel], (low, high): (f64, f64), width: f64) -> Vec<f64> {
    let axis = Axis { low, high, from: 0.0, to: width };
    // Steps are integers.
    let least = if all_x(panels).all(|x| x.fract() == 0.0) { 1.0 } else { 0.0 };
    let candidates = (1..=8).rev().map(|parts| scale::round_interval(high - low, parts, least));
    let has_room = |ticks: &Vec<f64>| {
        let labels = scale::short_labels(ticks);
        let widest = labels.iter().map(|label| lettering::width(label, TICK_SIZE)).fold(0.0, f64::max);
        ticks.windows(2).all(|pair| axis.place(pair[1]) - axis.place(pair[0]) >= widest + LABEL_GAP)
    };
    candidates.map(|interval| axis.multiples(interval)).find(has_room).unwrap_or_default()
}

/// Draws the numbers below a grid, and the name of the axis.
fn x_numbers(place: Place, x: Option<(Axis, &[f64])>, name: &str) -> Group {
    let bottom = place.top + place.height;
    let mut group = Group::new();
    if let Some((axis, ticks)) = x {
        for (&tick, label) in ticks.iter().zip(scale::short_labels(ticks)) {
            group = group.add(text(&label, (axis.place(tick), bottom + 18.0), TICK_SIZE, "middle"));
        }
    }
    let name = lettering::shortened(name, place.width, 12.0);
    group.add(text(&name, (place.left + place.width / 2.0, bottom + 36.0), 12.0, "middle"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Series;

    fn series(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { name: name.into(), points: points.into_iter().collect(), band: Vec::new() }
    }

    fn panel(series: impl IntoIterator<Item = Series>) -> Panel {
        Panel { title: "loss".into(), series: series.into_iter().collect(), ..Panel::default() }
    }

    /// Draws panels; the SVG must render and contain no NaN or infinity.
    fn drawn(panels: impl IntoIterator<Item = Panel>) -> String {
        let panels = panels.into_iter().collect();
        let chart =
            LineChart { title: "runs".into(), x_axis: "training steps".into(), panels, ..Default::default() };
        let figure = chart.draw();
        assert!(figure.png().is_ok());
        assert!(!figure.svg().contains("NaN") && !figure.svg().contains("inf"), "{}", figure.svg());
        figure.svg().to_owned()
    }

    fn count(svg: &str, part: &str) -> usize {
        svg.matches(part).count()
    }

    #[test]
    fn a_panel_without_a_finite_point_shows_no_data() {
        assert_eq!(count(&drawn([]), "no data"), 1);
        let hopeless = series("a", [(1.0, f64::NAN), (f64::NAN, 1.0), (2.0, f64::INFINITY)]);
        let svg = drawn([panel([]), panel([hopeless]), panel([series("b", [(0.0, 1.0), (9.0, 2.0)])])]);
        assert_eq!(count(&svg, "no data"), 2);
    }

    #[test]
    fn non_finite_values_are_gaps() {
        let with_gap = series("a", (0..10).map(|k| (f64::from(k), if k == 4 { f64::NAN } else { 1.0 })));
        let svg = drawn([panel([with_gap])]);
        let line = svg.lines().find(|line| line.contains("<path") && line.contains("stroke=")).unwrap();
        assert_eq!(count(line, "M"), 2, "{line}");
    }

    #[test]
    fn a_single_point_is_a_dot() {
        let svg = drawn([panel([series("a", [(5.0, 3.0)])])]);
        assert_eq!(count(&svg, "<circle"), 1);
        assert!(svg.contains(">\n5\n"), "{svg}");
    }

    #[test]
    fn constant_and_negative_values_have_scales() {
        let flat = drawn([panel([series("a", (0..5).map(|k| (f64::from(k), 40.0)))])]);
        assert!(flat.contains("40") && flat.contains("38") && flat.contains("42"), "{flat}");
        let negative = drawn([panel([series("a", [(-10.0, -2.0), (10.0, -1.0)])])]);
        assert!(negative.contains("-1.6") && negative.contains("-10"), "{negative}");
    }

    #[test]
    fn bands_are_areas_with_their_own_gaps() {
        let mut curve = series("a", (0..4).map(|k| (f64::from(k), 1.0)));
        curve.band = vec![(0.5, 2.0), (0.0, 3.0), (f64::NEG_INFINITY, f64::INFINITY), (2.0, 0.5)];
        let svg = drawn([panel([curve])]);
        assert_eq!(count(&svg, "Z"), 2, "{svg}");
    }

    #[test]
    fn many_points_make_a_small_file() {
        let noise = |k: u32| f64::from(k.wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
        let svg = drawn([panel([series("a", (0..100_000).map(|k| (f64::from(k), noise(k))))])]);
        assert!(svg.len() < 40_000, "{} bytes", svg.len());
        assert!(svg.contains("20k") && svg.contains("100k"));
        let lacking = (0..100_000).map(|k| (f64::from(k), if k % 2 == 0 { noise(k) } else { f64::NAN }));
        let svg = drawn([panel([series("a", lacking)])]);
        assert!(svg.len() < 40_000, "{} bytes", svg.len());
    }

    #[test]
    fn panels_may_have_their_own_ranges() {
        let panels = vec![
            panel([series("a", [(0.0, 1.0), (40.0, 2.0)])]),
            panel([series("b", [(0.0, 1.0), (1000.0, 2.0)])]),
        ];
        let chart = LineChart { x_axis: "observed steps".into(), panels, ..LineChart::default() };
        let svg = |has_own_x: bool| LineChart { has_own_x, ..chart.clone() }.draw().svg().to_owned();
        assert!(!svg(false).contains("\n40\n"));
        assert!(svg(true).contains("\n40\n") && svg(true).contains("\n1000\n"));
        assert_eq!(count(&svg(true), "observed steps"), 1);
    }

    #[test]
    fn names_are_shown_once_and_cannot_break_the_file() {
        let runs = || ["a <b> & \"c\" \u{7}", "d"].map(|name| series(name, [(0.0, 1.0), (1e6, 2.0)]));
        let svg = drawn((0..5).map(|_| panel(runs())));
        assert_eq!((count(&svg, "a &lt;b&gt; &amp;"), count(&svg, "training steps")), (1, 2));
    }
}
