//! Demonstrations: the progress of every frame, episodes with defects, and what to record next.
//!
//! ```text
//! dataset -> Demos      references: refined distances that leave out a fold of episodes
//!         -> Progress   steps to go to the ends of other successes, and progress in 0..1
//!         -> diagnose   findings: stalls, loops, wrong ends, jumps, duplicates, ...
//!         -> Gaps       is it connected, which bridges and which starts to record
//! ```
//!
//! No frame is compared with its own episode: every episode is read by a refined distance that was
//! fitted to others.

mod config;
mod connections;
mod displacement;
mod doctor;
mod duplicates;
mod ends;
mod error;
mod finding;
mod gaps;
mod local_metric;
mod minimax;
mod nodes;
mod pace;
mod progress;
mod quality;
mod reference;
mod smooth;
mod starts;

pub use config::DemosConfig;
pub use connections::{Bridge, Connection};
pub use doctor::{Diagnosis, EpisodeDiagnosis, diagnose, examine};
pub use error::DemosError;
pub use finding::{Finding, Rule};
pub use gaps::Gaps;
pub use nodes::FrameId;
pub use progress::{EpisodeProgress, Progress};
pub use quality::ProgressQuality;
pub use reference::Demos;
pub use starts::{Start, StartRegion};
