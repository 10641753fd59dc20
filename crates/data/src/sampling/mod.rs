//! Batches of transitions with goals.
//!
//! ```
//! use isochrone_core::Discount;
//! use isochrone_data::{Dataset, sampling::*};
//!
//! // One episode that walks from 0 to 9 in steps of 1.
//! let states: Vec<f32> = (0..10u8).map(f32::from).collect();
//! let data = Dataset::from_arrays(1, 1, [(states, vec![1.0; 9])])?;
//! let goals = GoalDistribution::new(GoalDistributionConfig::default(), Discount::new(0.9)?)?;
//! let config = SamplerConfig { batch_size: 4, first_row: 0, rows_per_episode: 1, goals: vec![goals], seed: 7, stream: 0 };
//! let sampler = GoalSampler::new(&data, config)?;
//! let batch = sampler.batch(0);
//! for row in 0..batch.rows() {
//!     // The offset is the number of steps to the goal.
//!     assert_eq!(batch.goals[0].observations[row] - batch.observations[row], batch.goals[0].offsets[row] as f32);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod distribution;
mod loader;
mod prefetch;
mod sampler;

pub use batch::{GoalBatch, GoalRows, OTHER_EPISODE};
pub use distribution::{GoalDistribution, GoalDistributionConfig, GoalMixture, MinOffset};
pub use loader::Loader;
pub use sampler::{GoalSampler, SamplerConfig};
