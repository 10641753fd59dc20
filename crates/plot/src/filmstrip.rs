//! A moving body as a series of frames.

use crate::{
    contour::Point,
    export::{Figure, titled},
    palette,
    shapes::{dot, line, rectangle, text},
};
use svg::node::element::{ClipPath, Definitions, Group};

const FRAME_SIDE: f64 = 150.0;
const GAP: f64 = 8.0;
const TOP: f64 = 56.0;
const LABEL: f64 = 18.0;
const COLUMNS: usize = 6;
/// Pixels per meter.
const SCALE: f64 = 60.0;
/// The angles of the camera around the vertical axis and above the horizon, in radians.
const TURN: f64 = 0.6;
const TILT: f64 = 0.55;
/// The distance between lines on the floor, in meters.
const FLOOR_LINES: f64 = 0.5;

/// Frames of one body, in order of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filmstrip {
    /// The title.
    pub title: String,
    /// How to read the figure.
    pub note: String,
    /// The frames, from first to last.
    pub frames: Vec<Frame>,
}

/// A body at one time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// The label, such as the time.
    pub label: String,
    /// The point on the floor at the center of the frame, in meters.
    pub center: [f64; 2],
    /// The parts of the body.
    pub limbs: Vec<Limb>,
}

/// A capsule, in meters; a ball if both ends are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limb {
    /// One end.
    pub from: [f64; 3],
    /// The other end.
    pub to: [f64; 3],
    /// The radius.
    pub radius: f64,
}

impl Filmstrip {
    /// Draws the frames, six in a row.
    pub fn draw(&self) -> Figure {
        let columns = self.frames.len().clamp(1, COLUMNS);
        let rows = self.frames.len().div_ceil(COLUMNS).max(1);
        let pitch = FRAME_SIDE + GAP;
        let width = (2.0 * GAP + columns as f64 * pitch).max(360.0).ceil();
        let height = (TOP + rows as f64 * (pitch + LABEL) + GAP).ceil();
        let mut document = titled(width, height, &self.title, &self.note);
        for (number, frame) in self.frames.iter().enumerate() {
            let left = GAP + pitch * (number % COLUMNS) as f64;
            let top = TOP + (pitch + LABEL) * (number / COLUMNS) as f64;
            let window = rectangle(left, top, FRAME_SIDE, FRAME_SIDE);
            let name = format!("frame-{number}");
            let clip = ClipPath::new().set("id", name.as_str()).add(window.clone());
            document = document
                .add(Definitions::new().add(clip))
                .add(window.set("fill", palette::WALL))
                .add(frame.draw(left, top).set("clip-path", format!("url(#{name})")))
                .add(text(&frame.label, (left + FRAME_SIDE / 2.0, top + FRAME_SIDE + 13.0), 11.0, "middle"));
        }
        Figure::new(&document)
    }
}

impl Frame {
    /// Projects a point relative to the center of the frame; returns its position and its depth.
    fn project(&self, [x, y, z]: [f64; 3]) -> (Point, f64) {
        let (x, y) = (x - self.center[0], y - self.center[1]);
        let (sin, cos) = TURN.sin_cos();
        let (right, away) = (cos * x + sin * y, cos * y - sin * x);
        let (lift, flat) = (TILT.cos(), TILT.sin());
        ((SCALE * right, -SCALE * (flat * away + lift * z)), lift * away - flat * z)
    }

    fn draw(&self, left: f64, top: f64) -> Group {
        let (middle_x, middle_y) = (left + FRAME_SIDE / 2.0, top + 0.62 * FRAME_SIDE);
        let on_page = |point: [f64; 3]| {
            let ((x, y), _) = self.project(point);
            (middle_x + x, middle_y + y)
        };
        let mut group = Group::new().set("stroke-linecap", "round");
        // Lines on the floor show motion, because the camera follows the body.
        let reach = 3.0;
        for axis in 0..2 {
            let first = ((self.center[axis] - reach) / FLOOR_LINES).ceil() as i64;
            let lines = (first..).map(|k| k as f64 * FLOOR_LINES);
            for at in lines.take_while(|at| *at <= self.center[axis] + reach) {
                let ends = [-reach, reach].map(|along| {
                    let mut point = [self.center[0] + along, self.center[1] + along, 0.0];
                    point[axis] = at;
                    on_page(point)
                });
                group = group.add(line(ends[0], ends[1], palette::PAPER).set("stroke-width", 1.2));
            }
        }
        for limb in &self.limbs {
            let ends = [limb.from, limb.to].map(|[x, y, _]| on_page([x, y, 0.0]));
            let shadow = line(ends[0], ends[1], palette::HATCH).set("stroke-opacity", 0.35);
            group = group.add(shadow.set("stroke-width", 2.0 * SCALE * limb.radius));
        }
        let mut limbs: Vec<&Limb> = self.limbs.iter().collect();
        let depth = |limb: &Limb| self.project(limb.from).1 + self.project(limb.to).1;
        limbs.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
        for limb in limbs {
            let (from, to) = (on_page(limb.from), on_page(limb.to));
            let width = 2.0 * SCALE * limb.radius;
            if limb.from == limb.to {
                let ball = dot(from, width / 2.0).set("fill", palette::LINES[1]);
                group = group.add(ball.set("stroke", palette::INK));
            } else {
                group = group
                    .add(line(from, to, palette::INK).set("stroke-width", width + 1.6))
                    .add(line(from, to, palette::LINES[4]).set("stroke-width", width));
            }
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_drawn_in_rows_of_six() {
        let limb = Limb { from: [0.0, 0.0, 0.5], to: [0.5, 0.0, 0.0], radius: 0.08 };
        let frame = Frame { label: "0.5 s".into(), center: [0.0; 2], limbs: vec![limb] };
        let film = Filmstrip { title: "a walk".into(), note: String::new(), frames: vec![frame; 7] };
        let svg = film.draw().svg().to_owned();
        assert!(svg.contains("a walk") && svg.contains("frame-6"));
        assert!(film.draw().png().is_ok());
        assert!(Filmstrip::default().draw().png().is_ok());
    }
}
