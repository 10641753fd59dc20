//! The shapes that make up charts.

use crate::{axis::Axis, contour::Point, palette, scale};
use isochrone_core::is_control;
use svg::node::element::{Circle, Group, Line, Polygon, Rectangle, Text};

pub(super) fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Rectangle {
    let corner = Rectangle::new().set("x", round(x)).set("y", round(y));
    corner.set("width", round(width)).set("height", round(height))
}

pub(super) fn text(content: &str, (x, y): Point, size: f64, anchor: &'static str) -> Text {
    // XML has no control characters, not even escaped ones.
    let content: String = content.chars().map(|c| if is_control(c) { ' ' } else { c }).collect();
    let text = Text::new(content).set("x", round(x)).set("y", round(y)).set("font-size", round(size));
    text.set("text-anchor", anchor).set("fill", palette::INK)
}

/// Text with a margin in the color of the paper, so that lines behind it do not cross the letters.
pub(super) fn haloed_text(content: &str, at: Point, size: f64) -> Text {
    let text = text(content, at, size, "start").set("stroke", palette::PAPER);
    text.set("stroke-width", 5).set("stroke-linejoin", "round").set("paint-order", "stroke")
}

pub(super) fn line((x1, y1): Point, (x2, y2): Point, ink: &'static str) -> Line {
    Line::new().set("x1", x1).set("y1", y1).set("x2", x2).set("y2", y2).set("stroke", ink)
}

pub(super) fn dot((x, y): Point, radius: f64) -> Circle {
    Circle::new().set("cx", x).set("cy", y).set("r", radius)
}

/// The marker of a start.
pub(super) fn start(at: Point, radius: f64) -> Circle {
    dot(at, radius).set("fill", palette::PAPER).set("stroke", palette::INK).set("stroke-width", 2)
}

/// The marker of a goal.
pub(super) fn star((x, y): Point, radius: f64) -> Polygon {
    let corner = |k: usize| {
        let angle = std::f64::consts::PI * (k as f64 / 5.0 - 0.5);
        let r = if k.is_multiple_of(2) { radius } else { 0.42 * radius };
        (x + r * angle.cos(), y + r * angle.sin())
    };
    polygon((0..10).map(corner), "#d62828").set("stroke", palette::PAPER).set("stroke-width", 1.2)
}

pub(super) fn arrow_head((x, y): Point, (dx, dy): Point, size: f64, ink: &'static str) -> Polygon {
    let length = dx.hypot(dy).max(1e-12);
    let (ux, uy) = (dx / length * size, dy / length * size);
    let back = (x - 0.5 * ux, y - 0.5 * uy);
    polygon([(x + ux, y + uy), (x - ux - uy, y - uy + ux), back, (x - ux + uy, y - uy - ux)], ink)
}

/// An arrowhead halfway along a step of a path.
pub(super) fn step_head(from: Point, to: Point, size: f64) -> Polygon {
    let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    let head = arrow_head(middle, (to.0 - from.0, to.1 - from.1), size, palette::PAPER);
    head.set("stroke", palette::INK).set("stroke-width", 1)
}

/// Adds gridlines and numbers at the ticks of two axes, at least `least` apart; those of `x` are
/// `below` the map.
pub(super) fn with_grid(mut group: Group, x: Axis, y: Axis, least: f64, below: f64) -> Group {
    for tick in x.ticks(least) {
        let at = x.place(tick);
        let number = text(&scale::label(tick), (at, y.from + below), 11.0, "middle");
        group = group.add(line((at, y.to), (at, y.from + 4.0), palette::WALL)).add(number);
    }
    for tick in y.ticks(least) {
        let at = y.place(tick);
        let number = text(&scale::label(tick), (x.from - 8.0, at + 4.0), 11.0, "end");
        group = group.add(line((x.from - 4.0, at), (x.to, at), palette::WALL)).add(number);
    }
    group
}

fn polygon(corners: impl IntoIterator<Item = Point>, fill: &'static str) -> Polygon {
    let corners: Vec<String> = corners.into_iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    Polygon::new().set("points", corners.join(" ")).set("fill", fill)
}

/// Rounds to two decimals: precise enough for a figure, and independent of the last bit of a
/// computation.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
