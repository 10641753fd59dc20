//! Maps of the plane: a field of distances with isochrones, values at points, rollouts and planned
//! paths.

use crate::{
    axis::{Axis, limits},
    contour::{Point, Surface},
    export::{Figure, MARGIN, header_height, titled},
    lettering, palette,
    raster::Raster,
    scale,
    shapes::{dot, line, rectangle, star, start, step_head, text, with_grid},
};
use std::fmt::Write as _;
use svg::node::element::{Group, Path};

const LEFT: f64 = 58.0;
const MAP_SIDE: f64 = 380.0;
const TITLE_HEIGHT: f64 = 34.0;
const AXIS_HEIGHT: f64 = 44.0;
const LEGEND_HEIGHT: f64 = 52.0;
const BAR_HEIGHT: f64 = 12.0;
const LINES_LEGEND_HEIGHT: f64 = 20.0;
const SAMPLE_WIDTH: f64 = 22.0;
/// Panels in a row.
const MAX_BESIDE: usize = 3;
/// The approximate number of isochrones.
const N_ISOCHRONES: usize = 10;
/// The number of different colors.
const N_SHADES: f64 = 48.0;
/// More dots than this are drawn small and without an edge.
const MAX_LARGE_DOTS: usize = 500;
/// The approximate distance between arrows on a path.
const ARROW_DISTANCE: f64 = 26.0;

/// Maps of one plane, side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlaneChart {
    /// The title.
    pub title: String,
    /// How to read the maps.
    pub note: String,
    /// The names of the two axes, with their units.
    pub axes: [String; 2],
    /// The maps, from left to right, three in a row.
    pub panels: Vec<PlanePanel>,
}

/// One map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanePanel {
    /// The title of the map.
    pub title: String,
    /// The meaning of colors; `None` for a map without values.
    pub colors: Option<Colors>,
    /// Values on a grid.
    pub field: Option<PlaneField>,
    /// Points with or without a value; those without are gray.
    pub dots: Vec<([f64; 2], Option<f64>)>,
    /// Walls: rectangles, each given by two opposite corners.
    pub walls: Vec<[[f64; 2]; 2]>,
    /// Rollouts, drawn as thin lines.
    pub paths: Vec<RolloutPath>,
    /// Planned paths, each from its first point to its last, drawn with arrows.
    pub planned: Vec<Vec<[f64; 2]>>,
    /// Start states, drawn as circles.
    pub starts: Vec<[f64; 2]>,
    /// Goal states, drawn as stars.
    pub goals: Vec<[f64; 2]>,
}

/// The states of a rollout.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RolloutPath {
    /// The points from the first state to the last.
    pub points: Vec<[f64; 2]>,
    /// Whether the rollout reached its goal: blue if so, orange if not.
    pub success: bool,
}

impl RolloutPath {
    /// A step longer than this share of the map is a jump, such as a teleporter, and is not drawn
    /// as a line.
    const JUMP: f64 = 0.08;
}

/// A color scale.
#[derive(Debug, Clone, PartialEq)]
pub enum Colors {
    /// From yellow at zero to dark purple at the largest value.
    Distance {
        /// The quantity and its unit.
        legend: String,
        /// The value with the darkest color; larger values have the same.
        largest: f64,
    },
    /// Blue below zero, red above.
    Difference {
        /// The quantity and its unit.
        legend: String,
        /// The magnitude with the strongest color.
        largest: f64,
    },
}

/// A value for every cell of a rectangle, row by row from the top; `None` where there are no data.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaneField {
    /// The left and right edges.
    pub x: (f64, f64),
    /// The lower and upper edges.
    pub y: (f64, f64),
    /// The number of cells in a row.
    pub columns: usize,
    /// The values, `[rows, columns]`.
    pub values: Vec<Option<f64>>,
}

