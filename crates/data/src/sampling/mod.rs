//! Batches of transitions with goals.
//!
//! ```
//! use isochrone_core::Discount;
//! use isochrone_data::{EpisodeSink as _, Episode, Spec, TrajectoriesBuilder, sampling::*};
//! use std::sync::Arc;
//!
//! // One episode that walks from 0 to 9 in steps of 1.
//! let spec = Spec::new(1, 1);
//! let episode = Episode {
//!     observations: (0..10u8).map(f32::from).collect(),
//!     actions: vec![1.0; 9],
//!     ..Episode::default()
//! };
//! let mut builder = TrajectoriesBuilder::default();
//! builder.begin(&spec)?;
//! builder.episode(&episode.view(&spec).unwrap())?;
//! let law = GoalLaw::new(GoalLawConfig::default(), Discount::new(0.9)?)?;
//! let config = SamplerConfig { batch_size: 4, goals: vec![law], seed: 7, stream: 0 };
//! let sampler = GoalSampler::new(Arc::new(builder.finish()), config)?;
//! let batch = sampler.batch(0);
//! for row in 0..batch.rows() {
//!     // The goal is as many steps ahead as its offset says.
//!     assert_eq!(batch.goals[0].observations[row] - batch.observations[row], batch.goals[0].offsets[row] as f32);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod law;
mod loader;
mod prefetch;
mod sampler;

pub use batch::{ELSEWHERE, GoalBatch, GoalRows};
pub use law::{EndLaw, FirstOffset, GoalLaw, GoalLawConfig, GoalMixture};
pub use loader::Loader;
pub use sampler::{GoalSampler, SamplerConfig};
