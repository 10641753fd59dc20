//! What a data set contains, in 64 hexadecimal digits, whatever file it lies in.

use crate::{DataError, EpisodeSink, EpisodeView, Spec};
use arrow_buffer::ToByteSlice;
use sha2::{Digest, Sha256};

/// SHA-256 of the episodes: widths and names of the columns, then for each episode its number of steps, its ending
/// and its columns as little-endian numbers. The same episodes have the same hash in every format that holds them whole.
#[derive(Debug, Clone, Default)]
pub struct ContentHasher {
    state: Sha256,
    /// Extra columns by name: formats keep them in different orders.
    extras_by_name: Vec<usize>,
}

impl ContentHasher {
    /// The hash of what was seen so far.
    pub fn finish(self) -> String {
        self.state.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl EpisodeSink for ContentHasher {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.state.update(b"isochrone trajectories 1\n");
        self.extras_by_name = (0..spec.extras.len()).collect();
        self.extras_by_name.sort_by_key(|&at| &spec.extras[at].name);
        let extras =
            self.extras_by_name.iter().map(|&at| (spec.extras[at].name.as_str(), spec.extras[at].width));
        let columns = [("observations", spec.observation.width), ("actions", spec.action.width)];
        for (name, width) in columns.into_iter().chain(extras) {
            self.state.update((name.len() as u64).to_le_bytes());
            self.state.update(name.as_bytes());
            self.state.update((width as u64).to_le_bytes());
        }
        self.state.update([u8::from(spec.has_rewards), u8::from(spec.has_timestamps)]);
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        self.state.update((episode.steps as u64).to_le_bytes());
        self.state.update(episode.ending.name());
        self.state.update(little_endian(episode.observations));
        self.state.update(little_endian(episode.actions));
        self.state.update(little_endian(episode.rewards));
        self.state.update(little_endian(episode.timestamps));
        for &at in &self.extras_by_name {
            self.state.update(little_endian(episode.extras[at]));
        }
        Ok(())
    }
}

/// The bytes of numbers, as they lie in memory.
pub(crate) fn little_endian<T: arrow_buffer::ArrowNativeType>(values: &[T]) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "the files of this package are little-endian") };
    values.to_byte_slice()
}
