//! Episodes recognized by their contents: duplicates, and beginnings inside others.

use crate::EpisodeView;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// States that must agree before two episodes count as overlapping.
pub(super) const WINDOW: usize = 8;

/// The fingerprints of all episodes: 40 bytes each or so.
#[derive(Debug, Default)]
pub(super) struct Fingerprints {
    /// The first episode with these contents.
    whole: HashMap<u64, usize>,
    /// The first episode that begins with these states.
    beginnings: HashMap<u64, usize>,
}

/// How an episode resembles another.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resemblance {
    /// The same from beginning to end as this earlier one.
    Same(usize),
    /// From `row` on it has the states that `other` begins with.
    Overlap { row: usize, other: usize },
}

impl Fingerprints {
    pub fn learn(&mut self, width: usize, episode: &EpisodeView<'_>) {
        let number = episode.number;
        self.whole.entry(whole(episode)).or_insert(number);
        if let Some(first) = windows(width, episode).next().flatten() {
            self.beginnings.entry(first).or_insert(number);
        }
    }

    /// What an episode resembles, once all have been learnt.
    pub fn compare(&self, width: usize, episode: &EpisodeView<'_>) -> Option<Resemblance> {
        match self.whole.get(&whole(episode)) {
            Some(&other) if other != episode.number => return Some(Resemblance::Same(other)),
            _ => {}
        }
        windows(width, episode).enumerate().find_map(|(row, window)| {
            let other = *self.beginnings.get(&window?)?;
            (other != episode.number).then_some(Resemblance::Overlap { row, other })
        })
    }
}

fn whole(episode: &EpisodeView<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    bits(episode.observations, &mut hasher);
    bits(episode.actions, &mut hasher);
    hasher.finish()
}

fn bits(values: &[f32], hasher: &mut DefaultHasher) {
    values.iter().for_each(|value| value.to_bits().hash(hasher));
}

/// The fingerprint of every run of [`WINDOW`] states; none where nothing moves, since things at rest all look alike.
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
        let moves = window.iter().any(|&row| row != window[0]);
        moves.then(|| window.iter().fold(0u64, |hash, &row| hash.wrapping_mul(BASE).wrapping_add(row)))
    })
}
