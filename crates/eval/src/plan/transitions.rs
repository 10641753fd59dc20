//! The transitions that planners search.

use isochrone_core::rng;
use isochrone_data::Dataset;

/// Recorded transitions, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transitions {
    /// States, `[n, width]`.
    pub states: Vec<f32>,
    /// Actions, `[n, action width]`; empty if the dataset has none.
    pub actions: Vec<f32>,
    /// Next states, `[n, width]`.
    pub next_states: Vec<f32>,
}

impl Transitions {
    /// Samples `n` transitions of a dataset uniformly with replacement; returns all of them, in
    /// order, if `n` is at least their number. The sample depends only on the seed.
    pub fn sample(data: &Dataset, n: usize, seed: u64) -> Self {
        let (index, spec) = (data.index(), data.spec());
        let (width, action_width) = (spec.observation.width, spec.action.width);
        let mut random = rng::stream(seed, 0);
        let mut transitions = Self::default();
        let total = index.n_transitions();
        let takes_all = n as u64 >= total;
        for number in 0..total.min(n as u64) {
            let transition = if takes_all { number } else { rng::below(&mut random, total as usize) as u64 };
            let (episode, row) = index.row_of_transition(transition);
            let view = data.episode(episode);
            transitions.states.extend(&view.observations[row * width..][..width]);
            transitions.next_states.extend(&view.observations[(row + 1) * width..][..width]);
            transitions.actions.extend(&view.actions[row * action_width..][..action_width]);
        }
        transitions
    }

    /// Returns the transitions that start at these rows of a dataset, counted over all episodes. No
    /// row may be the last of its episode.
    pub(super) fn of_rows(data: &Dataset, rows: &[u32]) -> Self {
        let action_width = data.spec().action.width;
        let mut transitions = Self::default();
        for state in rows.iter().map(|&row| u64::from(row)) {
            let (episode, row) = data.index().row_of_state(state);
            transitions.states.extend(data.state(state));
            transitions.next_states.extend(data.state(state + 1));
            transitions.actions.extend(&data.episode(episode).actions[row * action_width..][..action_width]);
        }
        transitions
    }
}
