//! Routes between two states.

/// The route from one state to another.
pub(super) enum Route {
    /// A single hop, in steps.
    Hop(f32),
    /// A path from one landmark to another.
    Along { first: u32, last: u32 },
    /// No path is known.
    None,
}
