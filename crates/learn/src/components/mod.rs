//! Building blocks of learners: critics, policies and their presets.

mod check;
mod contrastive;
mod critic_input;
mod distances;
mod latent_metric;
mod metric;
mod policy;
mod preset;
mod target;
mod value;

pub use check::{dual, fraction, positive};
pub use contrastive::{ContrastiveConfig, ContrastiveCritic, Embedding};
pub use critic_input::CriticInput;
pub use distances::{ContrastiveDistance, MetricDistance, StepMetricDistance, ValueDistance};
pub use isochrone_nn::optim::{OptimizerConfig, Schedule, TrainState};
pub use metric::QuasimetricConfig;
pub use policy::{Extraction, Policy, PolicyConfig};
pub use preset::Preset;
pub use target::polyak_update;
pub use value::{ValueConfig, Values, hindsight_goals, nats_of_value, onnx_nats_of_value, value_of_reward};
