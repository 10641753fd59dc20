//! How plans are searched for.

/// How a path is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlanMethod {
    /// Among the transitions recorded within a ball around the current state, always takes the one whose next state is nearest to the goal.
    Greedy {
        /// Radius of the ball, in the units of observations.
        radius: f64,
    },
    /// The shortest path over recorded states, with edges between states that are at most `max_edge_steps` apart.
    Graph {
        /// The longest edge, in steps.
        max_edge_steps: f64,
    },
}
