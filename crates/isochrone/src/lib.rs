//! **isochrone**: how far apart are two situations, *in time*?
//!
//! This crate is the front door: the library re-exported under one name, the readers of the files people have,
//! and the `isochrone` command.
//!
//! - [`exact`]: exact successor distances of tabular processes, with certified error bounds;
//! - [`envs`]: environments, and datasets that are collected in them;
//! - [`rollout`], [`plan`], [`run_statistics`]: attempts of policies, ways found with a distance, what several runs say together;
//! - [`plot`], [`page`]: heat maps with isochrones, ways, curves, ranked bars; pages of them;
//! - [`data`]: logs of behaviour in every format people have, checked, converted and sampled;
//! - `learn` (feature `learn`): seven algorithms that learn distances and policies from logs, their trainer, runs and models;
//! - `figures`, `reproduce` (feature `learn`): pictures of runs, and whole studies;
//! - `nn` (feature `learn`): the networks, quasimetrics and losses they are made of;
//! - [`input`]: text maps, MDP files and event logs.
//!
//! ```
//! use isochrone::{Discount, exact::{ExactSolver, GridWorld}};
//!
//! let world = GridWorld::parse("S..#\n.#.G\n....")?;
//! let process = world.to_mdp(0.1)?; // one move in ten slips sideways
//! let solver = ExactSolver::new(&process, Discount::new(0.99)?);
//! let to_goal = solver.to_goal(world.state(1, 3).unwrap())?;
//! let start = world.state(0, 0).unwrap();
//! println!("{:.2} steps, first move {:?}", to_goal.steps(start), to_goal.action(start));
//! assert!(to_goal.steps(start) > 4.0 && to_goal.certificate().relative_error() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use isochrone_core::{
    Discount, DiscountError, EnvFactory, Environment, GoalPolicy, ShapeError, StepResult, TemporalDistance,
    exact, rng, shape, statistics,
};
pub use isochrone_data::{self as data, tabular as input};
pub use isochrone_envs as envs;
pub use isochrone_eval::{self as eval, calibration, plan, rollout, round_trip, stats};
#[cfg(feature = "learn")]
pub use isochrone_learn as learn;
#[cfg(feature = "learn")]
pub use isochrone_nn as nn;
pub use isochrone_plot as plot;
