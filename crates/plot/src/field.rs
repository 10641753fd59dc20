//! A map of distances over cells: colors, isochrones, start, goal and path.

use crate::{
    contour::{Point, Surface},
    export::{Figure, MARGIN, paper, sheet},
    palette,
    raster::Raster,
    scale,
    shapes::{arrow_head, dot, line, rectangle, star, start, step_head, text},
};
use svg::node::element::{Definitions, Group, Path, Pattern, Rectangle};

const TITLE_HEIGHT: f64 = 30.0;
const LEGEND_WIDTH: f64 = 92.0;
/// The longer side of the map, before cells are rounded to integer sizes.
const MAP_SIDE: f64 = 720.0;
/// The number of different colors; runs of one color are drawn as one rectangle.
const N_SHADES: f64 = 64.0;
/// The height of the legend, however flat the map.
const MIN_HEIGHT: f64 = 236.0;
/// Ticks closer than this would touch.
const MIN_TICK_DISTANCE: f64 = 13.0;
/// The approximate number of isochrones; the interval between them is a round number.
const N_ISOCHRONES: usize = 14;
/// On smaller cells, arrowheads would hide the field.
const MIN_ARROW_CELL: f64 = 5.0;

/// A mark on a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Glyph {
    /// A one-way cell, with its direction as `(rows, columns)`.
    Arrow(isize, isize),
    /// A labeled cell, such as a teleporter.
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
    /// `None` for walls, infinity for cells that cannot reach the goal.
    steps: Vec<Option<f64>>,
    /// Whether the field is continuous to the right and downward.
    joined: Vec<[bool; 2]>,
    /// Marks on cells.
    pub glyphs: Vec<((usize, usize), Glyph)>,
    /// Goal cells, drawn as stars.
    pub goals: Vec<(usize, usize)>,
    /// A path, beginning at the start. Jumps between cells that do not touch are dashed.
    pub path: Vec<(usize, usize)>,
}

