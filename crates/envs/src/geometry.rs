//! Points of the plane, and shapes that plots draw.

/// A point of the plane.
pub type Point = [f64; 2];

/// A rectangle with sides along the axes: its smallest and its largest corner.
pub type Rectangle = [Point; 2];

/// A rod with round ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capsule {
    /// The center of one end.
    pub from: [f64; 3],
    /// The center of the other end.
    pub to: [f64; 3],
    /// Half of its thickness.
    pub radius: f64,
}

/// The Euclidean distance between two points.
pub fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}
