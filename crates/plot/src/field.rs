//! A field of distances over a map: heat, isochrones, start, goal and path.

use crate::{
    contour::{Point, Surface, clearest, isoline},
    export::{Figure, paper, sheet},
    lettering, palette, scale,
};
use std::fmt::Write as _;
use svg::node::element::{Circle, Definitions, Group, Line, Path, Pattern, Polygon, Rectangle, Text};

const MARGIN: f64 = 16.0;
const TITLE_HEIGHT: f64 = 30.0;
const LEGEND_WIDTH: f64 = 92.0;
/// The longer side of the map, before rounding cells to whole units.
const MAP_SIDE: f64 = 720.0;
/// Colors that are told apart; runs of one color are drawn as one rectangle.
const N_SHADES: f64 = 64.0;
/// The legend needs this much height, however flat the map.
const MIN_HEIGHT: f64 = 236.0;
/// Ticks closer than this would touch.
const MIN_TICK_DISTANCE: f64 = 13.0;
/// About so many isochrones; the interval between them is round.
const N_ISOCHRONES: usize = 14;
/// On smaller cells, arrowheads would hide the field.
const MIN_ARROW_CELL: f64 = 5.0;

/// A mark on a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Glyph {
    /// A one-way cell; the direction as `(rows, columns)`.
    Arrow(isize, isize),
    /// A labelled passage, such as a teleporter.
    Label(char),
}

/// A rectangular map with a distance, in steps, on each open cell.
///
/// Cells are `(row, column)` from the top left.
#[derive(Debug, Clone)]
pub struct FieldMap {
    rows: usize,
    columns: usize,
    title: String,
    legend: String,
    /// `None` is a wall, infinity cannot reach the goal.
    steps: Vec<Option<f64>>,
    /// Whether the field is continuous to the right and down.
    joined_right: Vec<bool>,
    joined_down: Vec<bool>,
    glyphs: Vec<((usize, usize), Glyph)>,
    goals: Vec<(usize, usize)>,
    path: Vec<(usize, usize)>,
}

impl FieldMap {
    /// A map of walls. `legend` names the quantity and its unit.
    pub fn new(rows: usize, columns: usize, title: impl Into<String>, legend: impl Into<String>) -> Self {
        Self {
            rows,
            columns,
            title: title.into(),
            legend: legend.into(),
            steps: vec![None; rows * columns],
            joined_right: vec![false; rows * columns],
            joined_down: vec![false; rows * columns],
            glyphs: Vec::new(),
            goals: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Opens a cell and sets its distance; infinity marks cells that cannot reach the goal.
    pub fn set_steps(&mut self, (row, column): (usize, usize), steps: f64) {
        self.steps[row * self.columns + column] = Some(steps);
    }

    /// Declares that one can move freely between a cell and its right or lower neighbour, so that isochrones
    /// may cross the edge between them.
    pub fn join(&mut self, a: (usize, usize), b: (usize, usize)) {
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        let index = first.0 * self.columns + first.1;
        if second == (first.0, first.1 + 1) {
            self.joined_right[index] = true;
        } else if second == (first.0 + 1, first.1) {
            self.joined_down[index] = true;
        }
    }

    /// Draws a mark on a cell.
    pub fn add_glyph(&mut self, cell: (usize, usize), glyph: Glyph) {
        self.glyphs.push((cell, glyph));
    }

    /// Stars a goal.
    pub fn add_goal(&mut self, cell: (usize, usize)) {
        self.goals.push(cell);
    }

    /// Draws a path from its first cell, the start. Jumps between cells that do not touch are dashed.
    pub fn set_path(&mut self, path: Vec<(usize, usize)>) {
        self.path = path;
    }

    /// Draws the map.
    pub fn draw(&self) -> Figure {
        let canvas = Canvas::new(self);
        let mut document = sheet(canvas.width, canvas.height).add(hatch_pattern()).add(paper()).add(text(
            &self.title,
            (MARGIN, MARGIN + 13.0),
            15.0,
            "start",
        ));
        document = document.add(canvas.heat()).add(canvas.isochrones()).add(canvas.glyphs());
        document = document.add(canvas.path()).add(canvas.goals()).add(canvas.legend());
        Figure::new(&document)
    }

    fn farthest_steps(&self) -> f64 {
        self.steps.iter().flatten().copied().filter(|steps| steps.is_finite()).fold(0.0, f64::max)
    }
}

impl Surface for FieldMap {
    fn value(&self, row: isize, column: isize) -> Option<f64> {
        let inside = (0..self.rows as isize).contains(&row) && (0..self.columns as isize).contains(&column);
        let index = row * self.columns as isize + column;
        if inside { self.steps[index as usize].filter(|steps| steps.is_finite()) } else { None }
    }

    fn is_joined(&self, a: (isize, isize), b: (isize, isize)) -> bool {
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        if self.value(first.0, first.1).is_none() || self.value(second.0, second.1).is_none() {
            return false;
        }
        let index = first.0 as usize * self.columns + first.1 as usize;
        if first.0 == second.0 { self.joined_right[index] } else { self.joined_down[index] }
    }
}

/// A map and where it goes on the page.
struct Canvas<'a> {
    map: &'a FieldMap,
    /// Side of a cell.
    cell: f64,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    farthest: f64,
    interval: f64,
}

impl<'a> Canvas<'a> {
    fn new(map: &'a FieldMap) -> Self {
        let cell = (MAP_SIDE / map.rows.max(map.columns) as f64).clamp(0.5, 44.0);
        let cell = if cell > 2.0 { cell.floor() } else { cell };
        let (left, top) = (MARGIN, MARGIN + TITLE_HEIGHT);
        let title_width = 8.6 * map.title.chars().count() as f64 + 2.0 * MARGIN;
        let map_width = left + cell * map.columns as f64 + LEGEND_WIDTH + MARGIN;
        let farthest = map.farthest_steps();
        Self {
            map,
            cell,
            left,
            top,
            width: map_width.max(title_width).ceil(),
            height: (top + (cell * map.rows as f64).max(MIN_HEIGHT) + MARGIN).ceil(),
            farthest,
            interval: scale::round_interval(farthest, N_ISOCHRONES, 1.0),
        }
    }

