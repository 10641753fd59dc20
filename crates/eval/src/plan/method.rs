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
    /// Finds the shortest path over dataset states, with edges between all of them. Up to
    /// `edge_scale_steps`, an edge costs its length; beyond, far more, so that a path always
    /// exists. Policies pursue a path that is planned once.
    SoftGraph {
        /// The edge length up to which the distance is accurate, in steps.
        edge_scale_steps: f64,
    },
    /// Finds the shortest path over dataset states, with edges between states that are at most
    /// `max_edge_steps` apart. Policies get the first waypoint of a path that is planned at every
    /// step.
    Graph {
        /// The maximum edge length, in steps.
        max_edge_steps: f64,
    },
}
