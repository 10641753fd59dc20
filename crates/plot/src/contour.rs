//! Isochrones of a field on cells.

/// A point in units of cells: `(column, row)`, the top left corner of the map at the origin.
pub(super) type Point = (f64, f64);

/// A value per cell, and the connections between neighboring cells.
pub(super) trait Surface {
    /// The rows and columns of the map.
    fn size(&self) -> (usize, usize);

    /// The value of a cell, counted row by row; `None` in walls.
    fn cell(&self, index: usize) -> Option<f64>;

    /// Whether two neighboring cells with values are connected; the upper or left cell is `first`.
    fn is_open(&self, _first: (isize, isize), _second: (isize, isize)) -> bool {
        true
    }

    /// The value of a cell; `None` outside the map, in walls, and for values that are not finite.
    fn value(&self, (row, column): (isize, isize)) -> Option<f64> {
        let (rows, columns) = self.size();
        let is_inside = (0..rows as isize).contains(&row) && (0..columns as isize).contains(&column);
        let value = is_inside.then(|| self.cell(row as usize * columns + column as usize));
        value.flatten().filter(|value| value.is_finite())
    }

    /// The value of `b` if it is connected to its neighbor `a`.
    fn value_if_joined(&self, a: (isize, isize), b: (isize, isize)) -> Option<f64> {
        self.value(a)?;
        self.value(b).filter(|_| self.is_open(a.min(b), a.max(b)))
    }
}

/// The line segments along which the surface has the value `level`.
///
/// Each cell is split into eight triangles between its center, corners and edge midpoints, with
/// values averaged over the cells that meet there *and* are connected around the point. Lines are
/// continuous across open floor, cross one-cell corridors and end at walls.
pub(super) fn isoline(surface: &impl Surface, level: f64) -> Vec<(Point, Point)> {
    let (rows, columns) = surface.size();
    let mut segments = Vec::new();
    for row in 0..rows as isize {
        for column in 0..columns as isize {
            if let Some(center) = surface.value((row, column)) {
                let rim = rim_values(surface, (row, column), center);
                let at = (column as f64 + 0.5, row as f64 + 0.5);
                for k in 0..8 {
                    let next = (k + 1) % 8;
                    let triangle =
                        [(at, center), (rim_point(at, k), rim[k]), (rim_point(at, next), rim[next])];
                    segments.extend(crossing(triangle, level));
                }
            }
        }
    }
    segments
}

/// The point farthest from all positions in `taken`, if it is farther than `least`: a free position
/// for a label.
pub(super) fn clearest(points: impl Iterator<Item = Point>, taken: &[Point], least: f64) -> Option<Point> {
    let clearance = |point: &Point| {
        taken.iter().map(|at| (point.0 - at.0).hypot(point.1 - at.1)).fold(f64::INFINITY, f64::min)
    };
    points.max_by(|a, b| clearance(a).total_cmp(&clearance(b))).filter(|best| clearance(best) > least)
}

/// Offsets `(row, column)` to the eight neighbors, clockwise from the one above.
const AROUND: [(isize, isize); 8] = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)];

fn rim_point((x, y): Point, k: usize) -> Point {
    (x + 0.5 * AROUND[k].1 as f64, y + 0.5 * AROUND[k].0 as f64)
}

/// Values at the edge midpoints (even) and corners (odd) of a cell.
fn rim_values(surface: &impl Surface, cell: (isize, isize), center: f64) -> [f64; 8] {
    let neighbor = |k: usize| (cell.0 + AROUND[k % 8].0, cell.1 + AROUND[k % 8].1);
    std::array::from_fn(|k| {
        if k % 2 == 0 {
            let value = surface.value_if_joined(cell, neighbor(k));
            return value.map_or(center, |value| 0.5 * (center + value));
        }
        // A corner belongs to up to four cells; the diagonal one counts if it is connected through
        // either side.
        let sides = [neighbor(k + 7), neighbor(k + 1)];
        let side_values = sides.map(|side| surface.value_if_joined(cell, side));
        let diagonal = neighbor(k);
        let mut open_sides = (0..2).filter(|&i| side_values[i].is_some());
        let diagonal_value = open_sides.find_map(|i| surface.value_if_joined(sides[i], diagonal));
        // The remaining side may be connected through the diagonal.
        let around = |i: usize| diagonal_value.and_then(|_| surface.value_if_joined(diagonal, sides[i]));
        let [one, other] = [0, 1].map(|i| side_values[i].or_else(|| around(i)));
        let known: Vec<f64> = [Some(center), one, other, diagonal_value].into_iter().flatten().collect();
        known.iter().sum::<f64>() / known.len() as f64
    })
}

/// The segment along which a level crosses a triangle with linear values.
fn crossing(triangle: [(Point, f64); 3], level: f64) -> Option<(Point, Point)> {
    let mut points = Vec::new();
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        let ((pa, va), (pb, vb)) = (triangle[a], triangle[b]);
        // The comparison is half-open, so that a level through a vertex is counted once.
        if (va < level) != (vb < level) {
            let t = (level - va) / (vb - va);
            points.push((pa.0 + t * (pb.0 - pa.0), pa.1 + t * (pb.1 - pa.1)));
        }
    }
    (points.len() == 2).then(|| (points[0], points[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane `value = column + 0.5`, with an optional wall between columns 1 and 2.
    struct Plane {
        is_split: bool,
    }

    impl Surface for Plane {
        fn size(&self) -> (usize, usize) {
            (3, 4)
        }
        fn cell(&self, index: usize) -> Option<f64> {
            Some((index % 4) as f64 + 0.5)
        }
        fn is_open(&self, first: (isize, isize), second: (isize, isize)) -> bool {
            !(self.is_split && (first.1, second.1) == (1, 2))
        }
    }

    #[test]
    fn a_plane_has_straight_isolines() {
        let segments = isoline(&Plane { is_split: false }, 1.75);
        assert!(!segments.is_empty());
        for (a, b) in &segments {
            assert!((a.0 - 1.75).abs() < 1e-12 && (b.0 - 1.75).abs() < 1e-12, "{a:?} {b:?}");
        }
        let length: f64 = segments.iter().map(|(a, b)| (a.1 - b.1).abs()).sum();
        assert!((length - 3.0).abs() < 1e-12, "once from top to bottom: {length}");
    }

    #[test]
    fn isolines_do_not_cross_walls() {
        // Values jump from 1.5 to 2.5 between the two halves, so that no cell has the level between them.
        assert!(isoline(&Plane { is_split: true }, 2.0).is_empty());
    }
}
