//! Evaluation of trained runs: rollouts with and without planners.

use crate::{
    dataset::StudyDataset,
    error::StudyError,
    jobs::Job,
    recipe::{PlannerRecipe, Recipe, SearchRecipe, Student, TrainingEvaluation, VerticesRecipe},
    results::EvalResult,
};
use isochrone_core::GoalPolicy;
use isochrone_eval::{
    chance::{Objective, StochasticPlanner},
    plan::{
        PartialGoals, PlanMethod, PlannedPolicy, PlannerConfig, RecordedPlanner, Vertices,
        WaypointDisplacements, Waypoints,
    },
    rollout::{Rollout, RolloutConfig, mean_success_steps, success_by_task},
    stats::mean,
};
use isochrone_learn::{
    distill::policy::{
        Advantages, DistilledPolicy, PolicyDistillConfig, WaypointPolicy, distill_policy, distill_waypoints,
        extract_waypoints,
    },
    evaluation::Evaluation,
    model::Model,
};
use std::{sync::Arc, time::Instant};

/// The default price of failing, relative to the step limit.
const PRICE_PER_LIMIT: f64 = 10.0;

/// One evaluation of a run: the smallest unit of work whose result is stored.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    /// The checkpoint, in gradient updates.
    pub step: u64,
    /// The planner; `None` for the policy alone.
    pub planner: Option<&'a PlannerRecipe>,
    /// Episodes of each task.
    pub episodes: u64,
    /// The inverse temperature of advantages, if the method has its own.
    pub alpha: Option<f64>,
}

impl Piece<'_> {
    /// Whether a result is that of this evaluation.
    pub fn is_done_by(&self, result: &EvalResult) -> bool {
        result.step == self.step && result.planner.as_ref() == self.planner.map(|planner| &planner.name)
    }
}

/// Returns the evaluations of a run, checkpoint by checkpoint.
pub fn pieces<'a>(recipe: &'a Recipe, job: Job<'_>, checkpoints: &[u64]) -> Vec<Piece<'a>> {
    let alpha = recipe.methods[job.method.name()].alpha;
    let mut pieces = Vec::new();
    for (later, &step) in (0..checkpoints.len()).rev().zip(checkpoints) {
        let episodes = |default: u64| recipe.episodes(later, default);
        pieces.push(Piece { step, planner: None, episodes: episodes(recipe.evaluation.episodes), alpha });
        for planner in &recipe.planners {
            let planned = recipe.planned(job.method, planner);
            if later < planned.checkpoints {
                let episodes = episodes(planned.episodes);
                pieces.push(Piece { step, planner: Some(planner), episodes, alpha });
            }
        }
    }
    pieces
}

/// Runs rollouts of a policy in the environment of a dataset, `episodes` of each task; also returns
/// the success rate of every task.
fn rollouts(
    dataset: &StudyDataset,
    policy: &dyn GoalPolicy,
    episodes: u64,
    seed: u64,
) -> (Vec<Rollout>, Vec<f64>) {
    let n_tasks = dataset.env.spec().n_tasks;
    let config = RolloutConfig { episodes: episodes * n_tasks as u64, seed };
    let rollouts = config.run(&*dataset.factory, policy);
    let success = success_by_task(&rollouts, n_tasks);
    (rollouts, success)
}

/// What acts in an evaluation.
enum Acting<'m> {
    /// The policy alone.
    Alone,
    /// The policy, towards the waypoints of a planner.
    Planned(Box<dyn Waypoints + 'm>),
    /// A planner with the policy, distilled.
    Distilled(DistilledPolicy),
    /// The policy, towards the waypoints of a network.
    Waypoints(DistilledPolicy),
}

impl Acting<'_> {
    /// Whether a network was trained for the evaluation.
    fn is_distilled(&self) -> bool {
        matches!(self, Self::Distilled(_) | Self::Waypoints(_))
    }
}

/// Evaluates policies in the environment of a dataset.
pub struct Evaluator<'a> {
    pub dataset: &'a StudyDataset,
    pub recipe: &'a Recipe,
}

