//! An overview of a dataset: the lengths of its episodes and their paths.

use crate::{
    PlaneChart,
    axis::{Axis, limits},
    export::{Figure, paper, sheet},
    palette,
    shapes::{dot, rectangle, text, with_grid},
};
use std::fmt::Write as _;
use svg::node::element::{Group, Path};

const PANEL: f64 = 380.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 76.0;
const BETWEEN: f64 = 78.0;
const BOTTOM: f64 = 56.0;
/// The largest number of bins of the histogram of lengths.
const MAX_BINS: usize = 24;
/// The number of colors along a path.
const SHADES: usize = 8;
/// The largest number of points of one path.
const MAX_POINTS: usize = 160;

/// A histogram of episode lengths, and the first two dimensions of states.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryPlot {
    /// The title.
    pub title: String,
    /// Numbers of steps and of episodes with so many steps, by increasing steps.
    pub lengths: Vec<(usize, u64)>,
    /// The states of some episodes.
    pub paths: Vec<Vec<[f32; 2]>>,
    /// The names of the two dimensions.
    pub axes: [String; 2],
}

impl TrajectoryPlot {
    /// Draws the histogram, and the paths if there are any.
    pub fn draw(&self) -> Figure {
        let has_paths = self.paths.iter().any(|path| path.len() > 1);
        let panels = if has_paths { 2.0 } else { 1.0 };
        let width = LEFT + panels * PANEL + (panels - 1.0) * BETWEEN + 24.0;
        let height = TOP + PANEL + BOTTOM;
        let mut document = sheet(width, height)
            .add(paper())
            .add(text(&self.title, (16.0, 26.0), 15.0, "start"))
            .add(self.histogram());
        if has_paths {
            document = document.add(self.map(LEFT + PANEL + BETWEEN));
        }
        Figure::new(&document)
    }

    /// Bins of equal width over the lengths: (from, to, count).
    fn bins(&self) -> Vec<(f64, f64, u64)> {
        let (Some(&(shortest, _)), Some(&(longest, _))) = (self.lengths.first(), self.lengths.last()) else {
            return Vec::new();
        };
        let width = (longest - shortest + 1).div_ceil(MAX_BINS).max(1);
        let mut bins = vec![0; (longest - shortest) / width + 1];
        for &(steps, count) in &self.lengths {
            bins[(steps - shortest) / width] += count;
        }
        let edge = |bin: usize| (shortest + bin * width) as f64 - 0.5;
        bins.into_iter().enumerate().map(|(bin, count)| (edge(bin), edge(bin + 1), count)).collect()
    }

    fn histogram(&self) -> Group {
        let bins = self.bins();
        let tallest = bins.iter().map(|bin| bin.2).max().unwrap_or(1).max(1) as f64;
        let (low, high) = (bins.first().map_or(0.0, |bin| bin.0), bins.last().map_or(1.0, |bin| bin.1));
        // Few lengths stand in the middle of the axis and do not fill all of it.
        let room = if bins.len() < 6 { (high - low) * 2.0 } else { 0.0 };
        let x = Axis { low: (low - room).max(-0.5), high: high + room, from: LEFT, to: LEFT + PANEL };
        let y = Axis { low: 0.0, high: tallest * 1.06, from: TOP + PANEL, to: TOP };
        let episodes: u64 = self.lengths.iter().map(|(_, count)| count).sum();
        let caption = format!("{episodes} episode{} by length", if episodes == 1 { "" } else { "s" });
        let mut group = frame(&caption, x, y, ("steps", "episodes"), 1.0);
        for (from, to, count) in bins.into_iter().filter(|bin| bin.2 > 0) {
            let (left, right) = (x.place(from), x.place(to));
            let gap = if right - left > 6.0 { 1.0 } else { 0.0 };
            let top = y.place(count as f64);
            let bar = rectangle(left + gap, top, right - left - 2.0 * gap, TOP + PANEL - top);
            group = group.add(bar.set("fill", palette::near_to_far(0.55)));
        }
        group
    }

