//! The navigation environments as entries of the registry.

use super::streets::Nav2d;
use crate::{
    definition::{CollectionPolicy, EnvDefinition, EnvError, EnvSpec},
    geometry::Point,
};
use isochrone_core::EnvFactory;
use isochrone_data::{EpisodeSink, Spec};

/// Returns the environments of both studies.
pub(crate) fn definitions() -> Vec<Box<dyn EnvDefinition>> {
    let version_1 = Streets {
        name: "nav2d",
        description: "crossing one-way streets in the plane; each dataset episode stays on one street",
        build: Nav2d::standard,
    };
    let version_2 = Streets {
        name: "nav2d-v2",
        description: "a one-way ring with eddies, in which moving straight towards the goal mostly fails",
        build: Nav2d::version_2,
    };
    vec![Box::new(version_1), Box::new(version_2)]
}

/// Named streets, built when they are first needed.
struct Streets {
    name: &'static str,
    description: &'static str,
    build: fn() -> Nav2d,
}

impl EnvDefinition for Streets {
    fn name(&self) -> String {
        self.name.into()
    }

    fn description(&self) -> String {
        self.description.into()
    }

    fn spec(&self) -> EnvSpec {
        let max_episode_steps = (self.build)().map().max_episode_steps;
        EnvSpec { observation_width: 2, action_width: 2, max_episode_steps, n_tasks: 1 }
    }

    fn dataset_spec(&self) -> Spec {
        Nav2d::dataset_spec()
    }

    fn collection_policies(&self) -> Vec<CollectionPolicy> {
        vec![CollectionPolicy { name: "", default_episodes: 2000, episode_steps: None, action_noise: 0.0 }]
    }

    fn make(&self) -> Result<EnvFactory, EnvError> {
        let streets = (self.build)();
        Ok(Box::new(move || Box::new(streets.environment())))
    }

    fn collect(
        &self,
        _policy: &CollectionPolicy,
        episodes: usize,
        seed: u64,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), EnvError> {
        Ok((self.build)().collect(episodes, seed, sink)?)
    }

    fn places(&self) -> Vec<Point> {
        (self.build)().sites().iter().map(|site| site.place).collect()
    }
}
