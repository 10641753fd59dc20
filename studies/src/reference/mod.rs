//! What is known of environments without learning: exact distances, optimal success rates and policies that learn nothing.

mod nav2d;

use crate::{recipe::Recipe, results::DistanceFit};
use isochrone_core::{GoalPolicy, TemporalDistance};
use isochrone_envs::EnvId;

/// What is known of an environment without learning. Everything is optional.
pub trait Reference: Send + Sync {
    /// The highest success rate that any policy can have, for every task, over the tasks of some seeds.
    fn optimal_success(&self, _episodes: u64, _task_seeds: &[u64]) -> Option<Vec<f64>> {
        None
    }

    /// Policies that learn nothing, by name.
    fn baselines(&self) -> Vec<(&'static str, &dyn GoalPolicy)> {
        Vec::new()
    }

    /// How well a distance agrees with the exact one.
    fn fit(&self, _distance: &dyn TemporalDistance) -> Option<DistanceFit> {
        None
    }

    /// Exact distances to the state nearest to a place.
    fn exact_to(&self, _place: [f64; 2]) -> Option<ExactDistances> {
        None
    }

    /// What changes evaluations and is in neither the data nor the recipe.
    fn fingerprint(&self) -> String {
        isochrone_envs::mujoco_version().unwrap_or_default()
    }
}

/// Exact distances from all states to one.
pub struct ExactDistances {
    /// Where the states are.
    pub places: Vec<[f64; 2]>,
    /// The state that distances lead to.
    pub goal: usize,
    /// Steps from every state; infinite where no path leads to the goal.
    pub steps: Vec<f64>,
}

/// What is known of an environment.
pub fn of(env: EnvId, recipe: &Recipe) -> Box<dyn Reference> {
    match env.name().as_str() {
        "nav2d" => Box::new(nav2d::Nav2dReference::new(recipe.discount())),
        _ => Box::new(Registered(env)),
    }
}

/// What the registry knows of an environment.
struct Registered(EnvId);

impl Reference for Registered {
    fn optimal_success(&self, _episodes: u64, task_seeds: &[u64]) -> Option<Vec<f64>> {
        self.0.optimal_success(*task_seeds.first()?)
    }
}
