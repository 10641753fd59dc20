//! How a distilled distance agrees with its teacher.

use isochrone_core::{
    ShapeError, TemporalDistance, rng,
    statistics::{median, spearman},
};
use isochrone_data::Dataset;
use serde::{Deserialize, Serialize};

/// Pairs that are compared.
const PAIRS: usize = 2000;
/// Relative differences are those of pairs that are farther apart, in steps.
const MIN_STEPS: f64 = 2.0;
/// Random stream of pairs; learning draws from others.
const STREAM: u64 = 2;

/// How two distances agree on recorded states. Numbers that do not exist are NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Random pairs with a path, according to both.
    pub pairs: usize,
    /// Rank correlation over them.
    pub spearman: f64,
    /// Median of |reading - teacher| / teacher over those more than two steps apart.
    pub median_relative_difference: f64,
    /// Share of random pairs of which both say that there is a path, or that there is none.
    pub same_reachability: f64,
    /// Median reading of one recorded step.
    pub one_step: f64,
    /// What the teacher reads there.
    pub teacher_one_step: f64,
}

impl Agreement {
    /// Whether all of its numbers exist.
    pub(super) fn is_finite(&self) -> bool {
        let Self { spearman, median_relative_difference, one_step, teacher_one_step, .. } = *self;
        [spearman, median_relative_difference, one_step, teacher_one_step].into_iter().all(f64::is_finite)
    }

    /// Compares a distance with its teacher on random pairs of states, and on recorded transitions.
    ///
    /// # Errors
    /// If one of them is about states of another width than the data have.
    pub fn of(
        distance: &dyn TemporalDistance,
        teacher: &dyn TemporalDistance,
        data: &Dataset,
        seed: u64,
    ) -> Result<Self, ShapeError> {
        let (index, width) = (data.index(), data.spec().observation.width);
        let random = &mut rng::stream(seed, STREAM);
        let mut states = || -> Vec<f32> {
            let state = |_| data.state(rng::below(random, index.n_states() as usize) as u64);
            (0..PAIRS).flat_map(state).copied().collect()
        };
        let (from, to) = (states(), states());
        let (read, taught) = (distance.paired_steps(&from, &to)?, teacher.paired_steps(&from, &to)?);
        let same = read.iter().zip(&taught).filter(|(a, b)| a.is_finite() == b.is_finite()).count();
        let both = read.into_iter().zip(taught).filter(|(a, b)| a.is_finite() && b.is_finite());
        let (read, taught): (Vec<f64>, Vec<f64>) = both.unzip();
        let far = read.iter().zip(&taught).filter(|(_, taught)| **taught > MIN_STEPS);
        let differences = far.map(|(read, taught)| (read / taught - 1.0).abs()).collect();

        let (mut here, mut next) = (Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let transition = rng::below(random, index.n_transitions() as usize) as u64;
            let (episode, row) = index.row_of_transition(transition);
            let rows = &data.episode(episode).observations[row * width..][..2 * width];
            here.extend(&rows[..width]);
            next.extend(&rows[width..]);
        }
        Ok(Self {
            pairs: read.len(),
            spearman: spearman(&read, &taught),
            median_relative_difference: median(differences),
            same_reachability: same as f64 / PAIRS as f64,
            one_step: median(distance.paired_steps(&here, &next)?),
            teacher_one_step: median(teacher.paired_steps(&here, &next)?),
        })
    }
}
