//! Readings between recorded states, from a distance or from a matrix.

use super::AuditError;
use isochrone_core::{TemporalDistance, rng};
use isochrone_data::Dataset;
use rand_chacha::ChaCha8Rng;

/// The maximum number of steps between the states of a recorded pair.
pub(super) const MAX_LAG: u64 = 150;

/// Steps between recorded states, according to a distance or to a precomputed matrix.
pub struct Readings<'a> {
    data: &'a Dataset,
    source: Source<'a>,
}

enum Source<'a> {
    Distance(&'a dyn TemporalDistance),
    Matrix(&'a DistanceMatrix),
}

/// A matrix of steps between some recorded states, computed by any program: entry `(i, j)` is the
/// distance from the `i`-th of these states to the `j`-th.
#[derive(Debug, Clone, PartialEq)]
pub struct DistanceMatrix {
    /// The states in ascending order, counted over all episodes, and their rows in the matrix.
    states: Vec<(u64, usize)>,
    /// The indices into `states` that have later states of the same episode within [`MAX_LAG`]
    /// steps, and the number of these.
    followed: Vec<(usize, usize)>,
    /// `[n, n]`
    steps: Vec<f64>,
}

/// A pair of recorded states of one episode.
pub(super) struct RecordedPair {
    pub from: u64,
    /// The next known state: one step later, or more in a matrix over some states.
    pub next: u64,
    /// A random later state.
    pub to: u64,
}

impl DistanceMatrix {
    /// Creates a matrix over the states of a dataset with these indices, counted over all episodes.
    ///
    /// # Errors
    /// If there are not as many entries as pairs of states, a state index is out of range or
    /// duplicate, an entry is negative or NaN, or no two states were recorded in one episode within
    /// 150 steps of each other.
    pub fn new(data: &Dataset, states: &[u64], steps: Vec<f64>) -> Result<Self, AuditError> {
        let (n, n_states) = (states.len(), data.index().n_states());
        if n.checked_mul(n) != Some(steps.len()) {
            return Err(AuditError::Size { states: n, entries: steps.len() });
        }
        let mut ordered: Vec<(u64, usize)> = states.iter().copied().zip(0..).collect();
        ordered.sort_unstable();
        if let Some(&(state, row)) = ordered.last().filter(|(state, _)| *state >= n_states) {
            return Err(AuditError::State { row, state, n_states });
        }
        if let Some(pair) = ordered.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(AuditError::Twice { state: pair[0].0 });
        }
        if let Some(at) = steps.iter().position(|steps| steps.is_nan() || *steps < 0.0) {
            return Err(AuditError::Entry { row: at / n, column: at % n, value: steps[at] });
        }
        let mut followed = Vec::new();
        for (place, &(state, _)) in ordered.iter().enumerate() {
            let end = data.index().states(data.index().episode_of_state(state)).end.min(state + MAX_LAG + 1);
            let later = ordered[place + 1..].partition_point(|(other, _)| *other < end);
            followed.extend((later > 0).then_some((place, later)));
        }
        if followed.is_empty() {
            return Err(AuditError::NoRecordedPair);
        }
        Ok(Self { states: ordered, followed, steps })
    }

    /// Returns the number of states.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    fn entry(&self, from: u64, to: u64) -> f64 {
        let row = |state: u64| {
            let place = self.states.binary_search_by_key(&state, |(state, _)| *state);
            self.states[place.expect("queries are for states of the matrix")].1
        };
        self.steps[row(from) * self.states.len() + row(to)]
    }
}

impl<'a> Readings<'a> {
    /// Returns the readings of a distance between all states of a dataset.
    ///
    /// # Panics
    /// If the distance has another state width, or the dataset has no transitions.
    pub fn of_distance(distance: &'a dyn TemporalDistance, data: &'a Dataset) -> Self {
        assert_eq!(distance.width(), data.spec().observation.width, "the distance has another state width");
        assert!(data.n_transitions() > 0, "the dataset has no transitions");
        Self { data, source: Source::Distance(distance) }
    }

    /// Returns the readings of a matrix between its states.
    pub fn of_matrix(matrix: &'a DistanceMatrix, data: &'a Dataset) -> Self {
        Self { data, source: Source::Matrix(matrix) }
    }

    /// Returns the dataset.
    pub(super) fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Samples a state that the readings cover.
    pub(super) fn any_state(&self, random: &mut ChaCha8Rng) -> u64 {
        match self.source {
            Source::Distance(_) => rng::below(random, self.data.index().n_states() as usize) as u64,
            Source::Matrix(matrix) => matrix.states[rng::below(random, matrix.states.len())].0,
        }
    }

    /// Samples states of one episode.
    pub(super) fn recorded_pair(&self, random: &mut ChaCha8Rng) -> RecordedPair {
        let index = self.data.index();
        match self.source {
            Source::Distance(_) => {
                let transition = rng::below(random, index.n_transitions() as usize) as u64;
                let (episode, from) = index.episode_of_transition(transition);
                let left = (index.states(episode).end - 1 - from).min(MAX_LAG);
                let to = from + 1 + rng::below(random, left as usize) as u64;
                RecordedPair { from, next: from + 1, to }
            }
            Source::Matrix(matrix) => {
                let (place, later) = matrix.followed[rng::below(random, matrix.followed.len())];
                let state = |place: usize| matrix.states[place].0;
                let to = state(place + 1 + rng::below(random, later));
                RecordedPair { from: state(place), next: state(place + 1), to }
            }
        }
    }

    /// Returns the steps from each state of `from` to the same entry of `to`.
    pub(super) fn steps(&self, from: &[u64], to: &[u64]) -> Vec<f64> {
        match self.source {
            Source::Distance(distance) => {
                let (from, to) = (observations(self.data, from), observations(self.data, to));
                distance.paired_steps(&from, &to).expect("states are complete")
            }
            Source::Matrix(matrix) => {
                from.iter().zip(to).map(|(&from, &to)| matrix.entry(from, to)).collect()
            }
        }
    }
}

/// Returns the observations of states, `[n, width]`.
pub(super) fn observations(data: &Dataset, states: &[u64]) -> Vec<f32> {
    states.iter().flat_map(|&state| data.state(state)).copied().collect()
}
