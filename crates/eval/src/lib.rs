//! Judging and showing distances and policies, whatever computed them.
//!
//! - [`rollout`]: attempts of a policy at the tasks of a world;
//! - [`plan`]: ways through seen states, found with a distance, and policies that follow them;
//! - [`calibration`]: distances in the steps that recordings took;
//! - [`reversible`]: distances there and back;
//! - [`statistics`]: what several runs say together, and how sure that is;
//! - [`plot`]: pictures of all that, [`page`]: and a page to read.
//!
//! Everything sees only the traits of `isochrone_core`, so exact solvers, networks and anything else are judged by the same code.

pub mod calibration;
pub mod page;
pub mod plan;
pub mod plot;
pub mod reversible;
pub mod rollout;
pub mod statistics;