    fn map(&self, left: f64) -> Group {
        let [x, y] = self.axes_of_paths(left);
        let total: u64 = self.lengths.iter().map(|(_, count)| count).sum();
        let shown = self.paths.len() as u64;
        let of = if shown < total { format!(" of {total}") } else { String::new() };
        let plural = if total == 1 { "" } else { "s" };
        let caption = format!("{shown}{of} episode{plural}, from yellow at the start to purple at the end");
        let mut group = frame(&caption, x, y, (&self.axes[0], &self.axes[1]), 1e-6);
        let opacity = (12.0 / self.paths.len() as f64).clamp(0.25, 0.9);
        let mut starts = Group::new().set("fill", palette::INK).set("fill-opacity", 0.5);
        for path in &self.paths {
            let points: Vec<(f64, f64)> = path
                .iter()
                .step_by(path.len().div_ceil(MAX_POINTS).max(1))
                .filter(|point| point.iter().all(|value| value.is_finite()))
                .map(|point| (x.place(f64::from(point[0])), y.place(f64::from(point[1]))))
                .collect();
            let Some(&first) = points.first() else { continue };
            for shade in 0..SHADES {
                let at = |part: usize| part * (points.len() - 1) / SHADES;
                let piece = &points[at(shade)..=at(shade + 1)];
                if piece.len() > 1 {
                    let far = 0.12 + 0.88 * shade as f64 / (SHADES - 1) as f64;
                    group = group.add(polyline(piece, &palette::near_to_far(far), opacity));
                }
            }
            starts = starts.add(dot(first, 1.6));
        }
        group.add(starts)
    }

    /// Both axes, with the same scale unless one range is much longer.
    fn axes_of_paths(&self, left: f64) -> [Axis; 2] {
        let range = |index: usize| {
            let values = self.paths.iter().flatten().map(|point| f64::from(point[index]));
            let (low, high) = limits(values.filter(|value| value.is_finite())).unwrap_or_default();
            if high > low { (low, high) } else { (low.min(0.0) - 0.5, high.max(0.0) + 0.5) }
        };
        let ranges = [range(0), range(1)];
        let extents = ranges.map(|(low, high)| high - low);
        let (longer, shorter) = (extents[0].max(extents[1]), extents[0].min(extents[1]));
        let is_shared = longer <= PlaneChart::MAX_ASPECT * shorter;
        let half = |index: usize| 0.53 * if is_shared { longer } else { extents[index] };
        let axis = |index: usize, from: f64, to: f64| {
            let middle = 0.5 * (ranges[index].0 + ranges[index].1);
            Axis { low: middle - half(index), high: middle + half(index), from, to }
        };
        [axis(0, left, left + PANEL), axis(1, TOP + PANEL, TOP)]
    }
}

/// Draws a caption and two axes with ticks and names.
fn frame(caption: &str, x: Axis, y: Axis, (x_name, y_name): (&str, &str), least_tick: f64) -> Group {
    let (left, bottom) = (x.from, y.from);
    let caption = Group::new().add(text(caption, (left, TOP - 16.0), 12.0, "start"));
    let (x_middle, y_middle) = (left + PANEL / 2.0, TOP + PANEL / 2.0);
    let turned = format!("rotate(-90 {} {y_middle})", left - 46.0);
    with_grid(caption, x, y, least_tick, 18.0)
        .add(text(x_name, (x_middle, bottom + 40.0), 12.0, "middle"))
        .add(text(y_name, (left - 46.0, y_middle), 12.0, "middle").set("transform", turned))
}

fn polyline(points: &[(f64, f64)], color: &str, opacity: f64) -> Path {
    let mut data = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let _ = write!(data, "{}{x} {y}", if at == 0 { "M" } else { "L" });
    }
    let line = Path::new().set("d", data).set("fill", "none").set("stroke", color);
    line.set("stroke-width", 1.1).set("stroke-opacity", (100.0 * opacity).round() / 100.0)
}