    /// From cells to the page.
    fn place(&self, (x, y): Point) -> Point {
        (self.left + self.cell * x, self.top + self.cell * y)
    }

    fn centre(&self, (row, column): (usize, usize)) -> Point {
        self.place((column as f64 + 0.5, row as f64 + 0.5))
    }

    /// 0 at the goal, 1 at the farthest cell.
    fn far(&self, steps: f64) -> f64 {
        if self.farthest > 0.0 { steps / self.farthest } else { 0.0 }
    }

    fn fill(&self, steps: Option<f64>) -> String {
        match steps {
            None => palette::WALL.to_owned(),
            Some(steps) if steps.is_infinite() => "url(#unreachable)".to_owned(),
            Some(steps) => palette::near_to_far((self.far(steps) * N_SHADES).round() / N_SHADES),
        }
    }

    fn heat(&self) -> Group {
        // Crisp edges: neighbouring rectangles must not show a seam.
        let mut group = Group::new().set("shape-rendering", "crispEdges");
        for row in 0..self.map.rows {
            let cells = &self.map.steps[row * self.map.columns..][..self.map.columns];
            let fills: Vec<String> = cells.iter().map(|&steps| self.fill(steps)).collect();
            let mut column = 0;
            for run in fills.chunk_by(|a, b| a == b) {
                let (x, y) = self.place((column as f64, row as f64));
                let width = self.cell * run.len() as f64;
                group = group.add(rectangle(x, y, width, self.cell).set("fill", run[0].as_str()));
                column += run.len();
            }
        }
        group
    }

