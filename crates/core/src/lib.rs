//! The ground floor of isochrone: what a distance in time *is*, and how to compute it exactly.
//!
//! Nothing here learns, touches files or knows about tensors. [`exact`] solves tabular problems to a certified
//! error, and everything that is learned elsewhere is judged against it.
//!
//! ```
//! use isochrone_core::{Discount, exact::{ExactSolver, TabularMdp}};
//!
//! // 0 -> 1 -> 2, and 2 stays where it is.
//! let chain = TabularMdp::chain_from_edges(3, [(0, 1, 1.0), (1, 2, 1.0), (2, 2, 1.0)])?;
//! let solver = ExactSolver::new(&chain, Discount::new(0.9)?);
//! let to_goal = solver.to_goal(2)?;
//! assert!((to_goal.steps(0) - 2.0).abs() < 1e-12);
//! assert_eq!(solver.to_goal(0)?.steps(2), f64::INFINITY); // there is no way back
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod discount;
mod environment;
pub mod exact;
mod judged;
pub mod rng;
pub mod statistics;

pub use discount::{Discount, DiscountError};
pub use environment::{Environment, Step};
pub use judged::{GoalPolicy, TemporalDistance};
