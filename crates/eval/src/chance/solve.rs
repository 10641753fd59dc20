//! The stochastic shortest path with a price of failing.

use super::problem::Problem;

/// Values that change by less have converged, in steps.
const TOLERANCE: f64 = 1e-4;
/// The maximum number of sweeps; a maze takes about ten.
const MAX_SWEEPS: usize = 4000;

/// What to do at a landmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Go straight to the goal.
    Goal,
    /// Take the move with this index.
    Move(u32),
    /// Jump on purpose.
    Enter,
    /// Nothing known leads to the goal at a price below that of failing.
    None,
}

/// What jumps are expected to lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// By counted outcomes.
    Counted,
    /// As moves that lead wherever one wants, as in a shortest path over recorded transitions.
    Wished,
}

/// The goal, as seen from landmarks: the steps straight to it, from those that are near.
pub type Ends = [(u32, f32)];

/// The values of all landmarks for one goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The expected steps to the goal, plus the price of failing times its probability.
    pub values: Vec<f64>,
    /// What to do.
    pub choices: Vec<Choice>,
}

/// Minimizes the expected number of steps, where failing costs `price` steps:
///
/// ```text
/// V(a) = min over moves a -> b of  c + (1 - h) V(b) + h (sum_e p_e V(e) + u price),    V <= price
/// ```
///
/// There is no discount: one of 0.99 gambles wherever the safe path is longer than about a hundred
/// steps. `extra_steps` are added to moves, by their index; empty for none.
///
/// Values start at the price and only decrease. Landmarks are updated in the order of their values,
/// so that a sweep carries values all along deterministic paths.
pub fn solve(problem: &Problem, ends: &Ends, price: f64, outlook: Outlook, extra_steps: &[f32]) -> Solution {
    let n = problem.n_landmarks();
    let mut to_goal = vec![f64::INFINITY; n];
    for &(landmark, steps) in ends {
        to_goal[landmark as usize] = to_goal[landmark as usize].min(f64::from(steps));
    }
    let mut values: Vec<f64> = to_goal.iter().map(|steps| steps.min(price)).collect();
    let mut order: Vec<u32> = (0..n as u32).collect();
    for _ in 0..MAX_SWEEPS {
        order.sort_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]).then(a.cmp(b)));
        let mut largest_change = 0f64;
        let mut after_jump = jump_values(problem, &values, price, outlook);
        let mut until_jumps = n / 8;
        for &landmark in &order {
            let landmark = landmark as usize;
            let best = best(problem, landmark, &values, &after_jump, outlook, extra_steps).0;
            let value = best.min(to_goal[landmark]).min(price);
            largest_change = largest_change.max(values[landmark] - value);
            values[landmark] = values[landmark].min(value);
            until_jumps = until_jumps.saturating_sub(1);
            if until_jumps == 0 && !after_jump.is_empty() {
                after_jump = jump_values(problem, &values, price, outlook);
                until_jumps = n / 8 + 1;
            }
        }
        if largest_change < TOLERANCE {
            break;
        }
    }
    let after_jump = jump_values(problem, &values, price, outlook);
    let choice = |landmark: usize| {
        let (value, choice) = best(problem, landmark, &values, &after_jump, outlook, extra_steps);
        match to_goal[landmark] <= value {
            true if to_goal[landmark] <= price => Choice::Goal,
            false if value < price => choice,
            _ => Choice::None,
        }
    };
    let choices = (0..n).map(choice).collect();
    Solution { values, choices }
}

/// Returns the value of a jump from each region.
fn jump_values(problem: &Problem, values: &[f64], price: f64, outlook: Outlook) -> Vec<f64> {
    let value = |landing: u32| values[landing as usize];
    let of = |outcomes: &super::problem::Outcomes| match outlook {
        Outlook::Counted => outcomes.mean(value, price),
        Outlook::Wished => outcomes.landings.iter().map(|&(landing, _)| value(landing)).fold(price, f64::min),
    };
    problem.outcomes().iter().map(of).collect()
}

/// Returns the best move from a landmark and its value. Ties are broken by index.
fn best(
    problem: &Problem,
    landmark: usize,
    values: &[f64],
    after_jump: &[f64],
    outlook: Outlook,
    extra_steps: &[f32],
) -> (f64, Choice) {
    let mut best = (f64::INFINITY, Choice::None);
    for index in problem.from(landmark) {
        let step = &problem.moves()[index];
        let straight = values[step.to as usize];
        let hazard = f64::from(step.hazard);
        let ahead = match outlook {
            Outlook::Counted if hazard > 0.0 => {
                (1.0 - hazard) * straight + hazard * after_jump[problem.region(landmark)]
            }
            _ => straight,
        };
        let extra = extra_steps.get(index).copied().unwrap_or(0.0);
        let value = f64::from(step.steps + extra) + ahead;
        if value < best.0 {
            best = (value, Choice::Move(index as u32));
        }
    }
    if problem.is_entry(landmark) {
        let value = 1.0 + after_jump[problem.region(landmark)];
        if value < best.0 {
            best = (value, Choice::Enter);
        }
    }
    best
}
