//! A planner for environments with chance.

use super::{
    ChanceError, ChanceModel, Forecast,
    aim::{Aim, aim},
    plan::{Objective, Plan, PlanValues},
    solve::Choice,
    watch::Watch,
};
use crate::plan::{Follower, Waypoints, goal_cache::GoalCache};
use isochrone_core::ShapeError;
use isochrone_data::Dataset;
use rayon::prelude::*;
use std::sync::Arc;

/// A planner that minimizes expected steps with a price of failing, or maximizes the probability of
/// arriving in time. Waypoints are recorded states on the plan; the farthest that can be reached
/// along a straight line without a hazard.
///
/// In the course of an episode it compares experience with the plan: if progress stalls, the moves
/// at that place get dearer, and it plans anew.
pub struct StochasticPlanner {
    model: Arc<ChanceModel>,
    data: Dataset,
    objective: Objective,
    plans: GoalCache<Plan>,
}

/// The forecasts of two plans from the same state to the same goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecasts {
    /// Of the plan that is followed.
    pub safe: Forecast,
    /// Of the shortest path, in which jumps are taken for moves that lead wherever one wants.
    pub gamble: Forecast,
}

/// A waypoint of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Waypoint {
    /// The row of the dataset, counted over all episodes.
    pub row: u64,
    /// How it is reached: the source of the move, or `enter` to jump on purpose.
    pub by: &'static str,
    /// The steps from the waypoint before.
    pub steps: f64,
    /// The probability of a jump before it is reached.
    pub hazard: f64,
}

impl StochasticPlanner {
    /// Creates a planner. `model` must have been fitted to `data`.
    ///
    /// # Errors
    /// If the price of failing or the number of steps is not positive.
    pub fn new(model: Arc<ChanceModel>, data: &Dataset, objective: Objective) -> Result<Self, ChanceError> {
        let (field, value) = match objective {
            Objective::PriceOfFailing(price) => ("price_of_failing", price),
            Objective::WithinSteps(steps) => ("within_steps", steps as f64),
            Objective::Gamble => ("", 1.0),
        };
        if !(value.is_finite() && value > 0.0) {
            return Err(ChanceError::Setting { field, value });
        }
        // A finite horizon has values for every number of steps.
        let layers = if let Objective::WithinSteps(steps) = objective { steps + 1 } else { 1 };
        let plans = GoalCache::new(model.landmark_rows.len() * layers);
        Ok(Self { model, data: data.clone(), objective, plans })
    }

    /// Returns the model.
    pub fn model(&self) -> &ChanceModel {
        &self.model
    }

    /// Returns the forecasts of the plan and of the gamble from a state to a goal.
    ///
    /// # Errors
    /// If a state has the wrong width.
    pub fn forecasts(&self, from: &[f32], goal: &[f32]) -> Result<Forecasts, ChanceError> {
        let (start, _) = self.model.points.nearest_one(&self.model.project(from)?);
        let gamble = Plan::new(&self.model, self.model.project(goal)?, Objective::Gamble, &[]);
        Ok(Forecasts {
            safe: self.plan_to(goal)?.forecast(&self.model, start),
            gamble: gamble.forecast(&self.model, start),
        })
    }

    /// Returns the plan from a state to a goal: the landmark nearest to the state, and the moves
    /// from there until the goal is straight ahead or a jump is entered on purpose. `None` if no
    /// path is known.
    ///
    /// # Errors
    /// If a state has the wrong width.
    pub fn path(&self, from: &[f32], goal: &[f32]) -> Result<Option<Vec<Waypoint>>, ChanceError> {
        let (model, plan) = (&self.model, self.plan_to(goal)?);
        let (mut at, hop) = model.points.nearest_one(&model.project(from)?);
        let row = |landmark: u32| u64::from(model.landmark_rows[landmark as usize]);
        let mut path = vec![Waypoint { row: row(at), by: "nearest", steps: hop.into(), hazard: 0.0 }];
        let mut left = self.within();
        // A plan at a price never returns to a landmark.
        while path.len() <= model.landmark_rows.len() {
            let (choice, taken) = plan.choice(model, at, left);
            left = left.saturating_sub(taken);
            match choice {
                Choice::None => return Ok(None),
                Choice::Goal => return Ok(Some(path)),
                Choice::Enter => {
                    let row = model.entry_rows[at as usize].map_or(row(at), u64::from);
                    path.push(Waypoint { row, by: "enter", steps: 1.0, hazard: 1.0 });
                    return Ok(Some(path));
                }
                Choice::Move(index) => {
                    let step = &model.problem().moves()[index as usize];
                    at = step.to;
                    let (by, steps, hazard) = (step.source.name(), step.steps.into(), step.hazard.into());
                    path.push(Waypoint { row: row(at), by, steps, hazard });
                }
            }
        }
        Ok(None)
    }

