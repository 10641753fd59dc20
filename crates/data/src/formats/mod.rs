//! Readers and writers, one file per format.
//!
//! No reader allocates more than a bounded multiple of what a file contains, whatever the file
//! declares; see `docs/guides/data.md` for the multiples and the fuzzing that checks them.

pub(crate) mod arrow;
mod arrow_layout;
pub(crate) mod cells;
pub(crate) mod columns;
mod csv;
mod d4rl;
mod finished_episodes;
mod fixed_sizes;
mod flags;
mod flat;
mod hdf5;
pub mod lerobot;
mod minari;
mod npz;
pub(crate) mod options;
pub(crate) mod parquet;
pub(crate) mod parquet_footer;
pub(crate) mod parquet_headers;
mod parquet_layout;
pub(crate) mod parquet_limits;
pub(crate) mod shard_manifest;
mod shard_writer;
pub(crate) mod shards;
mod table;
mod thrift;

pub use options::{EmbeddingOptions, Ends, Extras, ReadOptions};

use crate::{
    ContentHasher, DataError, EpisodeSink, EpisodeView, Remedy, Spec,
    embeddings::{FrameIndex, Join},
    regular_file,
};
use arrow::ArrowWriter;
use minari::MinariWriter;
use npz::NpzWriter;
use shard_writer::ShardWriter;
use std::path::Path;

named_enum! {
    /// The formats that can be read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format, pub fn name {
        /// The isochrone Arrow format.
        Arrow = "arrow",
        /// OGBench's NumPy archive.
        OgBench = "ogbench",
        /// D4RL's flat HDF5.
        D4rl = "d4rl",
        /// A Minari dataset.
        Minari = "minari",
        /// A LeRobot dataset.
        LeRobot = "lerobot",
        /// A Parquet table with named columns.
        Parquet = "parquet",
        /// A CSV table with named columns.
        Csv = "csv",
    }
}

impl Format {
    /// Detects the format of an existing file or folder by its name and, for HDF5, its contents.
    /// The format of a folder of shards is that of its files.
    pub fn detect(path: &Path) -> Result<Self, DataError> {
        let extension =
            path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        if !path.is_dir() {
            regular_file::open(path).map_err(DataError::read(path))?;
        }
        match extension.as_deref() {
            _ if lerobot::is_lerobot(path) => Ok(Self::LeRobot),
            _ if path.is_dir() && minari::main_file(path).is_some() => Ok(Self::Minari),
            _ if path.is_dir() => Self::detect(shards::list(path)?.first()),
            Some("arrow" | "feather" | "ipc") => Ok(Self::Arrow),
            Some("npz") => Ok(Self::OgBench),
            Some("hdf5" | "h5") if d4rl::is_d4rl(path) => Ok(Self::D4rl),
            Some("hdf5" | "h5") => Ok(Self::Minari),
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            _ => Err(DataError::malformed(
                path,
                "its file name does not show its format",
                Remedy::Format.hint(|option| {
                    format!(
                        "set the format with {option}, or give a file that ends in .arrow, .npz, .hdf5, \
                         .parquet or .csv, or a Minari or LeRobot folder"
                    )
                }),
            )),
        }
    }

    /// Reads a file or folder of this format, one episode at a time. The shards of a folder are
    /// read in the order of their names, as if they were one file.
    pub fn read(
        self,
        path: &Path,
        options: &ReadOptions,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), DataError> {
        if options.embeddings.is_empty() {
            return self.read_columns(path, options, sink);
        }
        let frames = match self {
            Self::LeRobot => {
                let numbers = lerobot::FrameNumbers::read(path)?;
                Some(FrameIndex { first: numbers.first_frames(), index: numbers.index })
            }
            _ => None,
        };
        let mut joined = Join::open(frames, &options.embeddings, sink)?;
        self.read_columns(path, options, &mut joined)
    }

    /// Reads the columns of the dataset itself.
    fn read_columns(
        self,
        path: &Path,
        options: &ReadOptions,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), DataError> {
        match self {
            Self::LeRobot | Self::Minari => self.read_one(path, options, sink),
            _ if path.is_dir() => {
                let read = |shard: &Path, sink: &mut dyn EpisodeSink| self.read_one(shard, options, sink);
                shards::list(path)?.read(read, sink)
            }
            _ => self.read_one(path, options, sink),
        }
    }

