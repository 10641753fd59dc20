//! The hashes of an open dataset.

use crate::{
    ContentHasher, Dataset,
    content_hash::{EpisodeDigests, Hashes},
};
use std::{
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// Hashes a dataset on all cores, one block of episodes per thread at a time. Pages of mapped
/// files are released meanwhile. The episodes are also added to `all`, the hash of a dataset of
/// which this one is the next part.
pub(crate) fn hashes(data: &Dataset, all: &mut ContentHasher) -> Hashes {
    let n_blocks = data.blocks().len();
    let digests: Vec<OnceLock<Vec<EpisodeDigests>>> = (0..n_blocks).map(|_| OnceLock::new()).collect();
    let next_block = AtomicUsize::new(0);
    let work = || {
        loop {
            let block = next_block.fetch_add(1, Relaxed);
            if block >= n_blocks {
                return;
            }
            let first = |block: usize| {
                data.blocks().get(block).map_or(data.n_episodes(), |block| block.first_episode)
            };
            let of_episode = |episode: usize| {
                let digests = EpisodeDigests::of(&data.episode(episode));
                data.touched(episode);
                digests
            };
            // No other thread hashes this block.
            let _ = digests[block].set((first(block)..first(block + 1)).map(of_episode).collect());
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(n_blocks);
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut hasher = ContentHasher::of(data.spec());
    for digests in digests.iter().filter_map(OnceLock::get).flatten() {
        hasher.add(digests);
        all.add(digests);
    }
    hasher.hashes()
}
