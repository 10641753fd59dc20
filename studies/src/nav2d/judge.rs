//! What a finished run is worth: attempts, with and without a plan, and its distances beside exact ones.

use super::Recipe;
use isochrone_core::{
    Discount, Environment, GoalPolicy, TemporalDistance,
    exact::{AllPairs, ExactSolver},
    rng, statistics,
};
use isochrone_data::Dataset;
use isochrone_envs::nav2d::{ExactPolicy, Nav2d};
use isochrone_eval::{
    plan::{PlanMethod, PlannedPolicy, Planner, Transitions},
    rollout::{Rollout, RolloutConfig, success_rate},
    stats::mean,
};
use isochrone_learn::{evaluation::Evaluation, model::Model};
use serde::{Deserialize, Serialize};

/// Pairs of sites whose predicted distances are kept for pictures.
const KEPT_PAIRS: usize = 3000;
/// Tasks of the study are those of seeds from here on; those of training are others.
const TASKS: u64 = 5000;
const TASKS_IN_TRAINING: u64 = 9000;

/// What was measured of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Of what learned.
    pub method: String,
    /// Of the run.
    pub seed: u64,
    /// Seconds of training.
    pub seconds: f64,
    /// The policy by itself.
    pub alone: Score,
    /// With a greedy plan above it, if there is a distance.
    pub greedy: Option<Score>,
    /// With a graph above it, if there is a distance.
    pub graph: Option<Score>,
    /// The distance, if there is one.
    pub fit: Option<Fit>,
    /// What the judgement depends on: the configuration, the data, the world and the recipe.
    pub of: String,
    /// Of the program that judged.
    pub revision: String,
}

/// What a model is worth; the parts of a [`Verdict`] that it decides.
#[expect(missing_docs, reason = "a verdict says it")]
pub struct Judgement {
    pub alone: Score,
    pub greedy: Option<Score>,
    pub graph: Option<Score>,
    pub fit: Option<Fit>,
}

/// Attempts in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The share that arrived.
    pub success: f64,
    /// Mean steps of those that did; nothing if none did.
    pub steps: Option<f64>,
    /// Mean of what the world paid.
    pub total_reward: f64,
}

/// How well a distance agrees with the exact one, over pairs of sites of which one leads to the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Rank correlation over pairs that were laid on one street, the second ahead of the first.
    pub rank_ahead: f64,
    /// Rank correlation over pairs of different streets, which no recording joins.
    pub rank_across: f64,
    /// Rank correlation over all.
    pub rank: f64,
    /// The median of learned / exact.
    pub ratio: f64,
    /// The median of |learned - exact| / exact, once learned distances are divided by that ratio.
    pub error: f64,
    /// Some pairs: exact and learned steps.
    pub pairs: Vec<(f64, f64)>,
}

/// Everything that a judgement needs and that is the same for all runs.
pub struct Judge {
    /// The world.
    pub world: Nav2d,
    /// Exact distances between sites under the best policy.
    pub exact: AllPairs,
    /// Who knows the world and most surely arrives.
    pub best: ExactPolicy,
    recipe: Recipe,
}

impl Judge {
    /// Solves the world.
    pub fn new(recipe: &Recipe) -> Self {
        let world = Nav2d::standard();
        let discount = Discount::new(recipe.discount).expect("the recipe is part of the program");
        let process = world.to_mdp();
        let exact = ExactSolver::new(&process, discount).all_pairs().expect("a small process");
        let best = ExactPolicy::new(&world, Discount::new(0.9999).expect("a discount"));
        Self { world, exact, best, recipe: recipe.clone() }
    }

    /// Attempts of a policy at the tasks of a seed of the study.
    pub fn attempts(&self, policy: &dyn GoalPolicy, seed: u64) -> Vec<Rollout> {
        self.run(RolloutConfig { episodes: self.recipe.rollouts, seed: TASKS + seed }, policy)
    }

    fn run(&self, rollouts: RolloutConfig, policy: &dyn GoalPolicy) -> Vec<Rollout> {
        rollouts.run(&|| Box::new(self.world.environment()) as Box<dyn Environment>, policy)
    }