impl PlaneField {
    /// Returns the centers of the cells of a rectangle, in the order of [`values`](Self::values).
    pub fn centers(x: (f64, f64), y: (f64, f64), columns: usize, rows: usize) -> Vec<[f64; 2]> {
        let at = |(low, high): (f64, f64), cell: usize, cells: usize| {
            low + (high - low) * (cell as f64 + 0.5) / cells as f64
        };
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.map(|(row, column)| [at(x, column, columns), at((y.1, y.0), row, rows)]).collect()
    }
}

impl Surface for PlaneField {
    fn size(&self) -> (usize, usize) {
        (self.values.len() / self.columns.max(1), self.columns)
    }

    fn cell(&self, index: usize) -> Option<f64> {
        self.values[index]
    }
}

impl Colors {
    /// The fill of a value, and a legible text color on it.
    fn of(&self, value: f64) -> (String, &'static str) {
        let shade = |part: f64| (part * N_SHADES).round() / N_SHADES;
        match self {
            Self::Distance { largest, .. } => {
                let far = shade((value / largest).clamp(0.0, 1.0));
                (palette::near_to_far(far), palette::ink_on(far))
            }
            Self::Difference { largest, .. } => {
                let part = shade((value / largest).clamp(-1.0, 1.0));
                (palette::below_to_above(part), if part.abs() > 0.7 { palette::PAPER } else { palette::INK })
            }
        }
    }

    fn range(&self) -> (f64, f64) {
        match *self {
            Self::Distance { largest, .. } => (0.0, largest),
            Self::Difference { largest, .. } => (-largest, largest),
        }
    }

    fn legend(&self) -> &str {
        let (Self::Distance { legend, .. } | Self::Difference { legend, .. }) = self;
        legend
    }
}

impl PlaneChart {
    /// Both axes have the same scale unless one range is more than this many times as long as the
    /// other.
    pub const MAX_ASPECT: f64 = 3.0;

    /// Draws the maps, all with the same axes.
    pub fn draw(&self) -> Figure {
        let columns = self.panels.len().clamp(1, MAX_BESIDE);
        let rows = self.panels.len().div_ceil(MAX_BESIDE).max(1);
        let ((x_low, x_high), (y_low, y_high)) = self.ranges();
        let (width, height) = (x_high - x_low, y_high - y_low);
        let (map_width, map_height) = match width.max(height) {
            // One unit has the same length on both axes.
            longer if longer <= Self::MAX_ASPECT * width.min(height) => {
                (MAP_SIDE * width / longer, MAP_SIDE * height / longer)
            }
            _ => (MAP_SIDE, MAP_SIDE),
        };
        let has_legend = self.panels.iter().any(|panel| panel.colors.is_some());
        let panel_width = LEFT + map_width + 12.0;
        let legend_height = if has_legend { LEGEND_HEIGHT } else { 0.0 };
        let panel_height = TITLE_HEIGHT + map_height + AXIS_HEIGHT + legend_height;
        let width = (columns as f64 * panel_width + 2.0 * MARGIN).max(420.0).ceil();
        let header_height = header_height(&self.note, width);
        let lines_legend = self.lines_legend(header_height);
        let top = header_height + if lines_legend.is_some() { LINES_LEGEND_HEIGHT } else { 0.0 };
        let height = (top + rows as f64 * panel_height + MARGIN).ceil();
        let mut document = titled(width, height, &self.title, &self.note);
        if let Some(legend) = lines_legend {
            document = document.add(legend);
        }
        for (number, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + panel_width * (number % MAX_BESIDE) as f64 + LEFT;
            let top = top + panel_height * (number / MAX_BESIDE) as f64 + TITLE_HEIGHT;
            let map = Map {
                panel,
                x: Axis { low: x_low, high: x_high, from: left, to: left + map_width },
                y: Axis { low: y_low, high: y_high, from: top + map_height, to: top },
            };
            document = document.add(map.draw(&self.axes));
        }
        Figure::new(&document)
    }

