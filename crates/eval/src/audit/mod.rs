//! Audits: how far the readings of a distance, its values in steps, can be trusted.
//!
//! [`Accuracy`] compares readings with exact distances. [`Consistency`] needs no exact distances:
//! it checks properties that every distance in steps must have on recorded states. The rank
//! correlation within episodes is not among them, because it is high even for distances that are
//! wrong everywhere else. Use [`AcrossEpisodes`] to select checkpoints.
//!
//! [`Readings`] come from a distance, or from a [`DistanceMatrix`] that another program computed.

mod accuracy;
mod across_episodes;
mod consistency;
mod error;
mod readings;
mod speed_limit;

pub use accuracy::{Accuracy, median_near};
pub use across_episodes::AcrossEpisodes;
pub use consistency::Consistency;
pub use error::AuditError;
pub use readings::{DistanceMatrix, Readings};
pub use speed_limit::SpeedLimit;
