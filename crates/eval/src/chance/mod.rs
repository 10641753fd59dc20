//! Planning with chance: moves that one can choose, and jumps that happen.
//!
//! In a maze with teleporters, a shortest path over recorded transitions takes a jump for a move
//! that an agent can choose, and gambles: with three exits of which one is a trap, it succeeds with
//! probability `p = 1/3 + p/3`, which is 50 %. So does a discounted value, even with the true
//! model. This module counts what jumps lead to, and decides with an explicit price of failing:
//!
//! ```text
//! dataset -> Jumps        recurring jumps: entry regions, exits, counts
//!         -> landmarks    states that cover the data, closer at the border of an entry
//!         -> hazards      the probability of a jump per row
//!         -> Problem      recorded moves with hazards, untested moves at a price in time
//!         -> solve        the stochastic shortest path with a price of failing
//!          | Horizon      the probability of arriving within a number of steps
//!         -> StochasticPlanner
//! ```
//!
//! ```
//! use isochrone_data::Dataset;
//! use isochrone_eval::chance::{ChanceConfig, ChanceModel, Objective, StochasticPlanner};
//!
//! let line: Vec<f32> = (0..200).map(|step| 0.1 * step as f32).collect();
//! let data = Dataset::from_arrays(1, 0, [(line, Vec::new())])?;
//! let model = ChanceModel::fit(&data, &ChanceConfig::default())?;
//! assert_eq!(model.jumps().jumps, 0);
//! let planner = StochasticPlanner::new(model.into(), &data, Objective::PriceOfFailing(10_000.0))?;
//! let forecast = planner.forecasts(&[1.0], &[11.0])?.safe;
//! assert_eq!(forecast.success, 1.0);
//! assert!((forecast.steps - 100.0).abs() < 10.0, "{}", forecast.steps);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aim;
mod chord;
mod config;
mod error;
mod forecast;
mod hazard;
mod horizon;
mod jumps;
mod landmarks;
mod link;
mod model;
mod moves;
mod neighbors;
mod outcomes;
mod plan;
mod planner;
mod problem;
mod report;
mod solve;
mod untested;
mod watch;

pub use config::ChanceConfig;
pub use error::ChanceError;
pub use forecast::{Forecast, forecast, forecast_within};
pub use horizon::Horizon;
pub use model::ChanceModel;
pub use plan::Objective;
pub use planner::{Forecasts, StochasticPlanner, Waypoint};
pub use problem::{Move, Outcomes, Problem, Source};
pub use report::{EntryRegion, ExitPlace, JumpReport};
pub use solve::{Choice, Ends, Outlook, Solution, solve};
