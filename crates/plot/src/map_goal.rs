//! The choice of a goal for maps.

use crate::state_map::evenly_spaced;
use isochrone_core::{TemporalDistance, statistics::median};
use isochrone_data::Dataset;

/// States that are compared.
const CANDIDATES: u64 = 200;

/// A state in the middle of a dataset: many states lead to it, and it leads to many.
#[derive(Debug, Clone, PartialEq)]
pub struct CentralState {
    /// The episode, counted from 0.
    pub episode: usize,
    /// The step within the episode.
    pub step: usize,
    /// The observation.
    pub state: Vec<f32>,
    /// The share of the sampled states with a path to it.
    pub reached_from: f64,
    /// The share of the sampled states with a path from it.
    pub leads_to: f64,
}

impl CentralState {
    /// Finds the state with paths from and to the most sampled states of a dataset, by the smaller
    /// of both numbers; among equals, the one with the smallest median distance in both directions.
    /// Samples are evenly spaced over the dataset. Returns `None` if the dataset is empty.
    pub fn find(data: &Dataset, distance: &dyn TemporalDistance) -> Option<Self> {
        let numbers = evenly_spaced(data, CANDIDATES);
        let states: Vec<f32> = numbers.iter().flat_map(|&number| data.state(number)).copied().collect();
        let steps = distance.all_pairs_steps(&states, &states).expect("observations are full states");
        let n = numbers.len();
        let finite = |steps: &f64| steps.is_finite();
        let candidate = |goal: usize| {
            let to: Vec<f64> = (0..n).map(|from| steps[from * n + goal]).filter(finite).collect();
            let from: Vec<f64> = steps[goal * n..][..n].iter().copied().filter(finite).collect();
            (goal, to.len(), from.len(), median([to, from].concat()))
        };
        let better = |a: &(usize, usize, usize, f64), b: &(usize, usize, usize, f64)| {
            b.1.min(b.2).cmp(&a.1.min(a.2)).then(a.3.total_cmp(&b.3))
        };
        let (goal, to, from, _) = (0..n).map(candidate).min_by(better)?;
        let number = numbers[goal];
        let (episode, step) = data.index().row_of_state(number);
        Some(Self {
            episode,
            step,
            state: data.state(number).to_vec(),
            reached_from: to as f64 / n as f64,
            leads_to: from as f64 / n as f64,
        })
    }

    /// Describes the state for a caption.
    pub fn describe(&self) -> String {
        format!(
            "step {} of episode {}, the most central of the sampled states ({:.0} % of them lead to it, it leads to {:.0} %)",
            self.step,
            self.episode,
            100.0 * self.reached_from,
            100.0 * self.leads_to
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_core::{Discount, ShapeError};

    /// Steps along a line, forward only.
    struct Forward;

    impl TemporalDistance for Forward {
        fn width(&self) -> usize {
            1
        }

        fn discount(&self) -> Discount {
            Discount::new(0.9).unwrap()
        }

        fn paired_nats(&self, _: &[f32], _: &[f32]) -> Vec<f32> {
            unreachable!("all pairs are compared")
        }

        fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
            self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
            let ahead = |from: f32, to: f32| if to < from { f32::INFINITY } else { to - from };
            from.iter().flat_map(|&from| to.iter().map(move |&to| ahead(from, to))).collect()
        }
    }

    #[test]
    fn the_goal_is_in_the_middle_of_the_data() {
        let episodes = [vec![9.0f32, 11.0], vec![0.0, 5.0, 10.0]].map(|rows| (rows, Vec::<f32>::new()));
        let data = Dataset::from_arrays(1, 0, episodes).unwrap();
        let goal = CentralState::find(&data, &Forward).unwrap();
        assert_eq!((goal.episode, goal.step, goal.state.as_slice()), (0, 0, &[9.0][..]));
        assert_eq!((goal.reached_from, goal.leads_to), (0.6, 0.6));
        assert!(goal.describe().starts_with("step 0 of episode 0, the most central"), "{}", goal.describe());
    }
}
