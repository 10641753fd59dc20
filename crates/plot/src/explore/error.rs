//! Errors of interactive pages.

use isochrone_data::DataError;
use std::path::PathBuf;
use thiserror::Error;

/// Why an interactive page cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// The page would be too large.
    #[error(
        "the page would have {bytes} bytes with {landmarks} landmarks, more than {max}; hint: use fewer landmarks or states"
    )]
    TooLarge {
        /// The size of the page.
        bytes: usize,
        /// The maximum size.
        max: usize,
        /// The number of landmarks of the graph.
        landmarks: usize,
    },
    /// A file of a layer cannot be read.
    #[error("{}: {source}; hint: check that the path is correct and readable", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A file of a layer has another format.
    #[error("{}: {problem}; hint: {hint}", path.display())]
    Layer {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        hint: &'static str,
    },
    /// A layer refers to a frame that the dataset does not have.
    #[error(
        "the {layer} refer to frame {frame} of episode {episode}, which the dataset does not have; hint: give files of the same dataset"
    )]
    NoFrame {
        /// The name of the layer.
        layer: &'static str,
        /// The episode.
        episode: u64,
        /// The frame.
        frame: u64,
    },
    /// A table cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
}
