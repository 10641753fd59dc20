//! The navigation environment as an entry of the registry.

use super::streets::Nav2d;
use crate::{
    definition::{CollectionPolicy, EnvDefinition, EnvError, EnvSpec},
    geometry::Point,
};
use isochrone_core::EnvFactory;
use isochrone_data::{EpisodeSink, Spec};

/// Returns the environment of the study.
pub(crate) fn definitions() -> Vec<Box<dyn EnvDefinition>> {
    vec![Box::new(Standard)]
}

/// The standard streets, built when they are first needed.
struct Standard;

impl EnvDefinition for Standard {
    fn name(&self) -> String {
        "nav2d".into()
    }

    fn description(&self) -> String {
        "crossing one-way streets in the plane; each dataset episode stays on one street".into()
    }

    fn spec(&self) -> EnvSpec {
        let max_episode_steps = Nav2d::standard().map().max_episode_steps;
        EnvSpec { observation_width: 2, action_width: 2, max_episode_steps, n_tasks: 1 }
    }

    fn dataset_spec(&self) -> Spec {
        Nav2d::dataset_spec()
    }

    fn collection_policies(&self) -> Vec<CollectionPolicy> {
        vec![CollectionPolicy { name: "", default_episodes: 2000, episode_steps: None, action_noise: 0.0 }]
    }

    fn make(&self) -> Result<EnvFactory, EnvError> {
        let streets = Nav2d::standard();
        Ok(Box::new(move || Box::new(streets.environment())))
    }

    fn collect(
        &self,
        _policy: &CollectionPolicy,
        episodes: usize,
        seed: u64,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), EnvError> {
        Ok(Nav2d::standard().collect(episodes, seed, sink)?)
    }

    fn places(&self) -> Vec<Point> {
        Nav2d::standard().sites().iter().map(|site| site.place).collect()
    }
}
