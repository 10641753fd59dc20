//! How far the readings of a distance can be trusted.
//!
//! Beside exact travel times: [`Accuracy`]. Without any: [`Consistency`], what must hold of every distance in steps on the
//! recorded states. The order of readings inside episodes is not among them: it is high for distances that are wrong
//! everywhere else.

mod accuracy;
mod consistency;
mod speed_limit;

pub use accuracy::{Accuracy, median_near};
pub use consistency::{Consistency, across_episodes};
pub use speed_limit::SpeedLimit;
