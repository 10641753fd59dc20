//! Temporal distances and exact solvers for tabular Markov decision processes.
//!
//! This crate contains no learning, file access or tensors. [`exact`] solves tabular problems to
//! a certified error and is the ground truth for learned distances. The other crates implement and
//! evaluate [`TemporalDistance`], [`GoalPolicy`] and [`Environment`].
//!
//! ```
//! use isochrone_core::{Discount, exact::{ExactSolver, TabularMdp}};
//!
//! // 0 -> 1 -> 2, and 2 is absorbing.
//! let chain = TabularMdp::chain_from_edges(3, [(0, 1, 1.0), (1, 2, 1.0), (2, 2, 1.0)])?;
//! let solver = ExactSolver::new(&chain, Discount::new(0.9)?);
//! let to_goal = solver.to_goal(2)?;
//! assert!((to_goal.steps(0) - 2.0).abs() < 1e-12);
//! assert_eq!(solver.to_goal(0)?.steps(2), f64::INFINITY); // there is no path back
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod forward;

mod control;
mod discount;
mod distance;
mod environment;
pub mod exact;
mod instruction_set;
mod latent;
mod policy;
pub mod rng;
pub mod shape;
pub mod statistics;

#[doc(hidden)]
pub use control::is_control;
pub use discount::{Discount, DiscountError};
pub use distance::TemporalDistance;
pub use environment::{EnvFactory, Environment, StepResult};
#[doc(hidden)]
pub use instruction_set::arch as vector_arch;
pub use instruction_set::{InstructionSet, UnknownInstructionSet};
pub use latent::{LatentDistance, LatentMetric};
pub use policy::{EpisodePolicy, GoalPolicy};
pub use shape::ShapeError;
