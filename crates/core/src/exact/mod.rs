//! Exact successor distances on tabular Markov processes.
//!
//! For a goal `g`, a discount `gamma` and the hitting time `H(s -> g)`, the **successor distance**
//! is
//!
//! ```text
//! d(s, g) = -log max_pi E_pi[ gamma^H(s -> g) ]
//! ```
//!
//! (Myers et al., *Learning Temporal Distances: Contrastive Successor Features Can Provide a Metric
//! Structure for Decision-Making*, 2024). It is a quasimetric: it is non-negative, is zero only
//! from a state to itself, satisfies the triangle inequality, and is not symmetric. With `h(s) =
//! exp(-d(s, g))` it solves one Bellman recursion per goal,
//!
//! ```text
//! h(g) = 1,    h(s) = gamma * max_a sum_s' P(s'|s,a) h(s')    for s != g
//! ```
//!
//! [`ExactSolver`] selects a method by the structure of the problem and returns [`GoalDistances`]:
//! distances, the optimal goal-reaching policy, and a certified bound on their error.

mod batch;
mod bfs;
mod builder;
mod certificate;
mod control;
mod event_chain;
mod grid;
mod hitting;
mod horizon;
mod lu;
mod mdp;
mod method;
mod result;
mod reverse;
mod solver;

pub use builder::{MdpBuilder, MdpError, RowWriter};
pub use certificate::{Certificate, certify};
pub use event_chain::{Event, EventChain, EventChainError};
pub use grid::{Cell, Direction, GridWorld, MapError};
pub use hitting::{HittingStatistics, hitting_statistics};
pub use horizon::reach_within;
pub use mdp::{Row, Structure, TabularMdp};
pub use method::Method;
pub use result::{AllPairs, GoalDistances, path_to_goal};
pub use solver::{ExactSolver, SolveError};
