//! Datasets of episodes: readers and writers of common formats, validation, and goal-conditioned
//! batches.
//!
//! - [`formats`]: readers and writers, one file per format. A reader pushes one episode at a time
//!   into an [`EpisodeSink`], so that a dataset never has to fit in memory;
//! - [`Dataset`]: episodes with random access, in memory or in a mapped file;
//! - [`validate`]: common dataset problems, found before training;
//! - [`sampling`]: batches of transitions with goals, bit-identical for any number of threads;
//! - [`shards`]: Parquet datasets of any size, divided among jobs;
//! - [`remote`]: datasets in object stores, downloaded into a cache and verified;
//! - [`tables`], [`arrays`]: matrices and tables of numbers, to exchange data with other programs;
//! - [`tabular`]: tabular MDPs and Markov chains from text maps, MDP files and event logs.

#[macro_use]
mod named_enum;

pub mod arrays;
#[doc(hidden)]
pub mod atomic;
mod bounded_records;
mod catch_panics;
mod column_buffers;
mod content_hash;
mod dataset;
mod dataset_hash;
mod dimension_summary;
mod embeddings;
mod episode;
mod episode_ends;
mod episode_error;
mod error;
mod file_hash;
pub mod formats;
mod fused;
mod hint;
mod hold_out;
mod hub_id;
mod huge_pages;
mod index;
mod join;
mod labels;
mod load;
mod mapping;
mod npy;
mod number_table;
mod progress_file;
#[doc(hidden)]
pub mod regular_file;
pub mod remote;
pub mod sampling;
pub mod shards;
mod shrunk_file;
mod sink;
mod spec;
mod success;
mod summary;
pub mod tables;
pub mod tabular;
mod unfinished;
pub mod validate;
mod zip_archive;

pub use catch_panics::is_catching_panics;
pub use content_hash::ContentHasher;
#[doc(hidden)]
pub use content_hash::sha256;
pub use dataset::{Dataset, DatasetBuilder};
pub use dimension_summary::DimensionSummary;
pub use episode::{Ending, Episode, EpisodeView};
pub use episode_ends::end_alike;
pub use episode_error::{EpisodeError, NotFiniteError};
pub use error::{DataError, Defect, DefectKind};
pub use file_hash::file_sha256;
pub use hint::{Hint, Remedy};
pub use hub_id::HubFolders;
pub use index::EpisodeIndex;
pub use labels::{EpisodeLabels, LabelSink};
pub use mapping::Access;
pub use progress_file::ProgressFile;
pub use shrunk_file::report_shrunk_files;
pub use sink::{EpisodeSink, ProgressSink};
pub use spec::{Bounds, Feature, Spec, SpecError};
pub use success::Successes;
pub use summary::DatasetSummary;