    /// Draws a legend of rollouts, planned paths, starts and goals; `None` if there are no lines.
    fn lines_legend(&self, top: f64) -> Option<Group> {
        let has = |is_in: fn(&PlanePanel) -> bool| self.panels.iter().any(is_in);
        let has_rollouts = has(|panel| !panel.paths.is_empty());
        let has_plans = has(|panel| panel.planned.iter().any(|path| path.len() > 1));
        if !has_rollouts && !has_plans {
            return None;
        }
        let y = top + 4.0;
        let stroke =
            |ink: &'static str, width: f64| line((0.0, y), (SAMPLE_WIDTH, y), ink).set("stroke-width", width);
        let middle = (SAMPLE_WIDTH / 2.0, y);
        let mut entries: Vec<(Group, &str)> = Vec::new();
        if has_rollouts {
            entries.push((Group::new().add(stroke(success_ink(true), 2.0)), "success"));
            entries.push((Group::new().add(stroke(success_ink(false), 2.0)), "failure"));
        }
        if has_plans {
            let casing = Group::new().add(stroke(palette::INK, 4.2)).add(stroke(palette::PAPER, 2.2));
            entries.push((casing, "planned path"));
        }
        if has(|panel| !panel.starts.is_empty()) {
            entries.push((Group::new().add(start(middle, 5.5)), "start"));
        }
        if has(|panel| !panel.goals.is_empty()) {
            entries.push((Group::new().add(star(middle, 8.0)), "goal"));
        }
        let (mut group, mut x) = (Group::new(), MARGIN);
        for (sample, name) in entries {
            let label = text(name, (SAMPLE_WIDTH + 6.0, y + 4.0), 11.0, "start");
            group = group.add(sample.add(label).set("transform", format!("translate({x:.1} 0)")));
            x += SAMPLE_WIDTH + 6.0 + lettering::width(name, 11.0) + 14.0;
        }
        Some(group)
    }

    /// The ranges of both axes over all maps.
    fn ranges(&self) -> ((f64, f64), (f64, f64)) {
        let along = |axis: usize| {
            let of_panel = |panel: &PlanePanel| {
                let PlanePanel { field, dots, walls, paths, planned, starts, goals, .. } = panel;
                let lines = planned.iter().chain(paths.iter().map(|path| &path.points)).flatten();
                let places = starts.iter().chain(goals).chain(walls.iter().flatten()).chain(lines);
                let places = places.chain(dots.iter().map(|dot| &dot.0)).map(|place| place[axis]);
                let edges = field.iter().map(|field| if axis == 0 { field.x } else { field.y });
                let edges = edges.flat_map(|(low, high)| [low, high]);
                places.filter(|value| value.is_finite()).chain(edges).collect::<Vec<_>>()
            };
            let (low, high) = limits(self.panels.iter().flat_map(of_panel)).unwrap_or((0.0, 1.0));
            let room = 0.02 * (high - low).max(1e-9);
            (low - room, high + room)
        };
        (along(0), along(1))
    }
}

/// A panel and its position in the figure.
struct Map<'a> {
    panel: &'a PlanePanel,
    x: Axis,
    y: Axis,
}