    /// Reads a dataset that is not a folder of shards.
    fn read_one(
        self,
        path: &Path,
        options: &ReadOptions,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), DataError> {
        match self {
            Self::Arrow => arrow::read(path, options, sink),
            Self::OgBench => npz::read(path, options, sink),
            Self::D4rl => d4rl::read(path, options, sink),
            Self::Minari => minari::read(path, options, sink),
            Self::LeRobot => lerobot::read(path, options, sink),
            Self::Parquet => parquet::read(path, options, sink),
            Self::Csv => csv::read(path, options, sink),
        }
    }
}

/// Writes a dataset. The file is removed unless [`finish`](Self::finish) is called.
pub struct Writer {
    target: Target,
    hasher: ContentHasher,
}

/// The formats that can be written, each by its own sink.
enum Target {
    Arrow(Box<ArrowWriter>),
    OgBench(NpzWriter),
    Minari(MinariWriter),
    Shards(Box<ShardWriter>),
}

impl Writer {
    /// The name of the endings of episodes in the result of [`leaves_out`](Self::leaves_out).
    pub const ENDINGS: &str = "how episodes ended";

    /// Creates the writer that a name specifies: `.arrow` for the isochrone Arrow format, `.npz`
    /// for OGBench's archive, or a folder for Minari.
    pub fn for_path(path: &Path) -> Result<Self, DataError> {
        let target = match path.extension().and_then(|extension| extension.to_str()) {
            Some("arrow") => Target::Arrow(Box::new(ArrowWriter::new(path))),
            Some("npz") => Target::OgBench(NpzWriter::new(path)),
            None => Target::Minari(MinariWriter::new(path)),
            Some(other) => {
                let problem = format!("cannot write {}: no writer for .{other}", path.display());
                let hint =
                    "give a file name that ends in .arrow or .npz, or a new folder for a Minari dataset";
                return Err(DataError::setting(problem, hint));
            }
        };
        Ok(Self { target, hasher: ContentHasher::default() })
    }

    /// Creates a writer of shards: a new folder of files in the isochrone Arrow format, each with
    /// at most `rows_per_shard` states unless a single episode has more, and a manifest
    /// (`shards.json`). The folder opens as one dataset.
    ///
    /// # Errors
    /// If `rows_per_shard` is 0.
    pub fn shards(folder: &Path, rows_per_shard: u64) -> Result<Self, DataError> {
        let writer = ShardWriter::new(folder, rows_per_shard)?;
        Ok(Self { target: Target::Shards(Box::new(writer)), hasher: ContentHasher::default() })
    }

    /// Returns descriptions of the parts of such data that the format cannot hold.
    pub fn leaves_out(&self, spec: &Spec) -> Vec<&'static str> {
        let mut losses = Vec::new();
        if !matches!(self.target, Target::Arrow(_) | Target::Shards(_)) {
            losses.extend(spec.has_timestamps.then_some("timestamps"));
            losses.extend(spec.frames_per_second.is_some().then_some("the frame rate"));
            losses.extend(spec.goal.is_some().then_some("the goal space"));
            let has_names = !spec.observation.dimensions.is_empty() || !spec.action.dimensions.is_empty();
            losses.extend(has_names.then_some("names of dimensions"));
            let has_tasks = !spec.tasks.is_empty() || !spec.subtasks.is_empty();
            losses.extend(has_tasks.then_some("names of tasks"));
        }
        if matches!(self.target, Target::OgBench(_)) {
            losses.extend((!spec.action.bounds.is_empty()).then_some("the range of actions"));
            losses.push(Self::ENDINGS);
        }
        losses
    }

    /// Returns the content hash of the episodes so far.
    pub fn content_hash(&self) -> String {
        self.hasher.clone().finish()
    }

    /// Completes the file and moves it to its final path.
    pub fn finish(self) -> Result<(), DataError> {
        match self.target {
            Target::Arrow(writer) => writer.finish(&self.hasher.hashes()),
            Target::OgBench(writer) => writer.finish(),
            Target::Minari(writer) => writer.finish(),
            Target::Shards(writer) => writer.finish(self.hasher.finish()),
        }
    }

    fn sink(&mut self) -> &mut dyn EpisodeSink {
        match &mut self.target {
            Target::Arrow(writer) => writer.as_mut(),
            Target::OgBench(writer) => writer,
            Target::Minari(writer) => writer,
            Target::Shards(writer) => writer.as_mut(),
        }
    }
}

impl EpisodeSink for Writer {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.hasher.begin(spec)?;
        self.sink().begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        episode.require_transition()?;
        self.hasher.episode(episode)?;
        self.sink().episode(episode)
    }
}
