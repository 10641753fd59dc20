//! Building blocks of learners: critics, policies and their presets.

mod backup;
mod check;
mod continuity;
mod contrastive;
mod critic_input;
mod displacement;
mod distances;
mod extraction;
mod latent_metric;
mod metric;
mod policy;
mod preset;
mod target;
mod value;

pub use backup::BackupRows;
pub use check::{backup, dual, fraction, positive};
pub use continuity::Continuity;
pub use contrastive::{ContrastiveConfig, ContrastiveCritic, Embedding};
pub use critic_input::{CriticInput, RowChoice, row_draws};
pub use displacement::GoalInput;
pub use distances::{ContrastiveDistance, MetricDistance, StepMetricDistance, ValueDistance};
pub use extraction::Extraction;
pub use isochrone_nn::optim::{OptimizerConfig, Schedule, TrainState};
pub use metric::QuasimetricConfig;
pub use policy::{Policy, PolicyConfig};
pub use preset::Preset;
pub use target::polyak_update;
pub use value::{ValueConfig, Values, hindsight_goals, nats_of_value, onnx_nats_of_value, value_of_reward};