impl Map<'_> {
    fn place(&self, [x, y]: [f64; 2]) -> Point {
        (self.x.place(x), self.y.place(y))
    }

    fn draw(&self, axes: &[String; 2]) -> Group {
        let width = self.x.to - self.x.from;
        let title = lettering::shortened(&self.panel.title, width, 12.0);
        let group = Group::new().add(text(&title, (self.x.from, self.y.to - 10.0), 12.0, "start"));
        let group = group.add(self.frame(axes)).add(self.heat()).add(self.walls()).add(self.dots());
        let group = group.add(self.paths()).add(self.isochrones()).add(self.planned()).add(self.marks());
        match &self.panel.colors {
            Some(colors) => group.add(self.legend(colors)),
            None => group,
        }
    }

    fn frame(&self, [x_name, y_name]: &[String; 2]) -> Group {
        let (left, right, bottom, top) = (self.x.from, self.x.to, self.y.from, self.y.to);
        let (beside, middle) = (left - 42.0, (top + bottom) / 2.0);
        let turned = format!("rotate(-90 {beside:.1} {middle:.1})");
        let x_name = lettering::shortened(x_name, right - left + LEFT, 12.0);
        let y_name = lettering::shortened(y_name, bottom - top + AXIS_HEIGHT, 12.0);
        with_grid(Group::new(), self.x, self.y, 1e-9, 17.0)
            .add(text(&x_name, ((left + right) / 2.0, bottom + 35.0), 12.0, "middle"))
            .add(text(&y_name, (beside, middle), 12.0, "middle").set("transform", turned))
    }

    fn heat(&self) -> Group {
        let (Some(field), Some(colors)) = (&self.panel.field, &self.panel.colors) else {
            return Group::new().set("shape-rendering", "crispEdges");
        };
        let fill = |value: &Option<f64>| Some(colors.of(value.filter(|value| value.is_finite())?).0);
        let rows = field.values.chunks(field.columns.max(1));
        self.raster(field).heat(rows.map(|values| values.iter().map(fill).collect::<Vec<_>>()), 0.3)
    }

    fn raster(&self, field: &PlaneField) -> Raster {
        let (left, top) = self.place([field.x.0, field.y.1]);
        let (right, bottom) = self.place([field.x.1, field.y.0]);
        let (rows, columns) = field.size();
        let cell = ((right - left) / columns.max(1) as f64, (bottom - top) / rows.max(1) as f64);
        Raster { origin: (left, top), cell }
    }

    fn isochrones(&self) -> Group {
        let mut group = Group::new().set("fill", "none").set("stroke-linecap", "round");
        let (Some(field), Some(colors)) = (&self.panel.field, &self.panel.colors) else { return group };
        let raster = self.raster(field);
        let (low, high) = colors.range();
        let interval = scale::round_interval(high - low, N_ISOCHRONES, 1e-9);
        let mut labels: Vec<Point> =
            self.panel.goals.iter().chain(&self.panel.starts).map(|&at| self.place(at)).collect();
        let mut texts = Group::new();
        for level in scale::multiples(interval, high) {
            let (path, label) = raster.isochrone(field, level, &labels, 26.0, 300);
            let (fill, ink) = colors.of(level);
            group = group.add(path.set("stroke", ink).set("stroke-width", 0.9));
            if let Some(at) = label {
                let label = scale::label(level);
                let width = lettering::width(&label, 10.0) + 4.0;
                let ground = rectangle(at.0 - width / 2.0, at.1 - 6.5, width, 13.0).set("rx", 3);
                texts = texts
                    .add(ground.set("fill", fill))
                    .add(text(&label, (at.0, at.1 + 3.6), 10.0, "middle").set("fill", ink));
                labels.push(at);
            }
        }
        group.add(texts)
    }

    fn walls(&self) -> Group {
        let mut group = Group::new().set("shape-rendering", "crispEdges").set("fill", palette::STONE);
        for &[one, other] in &self.panel.walls {
            let ((x0, y0), (x1, y1)) = (self.place(one), self.place(other));
            let (width, height) = ((x1 - x0).abs() + 0.3, (y1 - y0).abs() + 0.3);
            group = group.add(rectangle(x0.min(x1), y0.min(y1), width, height));
        }
        group
    }

    fn paths(&self) -> Group {
        let mut group = Group::new().set("fill", "none").set("stroke-linejoin", "round");
        let longest = RolloutPath::JUMP * (self.x.high - self.x.low).max(self.y.high - self.y.low);
        let length = |step: &[[f64; 2]]| (step[1][0] - step[0][0]).hypot(step[1][1] - step[0][1]);
        for RolloutPath { points: places, success } in &self.panel.paths {
            let mut data = String::new();
            for (k, &at) in places.iter().enumerate() {
                let is_new = k == 0 || length(&places[k - 1..=k]) > longest;
                let (x, y) = self.place(at);
                let _ = write!(data, "{}{x:.1} {y:.1}", if is_new { "M" } else { "L" });
            }
            let line =
                Path::new().set("d", data).set("stroke", success_ink(*success)).set("stroke-width", 1.0);
            group = group.add(line.set("stroke-opacity", 0.55));
        }
        group
    }

    fn dots(&self) -> Group {
        let mut group = Group::new();
        let has_field = self.panel.field.is_some();
        let is_crowded = self.panel.dots.len() > MAX_LARGE_DOTS;
        for (at, value) in &self.panel.dots {
            let at = self.place(*at);
            group = group.add(match (value.filter(|value| value.is_finite()), &self.panel.colors) {
                (Some(value), Some(colors)) if is_crowded => dot(at, 2.2).set("fill", colors.of(value).0),
                (Some(value), Some(colors)) => {
                    let dot = dot(at, 3.4).set("fill", colors.of(value).0);
                    dot.set("stroke", palette::HATCH).set("stroke-width", 0.4)
                }
                _ if has_field => dot(at, 1.1).set("fill", palette::INK).set("fill-opacity", 0.25),
                _ => dot(at, 1.4).set("fill", palette::HATCH).set("fill-opacity", 0.6),
            });
        }
        group
    }

    fn planned(&self) -> Group {
        let mut group = Group::new().set("stroke-linecap", "round").set("stroke-linejoin", "round");
        for path in &self.panel.planned {
            let places: Vec<Point> = path.iter().map(|&at| self.place(at)).collect();
            let mut data = String::new();
            for (k, (x, y)) in places.iter().enumerate() {
                let _ = write!(data, "{}{x:.1} {y:.1}", if k == 0 { "M" } else { "L" });
            }
            // A dark casing below a light line is visible on every background.
            for (ink, width) in [(palette::INK, 4.2), (palette::PAPER, 2.2)] {
                let line = Path::new().set("d", data.as_str()).set("fill", "none");
                group = group.add(line.set("stroke", ink).set("stroke-width", width));
            }
            let mut passed = 0.5 * ARROW_DISTANCE;
            for pair in places.windows(2) {
                passed += (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1);
                if passed >= ARROW_DISTANCE {
                    passed = 0.0;
                    group = group.add(step_head(pair[0], pair[1], 5.0));
                }
            }
        }
        group
    }

    fn marks(&self) -> Group {
        let starts = self.panel.starts.iter().map(|&at| start(self.place(at), 5.5));
        let goals = self.panel.goals.iter().map(|&at| star(self.place(at), 10.0));
        goals.fold(starts.fold(Group::new(), Group::add), Group::add)
    }

    fn legend(&self, colors: &Colors) -> Group {
        let (left, top) = (self.x.from, self.y.from + AXIS_HEIGHT + 4.0);
        let width = self.x.to - left;
        let (low, high) = colors.range();
        let mut group = Group::new().set("shape-rendering", "crispEdges");
        for shade in 0..N_SHADES as usize {
            let value = low + (high - low) * (shade as f64 + 0.5) / N_SHADES;
            let at = left + width * shade as f64 / N_SHADES;
            let patch = rectangle(at, top, width / N_SHADES + 0.5, BAR_HEIGHT);
            group = group.add(patch.set("fill", colors.of(value).0));
        }
        let axis = Axis { low, high, from: left, to: left + width };
        for tick in axis.ticks(1e-9) {
            let at = (axis.place(tick), top + BAR_HEIGHT + 13.0);
            group = group.add(text(&scale::label(tick), at, 10.0, "middle"));
        }
        group.add(text(colors.legend(), (left + width / 2.0, top + BAR_HEIGHT + 28.0), 11.0, "middle"))
    }
}