    /// The chance to arrive at all for one who sees where they are and has all the time of the world, over the tasks of a seed: no policy does better, but for directions between headings.
    pub fn ceiling(&self, seed: u64) -> f64 {
        let arrival = |number: u64| {
            let (start, goal) = self.world.task(TASKS + seed, number);
            self.best.discounted_success(start, goal)
        };
        (0..self.recipe.rollouts).map(arrival).sum::<f64>() / self.recipe.rollouts as f64
    }

    /// Judges what was learned.
    ///
    /// # Panics
    /// If there is no policy: recordings have actions.
    pub fn judge(&self, model: &Model, data: &Dataset, seed: u64) -> Judgement {
        let policy = model.policy.as_ref().expect("recordings have actions");
        let planned = |method: PlanMethod, moves: usize| {
            let distance: &dyn TemporalDistance = model.distance.as_ref()?;
            let planner = Planner::new(method, distance, Transitions::sample(data, moves, seed));
            let planner = planner.expect("datasets have transitions");
            Some(Score::of(&self.attempts(&PlannedPolicy { planner, policy }, seed)))
        };
        let Recipe { radius, horizon_steps, moves, graph_states, .. } = self.recipe;
        Judgement {
            alone: Score::of(&self.attempts(policy, seed)),
            greedy: planned(PlanMethod::Greedy { radius }, moves),
            graph: planned(PlanMethod::Graph { max_edge_steps: horizon_steps }, graph_states),
            fit: model.distance.as_ref().map(|distance| self.fit(distance)),
        }
    }

    /// Where all sites are, as the data say it: `[n, 2]`.
    pub fn places(&self) -> Vec<f32> {
        self.world.sites().iter().flat_map(|site| site.place.map(|x| x as f32)).collect()
    }

    fn fit(&self, distance: &dyn TemporalDistance) -> Fit {
        let (sites, places) = (self.world.sites(), self.places());
        let n = sites.len();
        let learned = distance.all_pairs_steps(&places, &places).expect("places are states");
        let pair = |(from, to): (usize, usize)| (self.exact.steps(from, to), learned[from * n + to]);
        let all: Vec<(usize, usize)> = (0..n)
            .flat_map(|from| (0..n).map(move |to| (from, to)))
            .filter(|&(from, to)| from != to && self.world.is_reachable(from, to))
            .collect();
        let rank = |is_meant: &dyn Fn(usize, usize) -> bool| {
            let pairs = all.iter().filter(|(from, to)| is_meant(*from, *to)).map(|&which| pair(which));
            let (exact, learned): (Vec<f64>, Vec<f64>) = pairs.unzip();
            statistics::spearman(&exact, &learned)
        };
        let ratio = statistics::median(
            all.iter().map(|&which| pair(which)).map(|(exact, learned)| learned / exact).collect(),
        );
        let error = |(exact, learned): (f64, f64)| (learned / ratio - exact).abs() / exact;
        let mut random = rng::stream(0, 0);
        Fit {
            rank_ahead: rank(&|from, to| sites[from].street == sites[to].street && from < to),
            rank_across: rank(&|from, to| sites[from].street != sites[to].street),
            rank: rank(&|_, _| true),
            ratio,
            error: statistics::median(all.iter().map(|&which| error(pair(which))).collect()),
            pairs: (0..KEPT_PAIRS).map(|_| pair(all[rng::below(&mut random, all.len())])).collect(),
        }
    }
}

impl Score {
    /// Of attempts.
    pub fn of(attempts: &[Rollout]) -> Self {
        let arrived: Vec<f64> =
            attempts.iter().filter(|attempt| attempt.success).map(|attempt| attempt.steps as f64).collect();
        Self {
            success: success_rate(attempts),
            steps: (!arrived.is_empty()).then(|| mean(&arrived)),
            total_reward: mean(&attempts.iter().map(|attempt| attempt.total_reward).collect::<Vec<_>>()),
        }
    }
}

/// The share of tasks that a policy does, watched while it learns; not the tasks that it is judged by.
pub struct SuccessInTraining<'a> {
    /// Who knows the world.
    pub judge: &'a Judge,
}

impl Evaluation for SuccessInTraining<'_> {
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
        let Some(policy) = &model.policy else { return Vec::new() };
        let rollouts =
            RolloutConfig { episodes: self.judge.recipe.rollouts_in_training, seed: TASKS_IN_TRAINING };
        vec![("success".to_owned(), success_rate(&self.judge.run(rollouts, policy)))]
    }
}
