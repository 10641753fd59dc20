//! References without learning: exact distances, optimal success rates and baseline policies.

mod nav2d;

use crate::{recipe::Recipe, results::DistanceFit};
use isochrone_core::{GoalPolicy, TemporalDistance};
use isochrone_envs::{
    EnvId,
    nav2d::{Nav2d, StreetMap},
};

/// References of an environment. All of them are optional.
pub trait Reference: Send + Sync {
    /// Returns the highest success rate of any policy for every task, over the tasks of some seeds.
    fn optimal_success(&self, _episodes: u64, _task_seeds: &[u64]) -> Option<Vec<f64>> {
        None
    }

    /// Returns baseline policies that learn nothing, by name.
    fn baselines(&self) -> Vec<(&'static str, &dyn GoalPolicy)> {
        Vec::new()
    }

    /// Compares a distance with the exact one.
    fn fit(&self, _distance: &dyn TemporalDistance) -> Option<DistanceFit> {
        None
    }

    /// Returns exact distances to the state nearest to a place.
    fn exact_to(&self, _place: [f64; 2]) -> Option<ExactDistances> {
        None
    }

    /// Identifies everything that affects evaluations and is in neither the data nor the recipe.
    fn fingerprint(&self) -> String {
        isochrone_envs::mujoco_version().unwrap_or_default()
    }
}

/// Exact distances from all states to one state.
pub struct ExactDistances {
    /// The positions of the states.
    pub places: Vec<[f64; 2]>,
    /// The index of the goal state.
    pub goal: usize,
    /// The steps from every state; infinite if no path leads to the goal.
    pub steps: Vec<f64>,
}

/// Returns the references of an environment.
pub fn of(env: EnvId, recipe: &Recipe) -> Box<dyn Reference> {
    let streets = |map, env| Box::new(nav2d::Nav2dReference::new(map, env, recipe.discount()));
    match env.name().as_str() {
        "nav2d" => streets(StreetMap::STANDARD, Nav2d::standard()),
        "nav2d-v2" => streets(StreetMap::VERSION_2, Nav2d::version_2()),
        _ => Box::new(Registered(env)),
    }
}

/// The references in the registry of environments.
struct Registered(EnvId);

impl Reference for Registered {
    fn optimal_success(&self, _episodes: u64, task_seeds: &[u64]) -> Option<Vec<f64>> {
        self.0.optimal_success(*task_seeds.first()?)
    }
}