/// The color of a rollout: blue if it succeeds, orange if it fails.
fn success_ink(success: bool) -> &'static str {
    palette::LINES[usize::from(!success)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> PlaneChart {
        let (x, y) = ((0.0, 20.0), (0.0, 10.0));
        let centers = PlaneField::centers(x, y, 20, 10);
        let values = centers.iter().map(|[x, _]| (*x < 15.0).then_some(*x)).collect();
        let panel = PlanePanel {
            title: "to the <goal>".into(),
            colors: Some(Colors::Distance { legend: "steps".into(), largest: 15.0 }),
            field: Some(PlaneField { x, y, columns: 20, values }),
            dots: vec![([1.0, 1.0], None), ([2.0, 2.0], Some(f64::NAN))],
            walls: vec![[[16.0, 0.0], [20.0, 10.0]]],
            paths: vec![RolloutPath { points: vec![[1.0, 1.0], [2.0, 2.0]], success: true }],
            planned: vec![vec![[0.0, 5.0], [5.0, 5.0], [10.0, 5.0]]],
            starts: vec![[0.0, 5.0]],
            goals: vec![[10.0, 5.0]],
        };
        let error = Colors::Difference { legend: "error".into(), largest: 2.0 };
        let dots = vec![([0.0, 0.0], Some(-2.0)), ([20.0, 10.0], Some(2.0))];
        let other = PlanePanel { colors: Some(error), dots, ..PlanePanel::default() };
        PlaneChart {
            title: "a map".into(),
            note: String::new(),
            axes: ["x (m)".into(), "y (m)".into()],
            panels: vec![panel, other],
        }
    }

    #[test]
    fn everything_is_on_the_map() {
        let svg = chart().draw().svg().to_owned();
        for part in ["a map", "to the &lt;goal&gt;", "x (m)", "steps", "error", "<polygon"] {
            assert!(svg.contains(part), "{part}");
        }
        // Isochrones are straight, because the field grows from left to right.
        assert!(svg.contains("\n10\n") && svg.contains("\n2\n"));
        assert!(!svg.contains("NaN"));
        assert!(chart().draw().png().is_ok());
    }

    #[test]
    fn jumps_are_not_drawn_and_waiting_is_no_jump() {
        let mut places = vec![[0.0, 0.0], [0.2, 0.0], [0.4, 0.0], [20.0, 0.0], [20.2, 0.0]];
        places.extend(vec![[20.2001, 0.0]; 1000]);
        let paths = vec![RolloutPath { points: places, success: false }];
        let walls = vec![[[0.0, 0.0], [40.0, 40.0]]];
        let panel = PlanePanel { walls, paths, ..PlanePanel::default() };
        let svg = PlaneChart { panels: vec![panel], ..PlaneChart::default() }.draw().svg().to_owned();
        let line = svg.split("<path").find(|part| part.contains("stroke-opacity")).unwrap();
        assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 1003), "{line}");
    }

    #[test]
    fn rollouts_have_a_legend() {
        let svg = chart().draw().svg().to_owned();
        for part in ["success", "failure", "planned path", "start", "goal"] {
            assert!(svg.contains(&format!("\n{part}\n")), "{part}: {svg}");
        }
        let mut without = chart();
        (without.panels[0].paths, without.panels[0].planned) = (Vec::new(), Vec::new());
        assert!(!without.draw().svg().contains("\nsuccess\n"));
    }

    #[test]
    fn cells_are_counted_from_the_top_left() {
        let centers = PlaneField::centers((0.0, 2.0), (0.0, 4.0), 2, 2);
        assert_eq!(centers, [[0.5, 3.0], [1.5, 3.0], [0.5, 1.0], [1.5, 1.0]]);
    }

    #[test]
    fn an_empty_chart_is_drawn() {
        assert!(PlaneChart::default().draw().png().is_ok());
        let empty = PlaneChart { panels: vec![PlanePanel::default()], ..PlaneChart::default() };
        assert!(empty.draw().png().is_ok());
    }
}
