//! Forecasts: how likely a plan reaches its goal, and after how many steps.

use super::{
    horizon::Horizon,
    problem::Problem,
    solve::{Choice, Ends, Solution},
};
use isochrone_core::exact::{TabularMdp, hitting_statistics};
use std::collections::BTreeMap;

/// What a plan leads to, according to counted outcomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The probability of reaching the goal.
    pub success: f64,
    /// The expected number of steps if the goal is reached; infinite if it cannot be.
    pub steps: f64,
}

impl Forecast {
    const FAILURE: Self = Self { success: 0.0, steps: f64::INFINITY };
}

/// The states of the chain that are no landmarks.
const GOAL: usize = 0;
const FAILED: usize = 1;

/// Returns the outcomes of a choice at a landmark: the landmark or `None` for failing, the
/// probability and the steps.
fn outcomes(problem: &Problem, landmark: usize, choice: Choice) -> Vec<(Option<u32>, f64, f64)> {
    let mut found = Vec::new();
    let (jump, jump_steps) = match choice {
        Choice::Move(index) => {
            let step = &problem.moves()[index as usize];
            let hazard = f64::from(step.hazard);
            found.push((Some(step.to), 1.0 - hazard, f64::from(step.steps)));
            (hazard, f64::from(step.steps))
        }
        Choice::Enter => (1.0, 1.0),
        Choice::Goal | Choice::None => (0.0, 0.0),
    };
    if jump > 0.0 {
        let outcomes = problem.outcomes_at(landmark);
        found.extend(outcomes.landings.iter().map(|&(landing, p)| (Some(landing), jump * p, jump_steps)));
        found.push((None, jump * outcomes.unseen, jump_steps));
    }
    found.retain(|(_, probability, _)| *probability > 0.0);
    found
}

/// Returns the forecast of following a solution from a landmark for any number of steps: the
/// hitting statistics of the Markov chain of the landmarks that it can lead to.
pub fn forecast(problem: &Problem, solution: &Solution, ends: &Ends, start: u32) -> Forecast {
    let mut numbers = BTreeMap::from([(start, 2)]);
    let mut open = vec![start];
    let mut edges = vec![(GOAL, GOAL, 1.0), (FAILED, FAILED, 1.0)];
    // The mean steps of the transitions between two states.
    let mut steps: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    while let Some(landmark) = open.pop() {
        let from = numbers[&landmark];
        let choice = solution.choices[landmark as usize];
        let mut to = |to: usize, probability: f64, taken: f64| {
            edges.push((from, to, probability));
            let sum = steps.entry((from, to)).or_default();
            (sum.0, sum.1) = (sum.0 + probability * taken, sum.1 + probability);
        };
        match choice {
            Choice::Goal => to(GOAL, 1.0, straight(ends, landmark)),
            Choice::None => to(FAILED, 1.0, 0.0),
            Choice::Move(_) | Choice::Enter => {
                for (next, probability, taken) in outcomes(problem, landmark as usize, choice) {
                    let state = next.map_or(FAILED, |next| {
                        let number = numbers.len() + 2;
                        *numbers.entry(next).or_insert_with(|| {
                            open.push(next);
                            number
                        })
                    });
                    to(state, probability, taken);
                }
            }
        }
    }
    let Ok(chain) = TabularMdp::chain_from_edges(numbers.len() + 2, edges) else { return Forecast::FAILURE };
    let Ok(statistics) = hitting_statistics(&chain, &[GOAL]) else { return Forecast::FAILURE };
    let taken = |from: usize, to: usize| steps.get(&(from, to)).map_or(0.0, |(sum, p)| sum / p);
    let means = statistics.mean_if_reached(taken);
    Forecast { success: statistics.reach_probability()[2], steps: means[2] }
}

/// Returns the forecast of a plan with a finite horizon, by the probabilities of all landmarks at
/// all times.
pub fn forecast_within(problem: &Problem, horizon: &Horizon, start: u32) -> Forecast {
    let mut at: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); horizon.steps() + 1];
    at[horizon.steps()].insert(start, 1.0);
    let (mut success, mut total) = (0.0, 0.0);
    for left in (0..=horizon.steps()).rev() {
        for (landmark, mass) in std::mem::take(&mut at[left]) {
            let (choice, taken) = horizon.choice(problem, landmark as usize, left);
            if choice == Choice::Goal {
                success += mass;
                total += mass * (horizon.steps() - left + taken) as f64;
            }
            for (next, probability, _) in outcomes(problem, landmark as usize, choice) {
                if let Some(next) = next {
                    *at[left - taken].entry(next).or_default() += mass * probability;
                }
            }
        }
    }
    if success > 0.0 { Forecast { success, steps: total / success } } else { Forecast::FAILURE }
}

fn straight(ends: &Ends, landmark: u32) -> f64 {
    let own = ends.iter().filter(|(end, _)| *end == landmark);
    f64::from(own.map(|(_, steps)| *steps).fold(f32::INFINITY, f32::min))
}
