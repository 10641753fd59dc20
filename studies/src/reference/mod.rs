//! What is known of environments without learning: exact distances, optimal success rates and policies that learn nothing.

mod known;
mod nav2d;

pub use known::Reference;

use crate::recipe::Recipe;
use isochrone_envs::EnvId;
use nav2d::Nav2dReference;

/// What is known of an environment.
pub fn of(env: EnvId, recipe: &Recipe) -> Box<dyn Reference> {
    match env.name().as_str() {
        "nav2d" => Box::new(Nav2dReference::new(recipe.discount())),
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
