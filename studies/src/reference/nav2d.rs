//! One-way streets: a finite environment with exact distances.

use super::{ExactDistances, Reference};
use crate::results::DistanceFit;
use isochrone_core::{
    Discount, GoalPolicy, ShapeError, TemporalDistance,
    exact::{AllPairs, ExactSolver},
    rng, statistics,
};
use isochrone_envs::nav2d::{ExactPolicy, Nav2d};
use isochrone_eval::stats::mean;
use std::sync::OnceLock;

/// The number of pairs of sites stored for figures.
const KEPT_PAIRS: usize = 3000;

/// Exact distances and baselines of the environments `nav2d` and `nav2d-v2`.
pub struct Nav2dReference {
    env: Nav2d,
    /// The map as text.
    map: &'static str,
    discount: Option<Discount>,
    exact: OnceLock<AllPairs>,
    best: OnceLock<ExactPolicy>,
}

impl Nav2dReference {
    /// Creates the references; exact distances are computed when first needed, and only with a
    /// discount.
    pub fn new(map: &'static str, env: Nav2d, discount: Option<Discount>) -> Self {
        Self { env, map, discount, exact: OnceLock::new(), best: OnceLock::new() }
    }

    fn exact(&self) -> Option<&AllPairs> {
        let discount = self.discount?;
        let solve = || ExactSolver::new(&self.env.to_mdp(), discount).all_pairs().expect("a small process");
        Some(self.exact.get_or_init(solve))
    }

    /// The policy with the highest success rate.
    fn best(&self) -> &ExactPolicy {
        let discount = Discount::new(0.9999).expect("a discount");
        self.best.get_or_init(|| ExactPolicy::new(&self.env, discount))
    }
}

impl Reference for Nav2dReference {
    /// The probability of success with an observed site and without a step limit.
    fn optimal_success(&self, episodes: u64, task_seeds: &[u64]) -> Option<Vec<f64>> {
        let chance = |seed: u64, number: u64| {
            let (start, goal) = self.env.task(seed, number);
            self.best().discounted_success(start, goal)
        };
        let of_seed =
            |&seed: &u64| (0..episodes).map(|number| chance(seed, number)).sum::<f64>() / episodes as f64;
        Some(vec![mean(&task_seeds.iter().map(of_seed).collect::<Vec<_>>())])
    }

    fn baselines(&self) -> Vec<(&'static str, &dyn GoalPolicy)> {
        vec![("exact", self.best()), ("straight", &STRAIGHT), ("idle", &IDLE)]
    }

    fn fit(&self, distance: &dyn TemporalDistance) -> Option<DistanceFit> {
        let (sites, exact) = (self.env.sites(), self.exact()?);
        let observations: Vec<f32> = sites.iter().flat_map(|site| site.place.map(|x| x as f32)).collect();
        let n = sites.len();
        let learned = distance.all_pairs_steps(&observations, &observations).expect("sites are states");
        let pair = |(from, to): (usize, usize)| (exact.steps(from, to), learned[from * n + to]);
        let all: Vec<(usize, usize)> = (0..n)
            .flat_map(|from| (0..n).map(move |to| (from, to)))
            .filter(|&(from, to)| from != to && self.env.is_reachable(from, to))
            .collect();
        let rank = |is_selected: &dyn Fn(usize, usize) -> bool| {
            let pairs = all.iter().filter(|(from, to)| is_selected(*from, *to)).map(|&which| pair(which));
            let (exact, learned): (Vec<f64>, Vec<f64>) = pairs.unzip();
            statistics::spearman(&exact, &learned)
        };
        let ratio = statistics::median(
            all.iter().map(|&which| pair(which)).map(|(exact, learned)| learned / exact).collect(),
        );
        let error = |(exact, learned): (f64, f64)| (learned / ratio - exact).abs() / exact;
        let mut random = rng::stream(0, 0);
        Some(DistanceFit {
            rank_ahead: rank(&|from, to| sites[from].street == sites[to].street && from < to),
            rank_across: rank(&|from, to| sites[from].street != sites[to].street),
            rank: rank(&|_, _| true),
            ratio,
            error: statistics::median(all.iter().map(|&which| error(pair(which))).collect()),
            pairs: (0..KEPT_PAIRS)
                .map(|_| pair(all[rng::below(&mut random, all.len())]))
                .filter(|(exact, learned)| exact.is_finite() && learned.is_finite())
                .collect(),
        })
    }

    fn exact_to(&self, place: [f64; 2]) -> Option<ExactDistances> {
        let (exact, goal) = (self.exact()?, self.env.nearest(place));
        let places: Vec<[f64; 2]> = self.env.sites().iter().map(|site| site.place).collect();
        let steps = (0..places.len()).map(|from| exact.steps(from, goal)).collect();
        Some(ExactDistances { places, goal, steps })
    }

    fn fingerprint(&self) -> String {
        // Without comments: rewording one must not repeat evaluations.
        let map: toml::Table = self.map.parse().expect("the built-in map is TOML");
        map.to_string()
    }
}

/// A policy that learns nothing: each dimension of the action depends on that of the observation
/// and the goal.
struct FixedPolicy(fn(f32, f32) -> f32);

/// Takes no action; the flow of the street moves it.
const IDLE: FixedPolicy = FixedPolicy(|_, _| 0.0);
/// Moves in a straight line to the goal.
const STRAIGHT: FixedPolicy = FixedPolicy(|here, goal| goal - here);

impl GoalPolicy for FixedPolicy {
    fn observation_width(&self) -> usize {
        2
    }

    fn action_width(&self) -> usize {
        2
    }

    fn actions(&self, observations: &[f32], goals: &[f32]) -> Vec<f32> {
        self.check_actions(observations, goals).unwrap_or_else(ShapeError::panic);
        observations.iter().zip(goals).map(|(&here, &goal)| (self.0)(here, goal)).collect()
    }
}