impl Evaluator<'_> {
    /// Returns the success rate of every task for a policy that learns nothing: the mean over the
    /// seeds of the recipe.
    pub fn baseline(&self, policy: &dyn GoalPolicy) -> Vec<f64> {
        let success = |&seed: &u64| rollouts(self.dataset, policy, self.recipe.evaluation.episodes, seed).1;
        let by_seed: Vec<Vec<f64>> = self.task_seeds().iter().map(success).collect();
        let mean_of = |task: usize| mean(&by_seed.iter().map(|tasks| tasks[task]).collect::<Vec<_>>());
        (0..self.dataset.env.spec().n_tasks).map(mean_of).collect()
    }

    /// Returns the seeds of the tasks, one for every seed of the recipe.
    pub fn task_seeds(&self) -> Vec<u64> {
        let first = self.recipe.evaluation.task_seed + self.recipe.first_seed;
        (first..first + self.recipe.seeds).collect()
    }

    /// Evaluates a checkpoint; returns `None` if the planner needs a distance and the model has
    /// none.
    pub fn evaluate(
        &self,
        model: &Model,
        piece: Piece<'_>,
        seed: u64,
    ) -> Result<Option<EvalResult>, StudyError> {
        let policy = model.policy.as_ref().expect("datasets have actions");
        let started = Instant::now();
        let Some(acting) = self.acting(model, piece, seed)? else { return Ok(None) };
        let distilled_seconds = acting.is_distilled().then(|| started.elapsed().as_secs_f64());
        let task_seed = self.recipe.evaluation.task_seed + seed;
        let evaluate = |policy: &dyn GoalPolicy| rollouts(self.dataset, policy, piece.episodes, task_seed);
        let (rollouts, success) = match acting {
            Acting::Alone => evaluate(policy),
            Acting::Planned(planner) => evaluate(&PlannedPolicy { planner, policy }),
            Acting::Distilled(student) => evaluate(&student),
            Acting::Waypoints(network) => {
                evaluate(&WaypointPolicy::new(&network, policy).expect("both are of the data"))
            }
        };
        let returns: Vec<f64> = rollouts.iter().map(|rollout| rollout.total_reward).collect();
        Ok(Some(EvalResult {
            step: piece.step,
            planner: piece.planner.map(|planner| planner.name.clone()),
            episodes: piece.episodes,
            success,
            mean_steps: mean_success_steps(&rollouts),
            mean_return: Some(mean(&returns)),
            distilled_seconds,
        }))
    }

    /// Builds or distills what acts in an evaluation; returns `None` if it needs a distance and the
    /// model has none.
    fn acting<'m>(
        &self,
        model: &'m Model,
        piece: Piece<'_>,
        seed: u64,
    ) -> Result<Option<Acting<'m>>, StudyError> {
        let data = &self.dataset.data;
        let of_waypoints = PolicyDistillConfig { seed, ..PolicyDistillConfig::waypoints() };
        let Some(planner) = piece.planner else { return Ok(Some(Acting::Alone)) };
        if let SearchRecipe::Advantages { steps, alpha } = planner.search {
            let Some(distance) = &model.distance else { return Ok(None) };
            let alpha = piece.alpha.unwrap_or(alpha);
            let advantages = Advantages { steps, alpha, ..Advantages::default() };
            let network = extract_waypoints(distance, advantages, data, &of_waypoints, |_, _| ())?;
            return Ok(Some(Acting::Waypoints(network)));
        }
        let Some(waypoints) = self.waypoints_to_states(planner, model, seed)? else { return Ok(None) };
        Ok(Some(match planner.distilled {
            None => Acting::Planned(self.to_goals(waypoints)),
            Some(Student::Policy) => {
                let policy = model.policy.as_ref().expect("datasets have actions");
                let teacher = PlannedPolicy { planner: waypoints, policy };
                let config = PolicyDistillConfig { seed, ..PolicyDistillConfig::default() };
                Acting::Distilled(distill_policy(&teacher, &planner.name, data, &config, |_, _| ())?)
            }
            Some(Student::Waypoints) => {
                let (observation_width, goal) = (data.spec().observation.width, data.spec().goal_space());
                let teacher = WaypointDisplacements { planner: waypoints, observation_width, goal };
                Acting::Waypoints(distill_waypoints(&teacher, &planner.name, data, &of_waypoints, |_, _| ())?)
            }
        }))
    }

    /// Returns a planner for goals of tasks, which may be a slice of a state.
    fn to_goals<'m>(&self, planner: Box<dyn Waypoints + 'm>) -> Box<dyn Waypoints + 'm> {
        match self.dataset.data.spec().goal.clone() {
            None => planner,
            Some(columns) => Box::new(PartialGoals::new(planner, &self.dataset.data, columns)),
        }
    }

    /// Builds a planner of the recipe to states of the data; returns `None` if it needs a distance
    /// and the model has none.
    fn waypoints_to_states<'m>(
        &self,
        planner: &PlannerRecipe,
        model: &'m Model,
        seed: u64,
    ) -> Result<Option<Box<dyn Waypoints + 'm>>, StudyError> {
        let data = &self.dataset.data;
        if let SearchRecipe::Recorded { look_ahead_steps } = planner.search {
            let refined = self.dataset.refined()?.clone();
            return Ok(Some(Box::new(RecordedPlanner::new(refined, data, look_ahead_steps))));
        }
        if let SearchRecipe::Stochastic { price_of_failing, recorded_only } = planner.search {
            let limit = self.dataset.env.spec().max_episode_steps as f64;
            let price = price_of_failing.unwrap_or(PRICE_PER_LIMIT * limit);
            let model = self.dataset.chance(recorded_only)?;
            let planner = StochasticPlanner::new(model, data, Objective::PriceOfFailing(price))?;
            return Ok(Some(Box::new(planner)));
        }
        let config = planner_config(planner, seed);
        let Some((config, distance)) = config.zip(model.distance.as_ref()) else { return Ok(None) };
        Ok(Some(Box::new(config.build(distance, data)?)))
    }
}

