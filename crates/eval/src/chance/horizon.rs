//! The maximum probability of arriving within a number of steps.

use super::{
    problem::Problem,
    solve::{Choice, Ends},
};

/// Of paths that are equally likely to arrive, the shortest is chosen: a step costs this much
/// probability.
const PER_STEP: f32 = 1e-5;

/// Values by steps left and landmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Horizon {
    /// `[steps + 1, landmarks]`
    values: Vec<f32>,
    /// The mean value after a jump, `[steps + 1, regions]`.
    after_jump: Vec<f32>,
    /// The whole steps straight to the goal; `u32::MAX` from landmarks that are not near.
    to_goal: Vec<u32>,
    steps: usize,
}

/// Returns the whole steps of a move.
fn whole(steps: f32) -> usize {
    (steps.ceil() as usize).max(1)
}

impl Horizon {
    /// Computes the values of all landmarks for up to `steps` steps. Only this gambles exactly if
    /// the safe path takes too long.
    pub fn new(problem: &Problem, ends: &Ends, steps: usize) -> Self {
        let n = problem.n_landmarks();
        let regions = problem.outcomes().len();
        let mut to_goal = vec![u32::MAX; n];
        for &(landmark, straight) in ends {
            let straight = straight.ceil() as u32;
            to_goal[landmark as usize] = to_goal[landmark as usize].min(straight);
        }
        let mut horizon = Self {
            values: vec![0.0; (steps + 1) * n],
            after_jump: vec![0.0; (steps + 1) * regions],
            to_goal,
            steps,
        };
        for left in 0..=steps {
            for landmark in 0..n {
                horizon.values[left * n + landmark] = horizon.best(problem, landmark, left).0;
            }
            for region in 0..regions {
                let value = |landing: u32| f64::from(horizon.values[left * n + landing as usize]);
                let mean = problem.outcomes()[region].mean(value, 0.0);
                horizon.after_jump[left * regions + region] = mean as f32;
            }
        }
        horizon
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns what to do at a landmark with a number of steps left, and the steps that it takes.
    pub fn choice(&self, problem: &Problem, landmark: usize, left: usize) -> (Choice, usize) {
        let (_, choice) = self.best(problem, landmark, left.min(self.steps));
        let steps = match choice {
            Choice::Goal => self.to_goal[landmark] as usize,
            Choice::Move(index) => whole(problem.moves()[index as usize].steps),
            Choice::Enter => 1,
            Choice::None => 0,
        };
        (choice, steps)
    }

    fn best(&self, problem: &Problem, landmark: usize, left: usize) -> (f32, Choice) {
        let (n, regions) = (problem.n_landmarks(), problem.outcomes().len());
        let mut best = (0.0, Choice::None);
        let straight = self.to_goal[landmark];
        if straight as usize <= left {
            best = (1.0 - PER_STEP * straight as f32, Choice::Goal);
        }
        for index in problem.from(landmark) {
            let step = &problem.moves()[index];
            let steps = whole(step.steps);
            let Some(after) = left.checked_sub(steps) else { continue };
            let mut value = (1.0 - step.hazard) * self.values[after * n + step.to as usize];
            if step.hazard > 0.0 {
                value += step.hazard * self.after_jump[after * regions + problem.region(landmark)];
            }
            value -= PER_STEP * steps as f32;
            if value > best.0 {
                best = (value, Choice::Move(index as u32));
            }
        }
        if problem.is_entry(landmark) && left > 0 {
            let value = self.after_jump[(left - 1) * regions + problem.region(landmark)] - PER_STEP;
            if value > best.0 {
                best = (value, Choice::Enter);
            }
        }
        best
    }
}
