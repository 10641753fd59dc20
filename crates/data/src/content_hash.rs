//! The content hash of a dataset, which does not depend on the file format.

use crate::{DataError, EpisodeSink, EpisodeView, Spec};
use arrow_buffer::ToByteSlice;
use sha2::{Digest as _, Sha256};

/// Computes the SHA-256 of what every format stores: the widths, then for each episode the SHA-256
/// of its number of steps, its observations and its actions as little-endian numbers.
///
/// Rewards, timestamps, endings, extra columns and names are not included. A dataset therefore has
/// the same hash in every format, and with any selection of extra columns.
#[derive(Debug, Clone, Default)]
pub struct ContentHasher {
    content: Sha256,
    rest: Sha256,
}

type Digest = [u8; 32];

/// The digests of one episode: of its content, and of its other columns.
pub(crate) struct EpisodeDigests {
    content: Digest,
    rest: Digest,
}

/// The hashes of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hashes {
    /// The content hash.
    pub content: String,
    /// The hash of everything else: rewards, timestamps, endings, and extra columns in the order of
    /// the spec.
    pub rest: String,
}

impl ContentHasher {
    /// Starts the hash of a dataset with this spec.
    pub(crate) fn of(spec: &Spec) -> Self {
        let mut hasher = Self::default();
        hasher.content.update(b"isochrone dataset 2\n");
        hasher.content.update((spec.observation.width as u64).to_le_bytes());
        hasher.content.update((spec.action.width as u64).to_le_bytes());
        hasher
    }

    /// Returns the content hash of the episodes so far.
    pub fn finish(self) -> String {
        self.hashes().content
    }

    pub(crate) fn hashes(self) -> Hashes {
        Hashes { content: hexadecimal(self.content), rest: hexadecimal(self.rest) }
    }

    pub(crate) fn add(&mut self, digests: &EpisodeDigests) {
        self.content.update(digests.content);
        self.rest.update(digests.rest);
    }
}

impl EpisodeSink for ContentHasher {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        *self = Self::of(spec);
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        self.add(&EpisodeDigests::of(episode));
        Ok(())
    }
}

impl EpisodeDigests {
    pub(crate) fn of(episode: &EpisodeView<'_>) -> Self {
        let mut content = Sha256::new();
        content.update((episode.steps as u64).to_le_bytes());
        content.update(little_endian(episode.observations));
        content.update(little_endian(episode.actions));
        let mut rest = Sha256::new();
        rest.update(episode.ending.name());
        rest.update(little_endian(episode.rewards));
        rest.update(little_endian(episode.timestamps));
        for rows in &episode.extras {
            rest.update(little_endian(rows));
        }
        Self { content: content.finalize().into(), rest: rest.finalize().into() }
    }
}

/// Returns a digest in hexadecimal digits.
pub(crate) fn hexadecimal(state: Sha256) -> String {
    state.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of bytes in hexadecimal digits.
#[doc(hidden)]
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

/// Returns the bytes of numbers as they are in memory, which is little-endian.
pub(crate) fn little_endian<T: arrow_buffer::ArrowNativeType>(values: &[T]) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "the files of this crate are little-endian") };
    values.to_byte_slice()
}
