//! How far the readings of a distance can be trusted.
//!
//! Beside exact travel times: [`Accuracy`]. Without any: [`Consistency`], what must hold of every distance in steps on the
//! recorded states. The order of readings inside episodes is not among them: it is high for distances that are wrong
//! everywhere else. [`AcrossEpisodes`] is what to select checkpoints by.
//!
//! [`Readings`] are those of a distance, or of a [`DistanceMatrix`] that another program computed.

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
