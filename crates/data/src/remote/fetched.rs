//! The progress and the outcome of a download.

use std::path::PathBuf;

/// The progress of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The bytes of the dataset that are in the cache.
    pub bytes_done: u64,
    /// The size of the dataset.
    pub bytes_total: u64,
    /// The number of files of the dataset.
    pub files: usize,
}

/// A dataset in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The file or folder to open. It stays in the cache until another dataset needs the space.
    pub path: PathBuf,
    /// The bytes that were downloaded just now.
    pub downloaded_bytes: u64,
    /// The bytes that earlier, interrupted downloads left.
    pub resumed_bytes: u64,
    /// The bytes of files that were complete in the cache.
    pub cached_bytes: u64,
    /// The number of files of the dataset.
    pub files: usize,
    /// The names of cached files that were corrupt and were downloaded again.
    pub replaced: Vec<String>,
}
