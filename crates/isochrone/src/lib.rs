//! **isochrone** learns temporal distances - how many steps it takes to get from one state to
//! another - from offline trajectories, and uses them for planning and control. Where a problem is
//! tabular, it computes them exactly.
//!
//! ```
//! use isochrone::prelude::*;
//!
//! // Three episodes in memory, with observations and actions of width 2.
//! let walk = |slope: f32| (0..=50).flat_map(|step| [step as f32, slope * step as f32]).collect::<Vec<_>>();
//! let data = Dataset::from_arrays(2, 2, [0.5, 1.0, 2.0].map(|slope| (walk(slope), [1.0, slope].repeat(50))))?;
//!
//! let model = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(20).fit(&data)?;
//! let distance = model.distance()?;
//! println!("{:.1} steps", distance.steps(&[0.0, 0.0], &[5.0, 5.0])?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`prelude`] | the types that most programs need |
//! | [`exact`] | exact distances of tabular Markov decision processes, with certified error bounds |
//! | [`data`] | datasets in memory and in files: reading, validation, conversion and sampling |
//! | `learn` (feature `learn`) | training: algorithms, runs and models |
//! | `training` (feature `learn`) | the standard evaluations and folders of runs |
//! | `nn` (feature `learn`) | networks, quasimetrics and losses |
//! | [`refined`], [`audit`] | a distance in true steps refined by recorded time, and audits of the accuracy of a distance |
//! | [`nearest`] | recorded states that are nearest in time to a state (an index with the feature `nearest`) |
//! | [`plan`], [`calibration`], [`round_trip`] | planning with any distance, and distances that wrap another distance |
//! | [`chance`] | planning where some moves have random outcomes, such as teleporters |
//! | [`score`] | distances for every row of a Parquet dataset of any size, in parts |
//! | [`rollout`], [`stats`] | success rates of policies, and statistics over runs |
//! | [`straight`] | a controller that needs no training, to evaluate planners |
//! | [`envs`] | environments and data collection (mazes with the feature `mujoco`) |
//! | [`plot`] | figures and HTML reports |
//!
//! The `isochrone` command is in the package `isochrone-cli`.

pub mod prelude;
#[cfg(feature = "learn")]
pub mod training;

#[doc(hidden)]
pub use isochrone_core::is_control;
pub use isochrone_core::{
    Discount, DiscountError, EnvFactory, Environment, EpisodePolicy, GoalPolicy, InstructionSet,
    LatentDistance, LatentMetric, ShapeError, StepResult, TemporalDistance, UnknownInstructionSet, exact,
    rng, statistics,
};
pub use isochrone_data as data;
pub use isochrone_envs as envs;
pub use isochrone_eval::{
    audit, calibration, chance, demos, nearest, plan, refined, rollout, round_trip, score, stats, straight,
};
#[cfg(feature = "learn")]
pub use isochrone_learn as learn;
#[cfg(feature = "learn")]
pub use isochrone_nn as nn;
pub use isochrone_plot as plot;
