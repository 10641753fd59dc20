//! Smooth curves through points, parameterized by arc length.

use crate::geometry::{Point, distance};

/// The number of straight pieces between two control points.
const PIECES: usize = 64;

/// A curve as a fine polyline.
#[derive(Debug, Clone)]
pub struct Curve {
    vertices: Vec<Point>,
    /// The arc length up to each vertex.
    lengths: Vec<f64>,
}

impl Curve {
    /// Returns the Catmull-Rom spline through two or more points: its direction at each point is
    /// that from the previous point to the next.
    pub fn through(points: &[Point]) -> Self {
        let at = |index: isize| points[index.clamp(0, points.len() as isize - 1) as usize];
        let mut vertices = vec![points[0]];
        for piece in 0..points.len() as isize - 1 {
            let [before, from, to, after] = [-1, 0, 1, 2].map(|offset| at(piece + offset));
            vertices.extend((1..=PIECES).map(|part| {
                let t = part as f64 / PIECES as f64;
                [0, 1].map(|axis| {
                    let (p0, p1, p2, p3) = (before[axis], from[axis], to[axis], after[axis]);
                    let (a, b) = (p2 - p0, 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3);
                    0.5 * (2.0 * p1 + t * (a + t * (b + t * (3.0 * (p1 - p2) + p3 - p0))))
                })
            }));
        }
        let mut lengths = vec![0.0];
        for pair in vertices.windows(2) {
            lengths.push(lengths[lengths.len() - 1] + distance(pair[0], pair[1]));
        }
        Self { vertices, lengths }
    }

    /// Returns the length of the curve.
    pub fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    /// Returns the point at an arc length, and the unit tangent there.
    pub fn at(&self, length: f64) -> (Point, Point) {
        let piece = self.lengths.partition_point(|&passed| passed <= length).clamp(1, self.lengths.len() - 1);
        let (from, to) = (self.vertices[piece - 1], self.vertices[piece]);
        let extent = self.lengths[piece] - self.lengths[piece - 1];
        let part = (length - self.lengths[piece - 1]) / extent;
        let point = [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]));
        (point, [0, 1].map(|axis| (to[axis] - from[axis]) / extent))
    }

    /// Returns the distance of a point from the curve, and the unit tangent at the nearest point.
    pub fn nearest(&self, point: Point) -> (f64, Point) {
        let mut nearest = (f64::INFINITY, [0.0; 2]);
        for (piece, lengths) in self.vertices.windows(2).zip(self.lengths.windows(2)) {
            let extent = lengths[1] - lengths[0];
            let direction = [0, 1].map(|axis| (piece[1][axis] - piece[0][axis]) / extent);
            let along: f64 = (0..2).map(|axis| (point[axis] - piece[0][axis]) * direction[axis]).sum();
            let along = along.clamp(0.0, extent);
            let foot = [0, 1].map(|axis| piece[0][axis] + along * direction[axis]);
            if distance(point, foot) < nearest.0 {
                nearest = (distance(point, foot), direction);
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_curve_is_straight() {
        let curve = Curve::through(&[[-20.0, 0.0], [20.0, 0.0]]);
        assert!((curve.length() - 40.0).abs() < 1e-9);
        let (point, direction) = curve.at(30.0);
        assert!(distance(point, [10.0, 0.0]) < 1e-9 && distance(direction, [1.0, 0.0]) < 1e-9);
    }

    #[test]
    fn a_curve_passes_through_its_points_and_is_smooth() {
        let points = [[0.0, -20.0], [-30.0, -20.0], [-30.0, 20.0], [0.0, 20.0]];
        let curve = Curve::through(&points);
        for wanted in points {
            let nearest =
                (0..=10_000).map(|k| distance(curve.at(f64::from(k) * curve.length() / 1e4).0, wanted));
            assert!(nearest.fold(f64::INFINITY, f64::min) < 0.02);
        }
        let directions: Vec<Point> =
            (0..1000).map(|k| curve.at(f64::from(k) * curve.length() / 1e3).1).collect();
        assert!(directions.windows(2).all(|pair| distance(pair[0], pair[1]) < 0.1));
    }
}
