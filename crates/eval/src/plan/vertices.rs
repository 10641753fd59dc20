//! The choice of the dataset states that a planner searches.

use super::Transitions;
use crate::{quantile::at_quantile, refined::covering_rows};
use isochrone_core::{TemporalDistance, rng};
use isochrone_data::Dataset;

/// How the states of a planner are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vertices {
    /// Uniformly at random, so that their density is that of the data: a seldom visited corridor
    /// may have none.
    #[default]
    Random,
    /// Such that every dataset state is near one of them, by the hop metric of the refined
    /// distance.
    Coverage,
    /// Like coverage, among the states on parts of trajectories that moved efficiently: their ends
    /// are almost as far apart in time as those of the fastest motion of as many steps.
    Efficient,
}

/// The maximum number of values of the states that are compared for coverage.
const MAX_COVERED_VALUES: usize = 1 << 21;
/// The maximum number of windows whose efficiency is evaluated.
const MAX_WINDOWS: usize = 100_000;
/// The quantile of the distance over a window that counts as the fastest motion.
const FASTEST_QUANTILE: f64 = 0.95;
/// The minimum distance over an efficient window, as a share of that of the fastest motion.
const MIN_EFFICIENCY: f32 = 0.9;

impl Vertices {
    /// Chooses at most `n` transitions, which depend only on the seed. `window_steps` is the length
    /// of the parts of trajectories whose efficiency is compared by the distance.
    pub fn choose(
        self,
        distance: &dyn TemporalDistance,
        data: &Dataset,
        n: usize,
        window_steps: usize,
        seed: u64,
    ) -> Transitions {
        let total = data.index().n_transitions() as usize;
        let candidates = match self {
            _ if n >= total => return Transitions::sample(data, n, seed),
            Self::Random => return Transitions::sample(data, n, seed),
            Self::Coverage => {
                sample(total, (MAX_COVERED_VALUES / data.spec().observation.width).max(n), seed)
            }
            Self::Efficient => efficient(distance, data, window_steps, seed),
        };
        let row = |transition: usize| {
            let (episode, row) = data.index().row_of_transition(transition as u64);
            data.index().states(episode).start as u32 + row as u32
        };
        let rows: Vec<u32> = candidates.into_iter().map(row).collect();
        Transitions::of_rows(data, &covering_rows(data, &rows, n, seed))
    }
}

/// Returns the transitions in the middle of efficient windows, in order; all sampled ones if no
/// episode is as long as a window, or no window has a finite distance.
fn efficient(distance: &dyn TemporalDistance, data: &Dataset, window_steps: usize, seed: u64) -> Vec<usize> {
    let index = data.index();
    let sampled = sample(index.n_transitions() as usize, MAX_WINDOWS, seed);
    let window = window_steps.max(2);
    let (mut from, mut to, mut middles) = (Vec::new(), Vec::new(), Vec::new());
    for &transition in &sampled {
        let (episode, row) = index.row_of_transition(transition as u64);
        let before = window / 2;
        if row >= before && row - before + window <= index.steps(episode) {
            let first = index.states(episode).start + (row - before) as u64;
            from.extend(data.state(first));
            to.extend(data.state(first + window as u64));
            middles.push(transition);
        }
    }
    // A network may have overflowed at some states.
    let windows: Vec<(usize, f32)> = middles
        .into_iter()
        .zip(distance.paired_nats(&from, &to))
        .filter(|(_, nats)| nats.is_finite())
        .collect();
    let mut nats: Vec<f32> = windows.iter().map(|(_, nats)| *nats).collect();
    let Some(fastest) = at_quantile(&mut nats, FASTEST_QUANTILE, f32::total_cmp) else { return sampled };
    let is_efficient = |(_, nats): &(usize, f32)| *nats >= fastest * MIN_EFFICIENCY;
    windows.into_iter().filter(is_efficient).map(|(transition, _)| transition).collect()
}

/// Returns at most `max` numbers below `n`, in order: all of them, or a random sample without
/// repetition.
fn sample(n: usize, max: usize, seed: u64) -> Vec<usize> {
    if n <= max {
        return (0..n).collect();
    }
    let mut random = rng::stream(seed, 3);
    let mut drawn: Vec<usize> = (0..max).map(|_| rng::below(&mut random, n)).collect();
    drawn.sort_unstable();
    drawn.dedup();
    drawn
}