    fn isochrones(&self) -> Group {
        let mut group = Group::new().set("fill", "none").set("stroke-linecap", "round");
        let mut labels: Vec<Point> = self.map.goals.iter().map(|&goal| self.centre(goal)).collect();
        labels.extend(self.map.path.iter().map(|&cell| self.centre(cell)));
        let mut texts = Group::new().set("font-size", 11);
        for level in scale::multiples(self.interval, self.farthest) {
            let segments = isoline(self.map, self.map.rows, self.map.columns, level);
            let mut data = String::new();
            for &(a, b) in &segments {
                let (a, b) = (self.place(a), self.place(b));
                let _ = write!(data, "M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1);
            }
            let ink = palette::ink_on(self.far(level));
            let width = if self.cell > 8.0 { 1.6 } else { 1.0 };
            group = group.add(Path::new().set("d", data).set("stroke", ink).set("stroke-width", width));
            if let Some(at) = self.label_place(&segments, &labels) {
                labels.push(at);
                let at = self.keep_inside(at);
                texts = texts.add(haloed(&scale::label(level), at, self.far(level)));
            }
        }
        group.add(texts)
    }

    /// The point of a line that is farthest from everything labelled so far, if there is room at all.
    fn label_place(&self, segments: &[(Point, Point)], labels: &[Point]) -> Option<Point> {
        let midpoints = segments.iter().map(|(a, b)| self.place(((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)));
        // On dense maps a sample of the line is enough.
        clearest(midpoints.step_by(1 + segments.len() / 400), labels, 24.0)
    }

    /// Transitions the centre of a label so that the label stays on the map.
    fn keep_inside(&self, (x, y): Point) -> Point {
        let (right, bottom) = self.place((self.map.columns as f64, self.map.rows as f64));
        let within =
            |value: f64, low: f64, high: f64| if low < high { value.clamp(low, high) } else { value };
        (within(x, self.left + 16.0, right - 16.0), within(y, self.top + 8.0, bottom - 8.0))
    }

    fn glyphs(&self) -> Group {
        let mut group = Group::new();
        for &(cell, glyph) in &self.map.glyphs {
            let (x, y) = self.centre(cell);
            let steps = self.map.steps[cell.0 * self.map.columns + cell.1].unwrap_or(0.0);
            let ink = if steps.is_finite() { palette::ink_on(self.far(steps)) } else { palette::INK };
            group = match glyph {
                Glyph::Arrow(rows, columns) => {
                    let points = arrow_head((x, y), (columns as f64, rows as f64), 0.32 * self.cell);
                    group.add(Polygon::new().set("points", points).set("fill", ink))
                }
                Glyph::Label(label) => {
                    let size = 0.62 * self.cell;
                    let circle = Circle::new().set("cx", x).set("cy", y).set("r", 0.42 * self.cell);
                    group
                        .add(circle.set("fill", "none").set("stroke", ink).set("stroke-width", 1.5))
                        .add(text(&label.to_string(), (x, y + 0.36 * size), size, "middle").set("fill", ink))
                }
            };
        }
        group
    }

    fn path(&self) -> Group {
        let mut group = Group::new().set("stroke-linecap", "round").set("fill", "none");
        let Some(&start) = self.map.path.first() else { return group };
        let is_step = |a: (usize, usize), b: (usize, usize)| a.0.abs_diff(b.0) + a.1.abs_diff(b.1) <= 1;
        // A dark casing below a light line reads on every background.
        let width = (0.14 * self.cell).clamp(0.8, 4.0);
        let casing = (0.4 * self.cell).clamp(0.8, 2.0);
        for (ink, width) in [(palette::INK, width + casing), (palette::PAPER, width)] {
            for pair in self.map.path.windows(2) {
                let ((x1, y1), (x2, y2)) = (self.centre(pair[0]), self.centre(pair[1]));
                let mut line = Line::new().set("x1", x1).set("y1", y1).set("x2", x2).set("y2", y2);
                if !is_step(pair[0], pair[1]) {
                    line = line.set("stroke-dasharray", "2 7");
                }
                group = group.add(line.set("stroke", ink).set("stroke-width", width));
            }
        }
        let every = 4.max(self.map.path.len() / 24);
        for pair in self.map.path.windows(2).skip(every / 2).step_by(every) {
            if is_step(pair[0], pair[1]) && self.cell >= MIN_ARROW_CELL {
                let (a, b) = (self.centre(pair[0]), self.centre(pair[1]));
                let middle = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
                let points = arrow_head(middle, (b.0 - a.0, b.1 - a.1), 2.2 * width + 1.0);
                let head = Polygon::new().set("points", points).set("fill", palette::PAPER);
                group = group.add(head.set("stroke", palette::INK).set("stroke-width", 1));
            }
        }
        let (x, y) = self.centre(start);
        let dot = Circle::new().set("cx", x).set("cy", y).set("r", (0.28 * self.cell).clamp(3.5, 9.0));
        group.add(dot.set("fill", palette::PAPER).set("stroke", palette::INK).set("stroke-width", 2))
    }

    fn goals(&self) -> Group {
        let mut group = Group::new();
        for &goal in &self.map.goals {
            let points = star(self.centre(goal), (0.46 * self.cell).clamp(8.0, 15.0));
            let shape = Polygon::new().set("points", points).set("fill", "#d62828");
            group = group.add(shape.set("stroke", palette::PAPER).set("stroke-width", 1.2));
        }
        group
    }

    fn legend(&self) -> Group {
        let left = self.left + self.cell * self.map.columns as f64 + 22.0;
        let top = self.top + 4.0;
        let has_unreachable = self.map.steps.iter().flatten().any(|steps| steps.is_infinite());
        let bottom = self.height - MARGIN - if has_unreachable { 34.0 } else { 4.0 };
        let height = bottom - top;
        let mut group = Group::new();
        for k in 0..N_SHADES as usize {
            let fill = palette::near_to_far((k as f64 + 0.5) / N_SHADES);
            let y = top + height * k as f64 / N_SHADES;
            group = group.add(rectangle(left, y, 14.0, height / N_SHADES + 0.5).set("fill", fill));
        }
        let tick_distance = height * self.far(self.interval);
        let every = (MIN_TICK_DISTANCE / tick_distance.max(0.1)).ceil().max(1.0) as usize;
        for level in std::iter::once(0.0).chain(scale::multiples(self.interval, self.farthest)).step_by(every)
        {
            let y = top + height * self.far(level);
            let tick = Line::new().set("x1", left + 14.0).set("x2", left + 18.0).set("y1", y).set("y2", y);
            group = group.add(tick.set("stroke", palette::INK));
            group = group.add(text(&scale::label(level), (left + 21.0, y + 4.0), 11.0, "start"));
        }
        let (x, y) = (left + 62.0, top + height / 2.0);
        let name = text(&self.map.legend, (x, y), 12.0, "middle");
        group = group.add(name.set("transform", format!("rotate(90 {x:.1} {y:.1})")));
        if has_unreachable {
            let patch = rectangle(left, bottom + 14.0, 14.0, 14.0).set("fill", "url(#unreachable)");
            group = group.add(patch.set("stroke", palette::HATCH)).add(text(
                "no way",
                (left + 20.0, bottom + 25.0),
                11.0,
                "start",
            ));
        }
        group
    }
}

fn hatch_pattern() -> Definitions {
    let stroke = Path::new().set("d", "M0 6L6 0M-1 1L1 -1M5 7L7 5").set("stroke", palette::HATCH);
    let pattern = Pattern::new()
        .set("id", "unreachable")
        .set("width", 6)
        .set("height", 6)
        .set("patternUnits", "userSpaceOnUse")
        .add(Rectangle::new().set("width", 6).set("height", 6).set("fill", palette::UNREACHABLE))
        .add(stroke);
    Definitions::new().add(pattern)
}

pub(super) fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Rectangle {
    Rectangle::new()
        .set("x", round(x))
        .set("y", round(y))
        .set("width", round(width))
        .set("height", round(height))
}

pub(super) fn text(content: &str, (x, y): Point, size: f64, anchor: &'static str) -> Text {
    Text::new(content)
        .set("x", round(x))
        .set("y", round(y))
        .set("font-size", round(size))
        .set("text-anchor", anchor)
        .set("fill", palette::INK)
}

/// A line of text at the head of a page, shortened to its width.
pub(super) fn heading(content: &str, page_width: f64, y: f64, size: f64) -> Text {
    text(&lettering::shortened(content, page_width - 2.0 * MARGIN, size), (MARGIN, y), size, "start")
}

/// A label that can be read on top of a line: the line is painted over first.
fn haloed(content: &str, (x, y): Point, far: f64) -> Group {
    let width = 7.4 * content.chars().count() as f64 + 4.0;
    let ground =
        rectangle(x - width / 2.0, y - 7.0, width, 14.0).set("rx", 3).set("fill", palette::near_to_far(far));
    let label = text(content, (x, y + 4.0), 11.0, "middle").set("fill", palette::ink_on(far));
    Group::new().add(ground).add(label)
}

pub(super) fn arrow_head((x, y): Point, (dx, dy): Point, size: f64) -> String {
    let length = dx.hypot(dy).max(1e-12);
    let (ux, uy) = (dx / length * size, dy / length * size);
    let corners = [
        (x + ux, y + uy),
        (x - ux - uy, y - uy + ux),
        (x - 0.5 * ux, y - 0.5 * uy),
        (x - ux + uy, y - uy - ux),
    ];
    points(&corners)
}

pub(super) fn star((x, y): Point, radius: f64) -> String {
    let corner = |k: usize| {
        let angle = std::f64::consts::PI * (k as f64 / 5.0 - 0.5);
        let r = if k.is_multiple_of(2) { radius } else { 0.42 * radius };
        (x + r * angle.cos(), y + r * angle.sin())
    };
    points(&(0..10).map(corner).collect::<Vec<_>>())
}

fn points(corners: &[Point]) -> String {
    corners.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

/// Two decimals: enough for a picture, and files that do not change with the last bit.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