    /// Returns the steps of an episode; without a horizon, it does not matter.
    fn within(&self) -> usize {
        match self.objective {
            Objective::WithinSteps(steps) => steps,
            _ => 0,
        }
    }

    fn plan_to(&self, goal: &[f32]) -> Result<Arc<Plan>, ShapeError> {
        let projected = self.model.project(goal)?;
        let plan = |goal: &[f32]| vec![Plan::new(&self.model, goal.to_vec(), self.objective, &[])];
        Ok(self.plans.get(&projected, projected.len(), plan).remove(0))
    }

    fn state<'a>(&'a self, aim: Aim, goal: &'a [f32]) -> &'a [f32] {
        match aim {
            Aim::Row(row) => self.data.state(u64::from(row)),
            Aim::Goal | Aim::NoPath => goal,
        }
    }

    fn aims(&self, from: &[f32], goals: &[f32]) -> Vec<Aim> {
        let width = self.model.width();
        let rows = from.par_chunks_exact(width).zip(goals.par_chunks_exact(width));
        let aim_of = |(from, goal): (&[f32], &[f32])| {
            let here = self.model.project(from).unwrap_or_else(ShapeError::panic);
            let plan = self.plan_to(goal).unwrap_or_else(ShapeError::panic);
            aim(&self.model, &plan, &here, self.within())
        };
        rows.map(aim_of).collect()
    }
}

impl Waypoints for StochasticPlanner {
    fn next(&self, from: &[f32], goals: &[f32]) -> Vec<f32> {
        let goals_of = goals.chunks_exact(self.model.width());
        let aims = self.aims(from, goals).into_iter().zip(goals_of);
        aims.flat_map(|(aim, goal)| self.state(aim, goal)).copied().collect()
    }

    fn is_reachable(&self, from: &[f32], goals: &[f32]) -> Vec<bool> {
        self.aims(from, goals).into_iter().map(|aim| aim != Aim::NoPath).collect()
    }

    fn start_episodes(&self, n_episodes: usize) -> Option<Box<dyn Follower + '_>> {
        let courses = (0..n_episodes).map(|_| Course::default()).collect();
        Some(Box::new(Courses { planner: self, courses }))
    }
}

/// Several episodes.
struct Courses<'a> {
    planner: &'a StochasticPlanner,
    courses: Vec<Course>,
}

/// The course of one episode.
#[derive(Default)]
struct Course {
    goal: Vec<f32>,
    plan: Option<Arc<Plan>>,
    watch: Watch,
    /// The number of steps so far.
    steps: usize,
}

impl Course {
    /// Returns the next waypoint.
    fn next(&mut self, planner: &StochasticPlanner, from: &[f32], goal: &[f32]) -> Aim {
        let model = &*planner.model;
        if self.goal != goal {
            *self = Self { goal: goal.to_vec(), ..Self::default() };
        }
        let here = model.project(from).unwrap_or_else(ShapeError::panic);
        let plan = match self.plan.take() {
            Some(plan) => plan,
            None => planner.plan_to(goal).unwrap_or_else(ShapeError::panic),
        };
        let plan = self.after_watching(planner, &here, plan);
        let left = planner.within().saturating_sub(self.steps);
        let aim = aim(model, &plan, &here, left);
        self.plan = Some(plan);
        self.steps += 1;
        aim
    }

    /// Returns the plan, or a new one if progress stalls.
    fn after_watching(&mut self, planner: &StochasticPlanner, here: &[f32], plan: Arc<Plan>) -> Arc<Plan> {
        let PlanValues::Steady(solution) = &plan.values else { return plan };
        let model = &*planner.model;
        let landmark = model.points.nearest_one(here).0 as usize;
        let next = match solution.choices[landmark] {
            Choice::Move(index) => Some(model.problem().moves()[index as usize].to),
            _ => None,
        };
        match self.watch.observe(model, self.steps, here, solution.values[landmark], next) {
            false => plan,
            true => {
                let goal = plan.goal.clone();
                Arc::new(Plan::new(model, goal, planner.objective, &self.watch.extra_steps))
            }
        }
    }
}

impl Follower for Courses<'_> {
    fn next(&mut self, episodes: &[usize], from: &[f32], goals: &[f32]) -> Vec<f32> {
        let (planner, width) = (self.planner, self.planner.model.width());
        let mut rows = vec![None; self.courses.len()];
        episodes.iter().enumerate().for_each(|(row, &episode)| rows[episode] = Some(row));
        let values_of = |row: usize| row * width..(row + 1) * width;
        let aims: Vec<Option<(usize, Aim)>> = self
            .courses
            .par_iter_mut()
            .zip(rows)
            .map(|(course, row)| {
                let row = row?;
                Some((row, course.next(planner, &from[values_of(row)], &goals[values_of(row)])))
            })
            .collect();
        let mut next = goals.to_vec();
        for (row, aim) in aims.into_iter().flatten() {
            next[values_of(row)].copy_from_slice(planner.state(aim, &goals[values_of(row)]));
        }
        next
    }
}
