//! Points in the plane, and shapes that plots draw.

/// A point in the plane.
pub type Point = [f64; 2];

/// An axis-aligned rectangle: the corners with the smallest and with the largest coordinates.
pub type Rectangle = [Point; 2];

/// A cylinder with hemispherical ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capsule {
    /// The center of one end.
    pub from: [f64; 3],
    /// The center of the other end.
    pub to: [f64; 3],
    /// The radius of the cylinder and its ends.
    pub radius: f64,
}

/// Returns the Euclidean distance between two points.
pub fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}
