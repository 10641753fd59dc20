//! Agreement of a distilled distance with its teacher.

use isochrone_core::{
    ShapeError, TemporalDistance, rng,
    statistics::{median, spearman},
};
use isochrone_data::Dataset;
use serde::{Deserialize, Serialize};

/// The number of pairs that are compared.
const PAIRS: usize = 2000;
/// The minimum distance in steps of pairs whose relative difference is measured.
const MIN_STEPS: f64 = 2.0;
/// The random stream of pairs; training uses others.
const STREAM: u64 = 2;

/// The agreement of two distances on recorded states. Undefined values are NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of random pairs that are reachable according to both.
    pub pairs: usize,
    /// The rank correlation over these pairs.
    pub spearman: f64,
    /// The median of |distance - teacher| / teacher over pairs more than two steps apart.
    pub median_relative_difference: f64,
    /// The fraction of random pairs whose reachability is the same according to both.
    pub same_reachability: f64,
    /// The median distance of one recorded step.
    pub one_step: f64,
    /// The teacher's median distance of one recorded step.
    pub teacher_one_step: f64,
}

impl Agreement {
    /// Whether all values are defined.
    pub(super) fn is_finite(&self) -> bool {
        let Self { spearman, median_relative_difference, one_step, teacher_one_step, .. } = *self;
        [spearman, median_relative_difference, one_step, teacher_one_step].into_iter().all(f64::is_finite)
    }

    /// Compares a distance with its teacher on random pairs of states and on recorded transitions.
    ///
    /// # Errors
    /// If the states of one of them and of the dataset have different widths.
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
        let (student, taught) = (distance.paired_steps(&from, &to)?, teacher.paired_steps(&from, &to)?);
        let same = student.iter().zip(&taught).filter(|(a, b)| a.is_finite() == b.is_finite()).count();
        let both = student.into_iter().zip(taught).filter(|(a, b)| a.is_finite() && b.is_finite());
        let (student, taught): (Vec<f64>, Vec<f64>) = both.unzip();
        let far = student.iter().zip(&taught).filter(|(_, taught)| **taught > MIN_STEPS);
        let differences = far.map(|(student, taught)| (student / taught - 1.0).abs()).collect();

        let (mut here, mut next) = (Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let transition = rng::below(random, index.n_transitions() as usize) as u64;
            let (episode, row) = index.row_of_transition(transition);
            let rows = &data.episode(episode).observations[row * width..][..2 * width];
            here.extend(&rows[..width]);
            next.extend(&rows[width..]);
        }
        Ok(Self {
            pairs: student.len(),
            spearman: spearman(&student, &taught),
            median_relative_difference: median(differences),
            same_reachability: same as f64 / PAIRS as f64,
            one_step: median(distance.paired_steps(&here, &next)?),
            teacher_one_step: median(teacher.paired_steps(&here, &next)?),
        })
    }
}
