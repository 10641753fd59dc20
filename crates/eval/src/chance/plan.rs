//! The plan for one goal.

use super::{
    ChanceModel,
    forecast::{Forecast, forecast, forecast_within},
    horizon::Horizon,
    solve::{Choice, Outlook, Solution, solve},
};

/// What a plan aims for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Objective {
    /// The least expected number of steps, where failing costs as many steps as given.
    PriceOfFailing(f64),
    /// The largest probability of arriving within a number of steps of an episode.
    WithinSteps(usize),
    /// The shortest path, in which a jump leads wherever one wants: a gamble, for comparison.
    Gamble,
}

/// The price of failing of a gamble, which is larger than any path: it only decides between no
/// path and some path.
const NO_PATH: f64 = 1e6;

/// The values of all landmarks for one goal.
pub(super) struct Plan {
    /// The goal in the coordinates of the metric.
    pub goal: Vec<f32>,
    /// The landmarks from which the goal is straight ahead, and the steps.
    ends: Vec<(u32, f32)>,
    pub values: PlanValues,
}

pub(super) enum PlanValues {
    /// The same at all times.
    Steady(Solution),
    /// By the steps that are left.
    Within(Horizon),
}

impl Plan {
    /// Plans to a projected goal. Moves take `extra_steps` more, by their index; empty for none.
    pub fn new(model: &ChanceModel, goal: Vec<f32>, objective: Objective, extra_steps: &[f32]) -> Self {
        let ends = model.ends(&goal);
        let steady =
            |price, outlook| PlanValues::Steady(solve(model.problem(), &ends, price, outlook, extra_steps));
        let values = match objective {
            Objective::PriceOfFailing(price) => steady(price, Outlook::Counted),
            Objective::Gamble => steady(NO_PATH, Outlook::Wished),
            Objective::WithinSteps(steps) => PlanValues::Within(Horizon::new(model.problem(), &ends, steps)),
        };
        Self { goal, ends, values }
    }

    /// Returns what to do at a landmark with a number of steps left, and the steps that it takes.
    pub fn choice(&self, model: &ChanceModel, landmark: u32, left: usize) -> (Choice, usize) {
        match &self.values {
            PlanValues::Steady(solution) => (solution.choices[landmark as usize], 0),
            PlanValues::Within(horizon) => horizon.choice(model.problem(), landmark as usize, left),
        }
    }

    /// Returns the forecast of following the plan from a landmark.
    pub fn forecast(&self, model: &ChanceModel, start: u32) -> Forecast {
        match &self.values {
            PlanValues::Steady(solution) => forecast(model.problem(), solution, &self.ends, start),
            PlanValues::Within(horizon) => forecast_within(model.problem(), horizon, start),
        }
    }
}
