//! A state relative to the landmarks.

/// A projected state and the landmarks near it, nearest first.
pub(super) struct Place {
    pub projected: Vec<f32>,
    /// Indices of landmarks, and the hops to them in steps.
    pub near: Vec<(u32, f32)>,
}
