//! What learners are put together from.

mod contrast;
mod moments;
mod policy;
mod rows;
mod sizes;
mod target;
mod trained;
mod value;

pub use contrast::{ContrastConfig, ContrastiveCritic, Embedding};
pub use policy::{Extraction, Policy, PolicyConfig};
pub use rows::Rows;
pub use sizes::{MetricSizes, Size};
pub use target::follow;
pub use trained::{OptimiserConfig, Schedule, Trained};
pub use value::{ValueConfig, Values, nats_of_value, value_of_reward};