impl FieldMap {
    /// Creates a map on which every cell is a wall. `legend` names the quantity and its unit.
    pub fn new(rows: usize, columns: usize, title: impl Into<String>, legend: impl Into<String>) -> Self {
        Self {
            rows,
            columns,
            title: title.into(),
            legend: legend.into(),
            steps: vec![None; rows * columns],
            joined: vec![[false; 2]; rows * columns],
            glyphs: Vec::new(),
            goals: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Opens a cell and sets its distance; infinity marks cells that cannot reach the goal.
    pub fn set_steps(&mut self, (row, column): (usize, usize), steps: f64) {
        self.steps[row * self.columns + column] = Some(steps);
    }

    /// Declares that a cell and its right or lower neighbor are connected, so that isochrones may
    /// cross the edge between them.
    pub fn join(&mut self, a: (usize, usize), b: (usize, usize)) {
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        let index = first.0 * self.columns + first.1;
        if second == (first.0, first.1 + 1) {
            self.joined[index][0] = true;
        } else if second == (first.0 + 1, first.1) {
            self.joined[index][1] = true;
        }
    }

    /// Draws the map.
    pub fn draw(&self) -> Figure {
        let canvas = Canvas::new(self);
        let title = text(&self.title, (MARGIN, MARGIN + 13.0), 15.0, "start");
        let document = sheet(canvas.width, canvas.height).add(hatch_pattern()).add(paper()).add(title);
        let document = document.add(canvas.heat()).add(canvas.isochrones()).add(canvas.glyphs());
        Figure::new(&document.add(canvas.path()).add(canvas.goals()).add(canvas.legend()))
    }
}

impl Surface for FieldMap {
    fn size(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    fn cell(&self, index: usize) -> Option<f64> {
        self.steps[index]
    }

    fn is_open(&self, first: (isize, isize), second: (isize, isize)) -> bool {
        let is_below = first.0 != second.0;
        self.joined[first.0 as usize * self.columns + first.1 as usize][usize::from(is_below)]
    }
}

/// A map and its position in the figure.
struct Canvas<'a> {
    map: &'a FieldMap,
    /// The side of a cell.
    cell: f64,
    raster: Raster,
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
        let finite = map.steps.iter().flatten().copied().filter(|steps| steps.is_finite());
        let farthest = finite.fold(0.0, f64::max);
        Self {
            map,
            cell,
            raster: Raster { origin: (left, top), cell: (cell, cell) },
            width: map_width.max(title_width).ceil(),
            height: (top + (cell * map.rows as f64).max(MIN_HEIGHT) + MARGIN).ceil(),
            farthest,
            interval: scale::round_interval(farthest, N_ISOCHRONES, 1.0),
        }
    }

    fn center(&self, (row, column): (usize, usize)) -> Point {
        self.raster.place((column as f64 + 0.5, row as f64 + 0.5))
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
        let rows = self.map.steps.chunks(self.map.columns.max(1));
        let fills = rows.map(|cells| cells.iter().map(|&steps| Some(self.fill(steps))).collect::<Vec<_>>());
        self.raster.heat(fills, 0.0)
    }

    fn isochrones(&self) -> Group {
        let mut group = Group::new().set("fill", "none").set("stroke-linecap", "round");
        let mut labels: Vec<Point> = self.map.goals.iter().map(|&goal| self.center(goal)).collect();
        labels.extend(self.map.path.iter().map(|&cell| self.center(cell)));
        let mut texts = Group::new().set("font-size", 11);
        for level in scale::multiples(self.interval, self.farthest) {
            let (path, label) = self.raster.isochrone(self.map, level, &labels, 24.0, 400);
            let ink = palette::ink_on(self.far(level));
            let width = if self.cell > 8.0 { 1.6 } else { 1.0 };
            group = group.add(path.set("stroke", ink).set("stroke-width", width));
            if let Some(at) = label {
                labels.push(at);
                let at = self.keep_inside(at);
                texts = texts.add(haloed(&scale::label(level), at, self.far(level)));
            }
        }
        group.add(texts)
    }

    /// Moves the center of a label so that the label stays on the map.
    fn keep_inside(&self, (x, y): Point) -> Point {
        let (left, top) = self.raster.origin;
        let (right, bottom) = self.raster.place((self.map.columns as f64, self.map.rows as f64));
        let within =
            |value: f64, low: f64, high: f64| if low < high { value.clamp(low, high) } else { value };
        (within(x, left + 16.0, right - 16.0), within(y, top + 8.0, bottom - 8.0))
    }

    fn glyphs(&self) -> Group {
        let mut group = Group::new();
        for &(cell, glyph) in &self.map.glyphs {
            let (x, y) = self.center(cell);
            let steps = self.map.steps[cell.0 * self.map.columns + cell.1].unwrap_or(0.0);
            let ink = if steps.is_finite() { palette::ink_on(self.far(steps)) } else { palette::INK };
            group = match glyph {
                Glyph::Arrow(rows, columns) => {
                    group.add(arrow_head((x, y), (columns as f64, rows as f64), 0.32 * self.cell, ink))
                }
                Glyph::Label(label) => {
                    let size = 0.62 * self.cell;
                    let circle = dot((x, y), 0.42 * self.cell).set("fill", "none");
                    group
                        .add(circle.set("stroke", ink).set("stroke-width", 1.5))
                        .add(text(&label.to_string(), (x, y + 0.36 * size), size, "middle").set("fill", ink))
                }
            };
        }
        group
    }

    fn path(&self) -> Group {
        let mut group = Group::new().set("stroke-linecap", "round").set("fill", "none");
        let Some(&first) = self.map.path.first() else { return group };
        let is_step = |a: (usize, usize), b: (usize, usize)| a.0.abs_diff(b.0) + a.1.abs_diff(b.1) <= 1;
        // A dark casing below a light line is visible on every background.
        let width = (0.14 * self.cell).clamp(0.8, 4.0);
        let casing = (0.4 * self.cell).clamp(0.8, 2.0);
        for (ink, width) in [(palette::INK, width + casing), (palette::PAPER, width)] {
            for pair in self.map.path.windows(2) {
                let mut step = line(self.center(pair[0]), self.center(pair[1]), ink);
                if !is_step(pair[0], pair[1]) {
                    step = step.set("stroke-dasharray", "2 7");
                }
                group = group.add(step.set("stroke-width", width));
            }
        }
        let every = 4.max(self.map.path.len() / 24);
        for pair in self.map.path.windows(2).skip(every / 2).step_by(every) {
            if is_step(pair[0], pair[1]) && self.cell >= MIN_ARROW_CELL {
                let (from, to) = (self.center(pair[0]), self.center(pair[1]));
                group = group.add(step_head(from, to, 2.2 * width + 1.0));
            }
        }
        group.add(start(self.center(first), (0.28 * self.cell).clamp(3.5, 9.0)))
    }

    fn goals(&self) -> Group {
        let radius = (0.46 * self.cell).clamp(8.0, 15.0);
        self.map.goals.iter().map(|&goal| star(self.center(goal), radius)).fold(Group::new(), Group::add)
    }

    fn legend(&self) -> Group {
        let (right, top) = self.raster.place((self.map.columns as f64, 0.0));
        let (left, top) = (right + 22.0, top + 4.0);
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
        let levels = std::iter::once(0.0).chain(scale::multiples(self.interval, self.farthest));
        for level in levels.step_by(every) {
            let y = top + height * self.far(level);
            let number = text(&scale::label(level), (left + 21.0, y + 4.0), 11.0, "start");
            group = group.add(line((left + 14.0, y), (left + 18.0, y), palette::INK)).add(number);
        }
        let (x, y) = (left + 62.0, top + height / 2.0);
        let name = text(&self.map.legend, (x, y), 12.0, "middle");
        group = group.add(name.set("transform", format!("rotate(90 {x:.1} {y:.1})")));
        if has_unreachable {
            let patch = rectangle(left, bottom + 14.0, 14.0, 14.0).set("fill", "url(#unreachable)");
            let name = text("no path", (left + 20.0, bottom + 25.0), 11.0, "start");
            group = group.add(patch.set("stroke", palette::HATCH)).add(name);
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

/// A label with a background, so that the line below it does not cross the letters.
fn haloed(content: &str, (x, y): Point, far: f64) -> Group {
    let width = 7.4 * content.chars().count() as f64 + 4.0;
    let ground =
        rectangle(x - width / 2.0, y - 7.0, width, 14.0).set("rx", 3).set("fill", palette::near_to_far(far));
    let label = text(content, (x, y + 4.0), 11.0, "middle").set("fill", palette::ink_on(far));
    Group::new().add(ground).add(label)
}
