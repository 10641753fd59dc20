//! Logs on disk -> validated trajectories -> goal batches.
//!
//! - [`formats`]: readers and writers, one file per format. A reader pushes one episode at a time into an [`EpisodeSink`], so a data set
//!   never has to fit in memory;
//! - [`Trajectories`]: episodes that can be looked at in any order, in memory or in a mapped file;
//! - [`validate`]: what bites people, found before training;
//! - [`sampling`]: batches of transitions with goals, the same bits for any number of threads.

mod content_hash;
mod episode;
mod error;
pub mod formats;
mod gathered;
mod guard;
mod index;
mod mapping;
pub mod npy;
mod resident;
pub mod sampling;
mod sink;
mod spec;
mod survey;
mod trajectories;
pub mod validate;

pub use content_hash::ContentHasher;
pub use episode::{Ending, Episode, EpisodeView};
pub use error::{DataError, Defect, DefectKind};
pub use guard::is_guarded;
pub use index::EpisodeIndex;
pub use mapping::Access;
pub use sink::{EpisodeSink, Telling};
pub use spec::{Bounds, Feature, Spec};
pub use survey::{DimensionSummary, Survey};
pub use trajectories::{Trajectories, TrajectoriesBuilder};