/// The configuration of a planner over transitions sampled with a seed; `None` if it needs no
/// learned distance.
pub fn planner_config(planner: &PlannerRecipe, seed: u64) -> Option<PlannerConfig> {
    let (method, vertices) = match planner.search {
        SearchRecipe::Greedy { radius } => (PlanMethod::Greedy { radius }, Vertices::Random),
        SearchRecipe::Graph { edge_scale_steps, max_edge_steps, vertices } => {
            let scale = |edge_scale_steps| PlanMethod::SoftGraph { edge_scale_steps };
            let hard = max_edge_steps.map(|max_edge_steps| PlanMethod::Graph { max_edge_steps });
            let method = edge_scale_steps.map(scale).or(hard).expect("checked when the recipe was read");
            let vertices = match vertices {
                VerticesRecipe::Random => Vertices::Random,
                VerticesRecipe::Coverage => Vertices::Coverage,
                VerticesRecipe::Efficient => Vertices::Efficient,
            };
            (method, vertices)
        }
        SearchRecipe::Recorded { .. } | SearchRecipe::Stochastic { .. } | SearchRecipe::Advantages { .. } => {
            return None;
        }
    };
    let PlannerRecipe { round_trip, calibrated, states, .. } = *planner;
    let transitions = states.expect("checked when the recipe was read");
    Some(PlannerConfig { method, round_trip, calibrated, transitions, vertices, seed })
}

/// Success of the policy during training, on tasks that differ from those of the study.
pub struct SuccessInTraining {
    pub dataset: Arc<StudyDataset>,
    pub training: TrainingEvaluation,
}

impl Evaluation for SuccessInTraining {
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
        let Some(policy) = &model.policy else { return Vec::new() };
        let TrainingEvaluation { episodes, task_seed } = self.training;
        vec![("success".to_owned(), mean(&rollouts(&self.dataset, policy, episodes, task_seed).1))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_learn::Algorithm;

    #[test]
    fn evaluations_have_the_alpha_of_their_method() {
        let recipe = Recipe::built_in("pointmazes-two-levels").unwrap();
        let alphas = |method| {
            let job = Job { dataset: "pointmaze-medium-navigate", method, variant: None, seed: 0 };
            let pieces = pieces(&recipe, job, &[8000]);
            assert_eq!(pieces.len(), 3, "the lower level, two levels and the graph");
            pieces.iter().map(|piece| piece.alpha).collect::<Vec<_>>()
        };
        assert_eq!(alphas(Algorithm::Cmd1), [Some(0.1); 3]);
        assert_eq!(alphas(Algorithm::Mqe), [None; 3]);
    }
}
