//! One panel of a line chart: its grid, its bands and its lines.

use crate::{
    axis::{Axis, is_drawable, limits, with_room},
    contour::Point,
    legend::{Legend, REFERENCE, Stroke},
    lettering, palette, scale,
    series::{Panel, Series},
    shapes::{dot, line, text},
    thinning::{mean_of_dense, pieces, thin_band, thin_line},
};
use std::fmt::Write as _;
use svg::node::element::{Group, Path};

/// Room above the grid for the title.
pub(super) const TITLE_HEIGHT: f64 = 36.0;
/// Size of the numbers at ticks.
pub(super) const TICK_SIZE: f64 = 11.0;
/// The radius of a point without neighbors.
const DOT_RADIUS: f64 = 2.4;
/// The smallest distance between ticks, about.
const TICK_DISTANCE: f64 = 28.0;
/// Room above and below the values, as a share of their range.
const ROOM: f64 = 0.06;

/// The position of a panel's grid in the figure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Panel {
    /// The points of all lines that have finite coordinates.
    pub(super) fn visible_points(&self) -> impl Iterator<Item = Point> {
        let lines = self.series.iter().chain(&self.references);
        let points = lines.flat_map(|series| &series.points).copied();
        points.filter(|&(x, y)| is_drawable(x) && is_drawable(y))
    }

    /// The axis over all points and bands; `None` without points.
    fn y_axis(&self, top: f64, height: f64) -> Option<Axis> {
        let (low, high) = limits(self.visible_points().map(|(_, y)| y))?;
        let bands = self.series.iter().flat_map(|series| series.points.iter().zip(&series.band));
        let edges = bands.filter(|(point, _)| is_drawable(point.0)).flat_map(|(_, &(low, high))| [low, high]);
        let with_edges = edges.filter(|&edge| is_drawable(edge)).chain([low, high]);
        let (low, high) = with_room(limits(with_edges)?, ROOM);
        Some(Axis { low, high, from: top + height, to: top })
    }

    /// The width of the numbers beside a grid of this height.
    pub(super) fn y_label_width(&self, height: f64) -> f64 {
        let ticks = self.y_axis(0.0, height).map(|axis| y_ticks(&axis)).unwrap_or_default();
        ticks.iter().map(|(_, label)| lettering::width(label, TICK_SIZE)).fold(0.0, f64::max)
    }

    /// Draws the panel over an `x` axis without its numbers, which all panels share.
    pub(super) fn draw(&self, place: Place, x: Option<(Axis, &[f64])>, legend: &Legend) -> Group {
        let title = lettering::shortened(&self.title, place.width, 12.0);
        let group = Group::new().add(text(&title, (place.left, place.top - 10.0), 12.0, "start"));
        let bottom = place.top + place.height;
        let base = line((place.left, bottom), (place.left + place.width, bottom), palette::HATCH);
        let (Some((x, x_ticks)), Some(y)) = (x, self.y_axis(place.top, place.height)) else {
            let middle = (place.left + place.width / 2.0, place.top + place.height / 2.0 + 4.0);
            return group.add(base).add(text("no data", middle, 12.0, "middle").set("fill", palette::HATCH));
        };
        let mut grid = Group::new();
        for &tick in x_ticks {
            let at = x.place(tick);
            grid = grid.add(line((at, place.top), (at, bottom + 4.0), palette::WALL));
        }
        for (tick, label) in y_ticks(&y) {
            let at = y.place(tick);
            grid = grid
                .add(line((place.left - 4.0, at), (place.left + place.width, at), palette::WALL))
                .add(text(&label, (place.left - 8.0, at + 4.0), TICK_SIZE, "end"));
        }
        let mut references = Group::new().set("fill", "none");
        for series in &self.references {
            references = references.add(curve(series, &x, &y, REFERENCE));
        }
        // All bands lie below all lines, so that none hides a line.
        let (mut bands, mut lines) =
            (Group::new().set("fill-opacity", 0.18), Group::new().set("fill", "none"));
        for series in &self.series {
            let stroke = legend.stroke(&series.name);
            if !series.band.is_empty() {
                bands = bands.add(band(series, &x, &y, stroke.color));
            }
            lines = lines.add(curve(series, &x, &y, stroke));
        }
        group.add(grid).add(base).add(references).add(bands).add(lines)
    }
}

/// Round values, with their labels.
fn y_ticks(axis: &Axis) -> Vec<(f64, String)> {
    let parts = ((axis.from - axis.to) / TICK_DISTANCE) as usize;
    let values = axis.multiples(scale::round_interval(axis.high - axis.low, parts.clamp(2, 7), 0.0));
    let labels = scale::short_labels(&values);
    values.into_iter().zip(labels).collect()
}

