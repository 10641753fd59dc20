//! What a teacher does at states of a dataset.

use super::{Advantages, PolicyDistillConfig};
use isochrone_core::{GoalPolicy, TemporalDistance, rng};
use isochrone_data::Dataset;

/// The number of goals per call of the teacher. A planner searches once for each goal.
const GOALS_PER_CALL: usize = 32;
/// One start in this many is near its goal.
const NEAR_EVERY: usize = 4;
/// The maximum number of recorded steps from a near start to its goal, plus one, for a policy.
const MAX_NEAR_STEPS: usize = 32;
/// The random stream of goals.
const GOAL_STREAM: u64 = 1 << 34;
/// The first random stream of starts.
const START_STREAM: u64 = GOAL_STREAM + 1;

/// What a student imitates.
#[derive(Clone, Copy)]
pub enum Teacher<'a> {
    /// The actions of a policy.
    Policy(&'a dyn GoalPolicy),
    /// Waypoints of the data, weighted by their advantage in this distance.
    Data(&'a dyn TemporalDistance, Advantages),
}

impl Teacher<'_> {
    /// The width of an observation.
    pub fn observation_width(&self) -> usize {
        match self {
            Self::Policy(policy) => policy.observation_width(),
            Self::Data(distance, _) => distance.width(),
        }
    }

    /// The maximum number of recorded steps from a near start to its goal, plus one. Waypoints of
    /// the data that end at the goal have the largest weights: with as many near starts, the
    /// network would learn little else.
    fn max_near_steps(&self) -> usize {
        match self {
            Self::Policy(_) => MAX_NEAR_STEPS,
            Self::Data(..) => usize::MAX,
        }
    }
}

/// Actions of a teacher, row by row.
pub struct ActionPool {
    /// `[n, observation width]`
    pub observations: Vec<f32>,
    /// `[n, observation width]`
    pub goals: Vec<f32>,
    /// `[n, action width]`, in the units of the dataset.
    pub actions: Vec<f32>,
    /// `[n]`; empty if all rows have the same weight.
    pub weights: Vec<f32>,
    /// The first row with a goal that is held out to measure the agreement with the teacher.
    pub first_held_out: usize,
}

impl ActionPool {
    /// Lets the teacher act at random states towards random goals of the dataset; one goal in
    /// twenty, and at least one, is held out. Some starts were recorded shortly before their goal:
    /// random starts are hardly ever near, but all episodes end there.
    pub fn draw(teacher: Teacher<'_>, data: &Dataset, config: &PolicyDistillConfig) -> Self {
        let n_states = data.index().n_states() as usize;
        let draw = |random: &mut _| rng::below(random, n_states) as u64;
        let random = &mut rng::stream(config.seed, GOAL_STREAM);
        let drawn: Vec<u64> = (0..config.goals).map(|_| draw(random)).collect();
        let before = |goal: u64, random: &mut _| {
            let (_, row) = data.index().row_of_state(goal);
            goal - rng::below(random, teacher.max_near_steps().min(row + 1)) as u64
        };
        let n_held_out = (config.goals / 20).max(1);
        let mut pool = Self {
            observations: Vec::new(),
            goals: Vec::new(),
            actions: Vec::new(),
            weights: Vec::new(),
            first_held_out: (config.goals - n_held_out) * config.starts_per_goal,
        };
        for (call, drawn) in drawn.chunks(GOALS_PER_CALL).enumerate() {
            let random = &mut rng::stream(config.seed, START_STREAM + call as u64);
            let (mut observations, mut goals, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
            for &goal in drawn {
                for start in 0..config.starts_per_goal {
                    let is_near = start % NEAR_EVERY == 0;
                    let start = if is_near { before(goal, random) } else { draw(random) };
                    observations.extend(data.state(start));
                    goals.extend(data.state(goal));
                    pairs.push((start, goal));
                }
            }
            match teacher {
                Teacher::Policy(policy) => pool.actions.extend(policy.actions(&observations, &goals)),
                Teacher::Data(distance, advantages) => {
                    let rows = (&*observations, &*goals);
                    let (displacements, weights) = advantages.displacements(distance, data, &pairs, rows);
                    pool.actions.extend(displacements);
                    pool.weights.extend(weights);
                }
            }
            pool.observations.extend(observations);
            pool.goals.extend(goals);
        }
        pool
    }

    /// Returns the sampler of rows for training.
    pub fn sampler(&self) -> RowSampler {
        let of_training = &self.weights[..self.weights.len().min(self.first_held_out)];
        let sums = of_training.iter().scan(0.0, |sum, &weight| {
            *sum += f64::from(weight);
            Some(*sum)
        });
        RowSampler { rows: self.first_held_out, cumulative: sums.collect() }
    }
}

/// Samples rows in proportion to their weights.
pub struct RowSampler {
    rows: usize,
    /// The sums of the weights up to each row; empty if all are the same.
    cumulative: Vec<f64>,
}

impl RowSampler {
    /// Whether there is a row to sample.
    pub fn is_empty(&self) -> bool {
        self.cumulative.last() == Some(&0.0)
    }

    /// Samples rows with a random stream.
    pub fn draw(&self, count: usize, (seed, stream): (u64, u64)) -> Vec<usize> {
        let random = &mut rng::stream(seed, stream);
        let mut draw = || match self.cumulative.last() {
            None => rng::below(random, self.rows),
            Some(total) => {
                let at = rng::unit_f64(random) * total;
                self.cumulative.partition_point(|&sum| sum <= at).min(self.rows - 1)
            }
        };
        (0..count).map(|_| draw()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sampled_in_proportion_to_their_weights() {
        let weights = vec![1.0, 0.0, 3.0, 100.0];
        let pool = ActionPool {
            observations: Vec::new(),
            goals: Vec::new(),
            actions: Vec::new(),
            weights,
            first_held_out: 3,
        };
        let mut counts = [0; 3];
        pool.sampler().draw(4000, (1, 0)).into_iter().for_each(|row| counts[row] += 1);
        assert_eq!(counts[1], 0);
        // 1000, with a standard deviation of 27.
        assert!((900..1100).contains(&counts[0]), "{counts:?}");
        let nothing = ActionPool { weights: vec![0.0; 3], first_held_out: 3, ..pool };
        assert!(nothing.sampler().is_empty());
    }
}
