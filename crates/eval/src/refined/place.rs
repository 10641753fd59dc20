//! A state on the map.

/// A state and the landmarks near it, nearest first.
pub(super) struct Place {
    pub projected: Vec<f32>,
    /// Numbers of landmarks, and the hops to them.
    pub near: Vec<(u32, f32)>,
}
