//! Distillation of a distance in steps, such as recorded time between landmarks, into a network.
//!
//! ```text
//! teacher, dataset -> target pool -> features -> network -> DistilledDistance -> one file
//! ```
//!
//! The teacher is any [`TemporalDistance`](isochrone_core::TemporalDistance). The result answers
//! queries without the teacher and without the data.

mod agreement;
mod config;
mod described;
mod distance;
mod features;
mod file;
mod network;
pub mod policy;
mod pool;
mod train;

pub use agreement::Agreement;
pub use config::{DistillConfig, DistillHead};
pub use distance::DistilledDistance;
pub use train::distill;
