//! Fingerprints of episodes, to find duplicates and overlaps.

use crate::EpisodeView;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// The number of consecutive states that must agree before two episodes count as overlapping.
pub(super) const WINDOW: usize = 8;

/// The fingerprints of all episodes, of about 40 bytes each.
#[derive(Debug, Default)]
pub(super) struct Fingerprints {
    /// The first episode with these contents.
    contents: HashMap<u64, usize>,
    /// The first episode that starts with these states.
    starts: HashMap<u64, usize>,
}

/// How an episode resembles another.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resemblance {
    /// The episode is identical to this earlier one.
    Same(usize),
    /// From `row` on, the episode has the states that `other` starts with.
    Overlap { row: usize, other: usize },
}

impl Fingerprints {
    /// Adds the fingerprints of an episode.
    pub fn add(&mut self, width: usize, episode: &EpisodeView<'_>) {
        let number = episode.number;
        self.contents.entry(content_hash(episode)).or_insert(number);
        if let Some(first) = windows(width, episode).next().flatten() {
            self.starts.entry(first).or_insert(number);
        }
    }

    /// Returns how an episode resembles another, after all episodes have been added.
    pub fn compare(&self, width: usize, episode: &EpisodeView<'_>) -> Option<Resemblance> {
        match self.contents.get(&content_hash(episode)) {
            Some(&other) if other != episode.number => return Some(Resemblance::Same(other)),
            _ => {}
        }
        windows(width, episode).enumerate().find_map(|(row, window)| {
            let other = *self.starts.get(&window?)?;
            (other != episode.number).then_some(Resemblance::Overlap { row, other })
        })
    }
}

fn content_hash(episode: &EpisodeView<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    bits(episode.observations, &mut hasher);
    bits(episode.actions, &mut hasher);
    hasher.finish()
}

fn bits(values: &[f32], hasher: &mut DefaultHasher) {
    values.iter().for_each(|value| value.to_bits().hash(hasher));
}

/// Returns the fingerprint of every window of [`WINDOW`] states; `None` if the states do not
/// change, since episodes at rest all look alike.
fn windows(width: usize, episode: &EpisodeView<'_>) -> impl Iterator<Item = Option<u64>> {
    const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
    let row_hash = |row: &[f32]| {
        let mut hasher = DefaultHasher::new();
        bits(row, &mut hasher);
        hasher.finish()
    };
    let rows: Vec<u64> = episode.observations.chunks_exact(width.max(1)).map(row_hash).collect();
    let count = (rows.len() + 1).saturating_sub(WINDOW);
    (0..count).map(move |at| {
        let window = &rows[at..at + WINDOW];
        let changes = window.iter().any(|&row| row != window[0]);
        changes.then(|| window.iter().fold(0u64, |hash, &row| hash.wrapping_mul(BASE).wrapping_add(row)))
    })
}
