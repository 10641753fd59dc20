//! From the number of a state or transition to its episode, in constant expected time.

use std::ops::Range;

/// Where the episodes of a dataset lie when all their states are counted one after another.
///
/// Episode `e` has the states `first_state(e) .. first_state(e + 1)`, and one transition less. Takes 8 bytes per episode, and 32 to 64
/// for the two lookup tables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EpisodeIndex {
    /// One more entry than episodes.
    first_states: Vec<u64>,
    by_state: Buckets,
    by_transition: Buckets,
}

impl EpisodeIndex {
    /// From the number of steps of each episode; every episode has one state more.
    pub fn new(steps: impl Iterator<Item = usize>) -> Self {
        let mut first_states = vec![0];
        let mut total = 0u64;
        for steps in steps {
            total += steps as u64 + 1;
            first_states.push(total);
        }
        let by_state = Buckets::new(first_states.len() - 1, |e| first_states[e]);
        let by_transition = Buckets::new(first_states.len() - 1, |e| first_states[e] - e as u64);
        Self { first_states, by_state, by_transition }
    }

    /// The number of episodes.
    pub fn n_episodes(&self) -> usize {
        self.first_states.len() - 1
    }

    /// The number of states, T + 1 for each episode.
    pub fn n_states(&self) -> u64 {
        *self.first_states.last().unwrap_or(&0)
    }

    /// The number of transitions, T for each episode.
    pub fn n_transitions(&self) -> u64 {
        self.n_states() - self.n_episodes() as u64
    }

    /// The states of an episode.
    pub fn states(&self, episode: usize) -> Range<u64> {
        self.first_states[episode]..self.first_states[episode + 1]
    }

    /// The transitions of an episode.
    pub fn transitions(&self, episode: usize) -> Range<u64> {
        let Range { start, end } = self.states(episode);
        start - episode as u64..end - episode as u64 - 1
    }

    /// The number of steps of an episode.
    pub fn steps(&self, episode: usize) -> usize {
        (self.first_states[episode + 1] - self.first_states[episode] - 1) as usize
    }

    /// The episode that a state belongs to.
    pub fn episode_of_state(&self, state: u64) -> usize {
        self.by_state.find(state, |e| self.first_states[e])
    }

    /// The episode that a state belongs to, and its row there.
    pub fn row_of_state(&self, state: u64) -> (usize, usize) {
        let episode = self.episode_of_state(state);
        (episode, (state - self.first_states[episode]) as usize)
    }

    /// The episode that a transition belongs to, and the state where the transition begins.
    pub fn episode_of_transition(&self, transition: u64) -> (usize, u64) {
        let episode = self.by_transition.find(transition, |e| self.first_states[e] - e as u64);
        (episode, transition + episode as u64)
    }

    /// The episode that a transition belongs to, and the row of the episode where it begins.
    pub fn row_of_transition(&self, transition: u64) -> (usize, usize) {
        let (episode, state) = self.episode_of_transition(transition);
        (episode, (state - self.first_states[episode]) as usize)
    }
}

/// Few buckets then hold the beginning of an episode, and a search seldom has a choice, which a processor would have to guess.
const BUCKETS_PER_EPISODE: u64 = 8;

/// For evenly spaced numbers, the last episode that begins at or before each: a search has only to look between two
/// neighboring entries.
#[derive(Debug, Clone, PartialEq, Default)]
struct Buckets {
    shift: u32,
    last_begun: Vec<u32>,
}

impl Buckets {
    /// `first(e)` is non-decreasing for `e` in `0..=n`, and `first(n)` the total.
    fn new(n: usize, first: impl Fn(usize) -> u64) -> Self {
        assert!(u32::try_from(n).is_ok(), "at most 2^32 - 1 episodes");
        let total = first(n);
        let mut shift = 0;
        while total >> shift > BUCKETS_PER_EPISODE * n as u64 {
            shift += 1;
        }
        let mut episode = 0;
        let last_begun = (0..=(total >> shift))
            .map(|bucket| {
                while episode + 1 < n && first(episode + 1) <= bucket << shift {
                    episode += 1;
                }
                episode as u32
            })
            // What begins inside the last bucket.
            .chain([n.saturating_sub(1) as u32])
            .collect();
        Self { shift, last_begun }
    }

    /// The last `e` with `first(e) <= number < first(e + 1)`.
    fn find(&self, number: u64, first: impl Fn(usize) -> u64) -> usize {
        let bucket = (number >> self.shift) as usize;
        let mut low = self.last_begun[bucket] as usize;
        let mut high = self.last_begun[bucket + 1] as usize;
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
    fn an_empty_index_has_nothing() {
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
