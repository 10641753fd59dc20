//! Finds the episode of a state or transition in constant expected time.

use std::ops::Range;

/// The positions of the episodes of a dataset, whose states are numbered across all episodes.
///
/// Episode `e` has the states `first_state(e) .. first_state(e + 1)`, and one transition fewer. The
/// index takes 8 bytes per episode, and 32 to 64 for the two lookup tables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EpisodeIndex {
    /// The first state of each episode, then the number of all states.
    first_states: Vec<u64>,
    by_state: Buckets,
    by_transition: Buckets,
}

impl EpisodeIndex {
    /// Builds an index from the number of steps of each episode; every episode has one state more.
    pub fn new(steps: impl Iterator<Item = usize>) -> Self {
        let mut first_states = vec![0];
        let mut total = 0u64;
        for steps in steps {
            total += steps as u64 + 1;
            first_states.push(total);
        }
        Self::from_first_states(first_states)
    }

    /// Builds an index from the first state of each episode, followed by the number of all states.
    pub(crate) fn from_first_states(first_states: Vec<u64>) -> Self {
        let by_state = Buckets::new(first_states.len() - 1, |e| first_states[e]);
        let by_transition = Buckets::new(first_states.len() - 1, |e| first_states[e] - e as u64);
        Self { first_states, by_state, by_transition }
    }

    /// Returns the size of the index in memory.
    pub fn bytes(&self) -> usize {
        let tables = [&self.by_state, &self.by_transition];
        let buckets: usize = tables.iter().map(|table| table.last_started.capacity()).sum();
        size_of::<u64>() * self.first_states.capacity() + size_of::<u32>() * buckets
    }

    /// Returns the first state of each episode, followed by the number of all states.
    pub(crate) fn first_states(&self) -> &[u64] {
        &self.first_states
    }

    /// Returns the number of episodes.
    pub fn n_episodes(&self) -> usize {
        self.first_states.len() - 1
    }

    /// Returns the number of states, T + 1 for each episode.
    pub fn n_states(&self) -> u64 {
        *self.first_states.last().unwrap_or(&0)
    }

    /// Returns the number of transitions, T for each episode.
    pub fn n_transitions(&self) -> u64 {
        self.n_states() - self.n_episodes() as u64
    }

    /// Returns the states of an episode.
    pub fn states(&self, episode: usize) -> Range<u64> {
        self.first_states[episode]..self.first_states[episode + 1]
    }

    /// Returns the transitions of an episode.
    pub fn transitions(&self, episode: usize) -> Range<u64> {
        let Range { start, end } = self.states(episode);
        start - episode as u64..end - episode as u64 - 1
    }

    /// Returns the number of steps of an episode.
    pub fn steps(&self, episode: usize) -> usize {
        (self.first_states[episode + 1] - self.first_states[episode] - 1) as usize
    }

    /// Returns the episode that a state belongs to.
    pub fn episode_of_state(&self, state: u64) -> usize {
        self.by_state.find(state, |e| self.first_states[e])
    }

    /// Returns the episode that a state belongs to, and its row there.
    pub fn row_of_state(&self, state: u64) -> (usize, usize) {
        let episode = self.episode_of_state(state);
        (episode, (state - self.first_states[episode]) as usize)
    }

    /// Returns the episode that a transition belongs to, and the state where the transition starts.
    pub fn episode_of_transition(&self, transition: u64) -> (usize, u64) {
        let episode = self.by_transition.find(transition, |e| self.first_states[e] - e as u64);
        (episode, transition + episode as u64)
    }

    /// Returns the episode that a transition belongs to, and the row of the episode where it
    /// starts.
    pub fn row_of_transition(&self, transition: u64) -> (usize, usize) {
        let (episode, state) = self.episode_of_transition(transition);
        (episode, (state - self.first_states[episode]) as usize)
    }
}

/// With this many buckets, few contain the start of an episode, so that a search seldom has a
/// branch for the processor to mispredict.
const BUCKETS_PER_EPISODE: u64 = 8;

/// For evenly spaced numbers, the last episode that starts at or before each number. A search only
/// has to look between two neighboring entries.
#[derive(Debug, Clone, PartialEq, Default)]
struct Buckets {
    shift: u32,
    last_started: Vec<u32>,
}

impl Buckets {
    /// Builds the buckets. `first(e)` is non-decreasing for `e` in `0..=n`, and `first(n)` is the
    /// total.
    fn new(n: usize, first: impl Fn(usize) -> u64) -> Self {
        assert!(u32::try_from(n).is_ok(), "at most 2^32 - 1 episodes");
        let total = first(n);
        let mut shift = 0;
        while total >> shift > BUCKETS_PER_EPISODE * n as u64 {
            shift += 1;
        }
        let mut episode = 0;
        let last_started = (0..=(total >> shift))
            .map(|bucket| {
                while episode + 1 < n && first(episode + 1) <= bucket << shift {
                    episode += 1;
                }
                episode as u32
            })
            // The last episode that starts inside the last bucket.
            .chain([n.saturating_sub(1) as u32])
            .collect();
        Self { shift, last_started }
    }

    /// Returns the last `e` with `first(e) <= number < first(e + 1)`.
    fn find(&self, number: u64, first: impl Fn(usize) -> u64) -> usize {
        let bucket = (number >> self.shift) as usize;
        let mut low = self.last_started[bucket] as usize;
        let mut high = self.last_started[bucket + 1] as usize;
        while low < high {
            let middle = (low + high).div_ceil(2);
            if first(middle) <= number { low = middle } else { high = middle - 1 }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_index_has_no_states() {
        let index = EpisodeIndex::new(std::iter::empty());
        assert_eq!((index.n_episodes(), index.n_states(), index.n_transitions()), (0, 0, 0));
    }

    proptest! {
        #[test]
        fn every_state_and_transition_is_found(
            steps in prop::collection::vec(prop_oneof![0usize..4, 0usize..300], 1..60),
        ) {
            let index = EpisodeIndex::new(steps.iter().copied());
            let (mut state, mut transition) = (0, 0);
            for (episode, &steps) in steps.iter().enumerate() {
                prop_assert_eq!(index.steps(episode), steps);
                for step in 0..=steps {
                    prop_assert_eq!(index.episode_of_state(state), episode);
                    if step < steps {
                        prop_assert_eq!(index.episode_of_transition(transition), (episode, state));
                        transition += 1;
                    }
                    state += 1;
                }
            }
            prop_assert_eq!((index.n_states(), index.n_transitions()), (state, transition));
        }
    }
}
