//! Planning methods.

/// The method by which a path is searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlanMethod {
    /// Among the transitions that start within a radius of the current state, always takes the one
    /// whose next state is nearest to the goal.
    Greedy {
        /// The radius, in the units of observations.
        radius: f64,
    },
    /// Finds the shortest path over dataset states, with edges between states that are at most
    /// `max_edge_steps` apart.
    Graph {
        /// The maximum edge length, in steps.
        max_edge_steps: f64,
    },
}