/// The height of a value in the figure; `None` if it is not finite.
fn height(y: &Axis, value: f64) -> Option<f64> {
    is_drawable(value).then(|| y.place(value))
}

fn curve(series: &Series, x: &Axis, y: &Axis, stroke: Stroke) -> Group {
    let marks = by_rising_x(&series.points, |_, point| height(y, point.1), x);
    let (mut line, mut range) = (String::new(), String::new());
    let mut group = Group::new();
    for piece in pieces(marks) {
        match (piece.as_slice(), mean_of_dense(&piece)) {
            // A line needs two points; a single point is a dot.
            (&[point], _) => group = group.add(dot(point, DOT_RADIUS).set("fill", stroke.color)),
            // Noise would hide the curve and its neighbors: its range is pale, its mean is not.
            (piece, Some(middle)) => {
                trace(&mut range, thin_line(piece));
                trace(&mut line, middle);
            }
            (piece, None) => trace(&mut line, thin_line(piece)),
        }
    }
    let path = |data: String| Path::new().set("d", data).set("stroke", stroke.color);
    if !range.is_empty() {
        group = group.add(path(range).set("stroke-width", 1).set("stroke-opacity", 0.3));
    }
    if !line.is_empty() {
        let line = path(line).set("stroke-width", stroke.width).set("stroke-linejoin", "round");
        group = group.add(line.set("stroke-dasharray", stroke.dashes));
    }
    group
}

fn band(series: &Series, x: &Axis, y: &Axis, color: &'static str) -> Path {
    let marks = by_rising_x(
        &series.points,
        |index, _| {
            let &(low, high) = series.band.get(index)?;
            Some((height(y, low.max(high))?, height(y, low.min(high))?))
        },
        x,
    );
    let mut data = String::new();
    for piece in pieces(marks) {
        let mut edges = thin_band(&piece);
        if let &[(x, edge)] = edges.as_slice() {
            // A band of one point is as wide as its dot.
            edges = vec![(x - 2.0, edge), (x + 2.0, edge)];
        }
        let tops = edges.iter().map(|&(x, (top, _))| (x, top));
        let bottoms = edges.iter().rev().map(|&(x, (_, bottom))| (x, bottom));
        trace(&mut data, tops.chain(bottoms));
        data.push('Z');
    }
    Path::new().set("d", data).set("fill", color)
}

/// Points from left to right, in whatever order they were logged, with their values in the figure.
fn by_rising_x<T>(
    points: &[Point],
    shown: impl Fn(usize, &Point) -> Option<T>,
    x: &Axis,
) -> Vec<(f64, Option<T>)> {
    let mut order: Vec<usize> = (0..points.len()).filter(|&index| is_drawable(points[index].0)).collect();
    order.sort_by(|&a, &b| points[a].0.total_cmp(&points[b].0));
    order.into_iter().map(|index| (x.place(points[index].0), shown(index, &points[index]))).collect()
}

/// Adds a line through points to the data of a path. Coordinates are multiples of 0.1, so relative
/// steps, which are shorter to write, are exact.
fn trace(data: &mut String, points: impl IntoIterator<Item = Point>) {
    let mut last = None;
    for (x, y) in points {
        let _ = match last {
            None => write!(data, "M{x} {y}"),
            Some((last_x, last_y)) => write!(data, "l{} {}", tenths(x - last_x), tenths(y - last_y)),
        };
        last = Some((x, y));
    }
}

fn tenths(value: f64) -> f64 {
    (10.0 * value).round() / 10.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tick labels of a curve through two values.
    fn labels(low: f64, high: f64) -> String {
        let series = Series { points: vec![(0.0, low), (1.0, high)], ..Series::default() };
        let panel = Panel { series: vec![series], ..Panel::default() };
        let axis = panel.y_axis(0.0, 5.0 * TICK_DISTANCE).unwrap();
        let ticks = y_ticks(&axis);
        assert!(ticks.iter().all(|(tick, _)| (axis.low..=axis.high).contains(tick)));
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(labels(0.0, 1.0), "0 0.5 1");
        assert_eq!(labels(-3e5, -1e5), "-300k -250k -200k -150k -100k");
        assert_eq!(labels(7.0, 7.0), "6.5 7 7.5");
    }

    #[test]
    fn extreme_ranges_have_ticks() {
        for (low, high) in [(1e-300, 1e300), (1.0, 1.0 + 1e-8), (-1e300, 1e300)] {
            assert!(!labels(low, high).is_empty());
        }
    }
}
