//! The registry: all environments and datasets, by name.

use crate::{CollectionPolicy, EnvDefinition, EnvError, maze, nav2d};
use isochrone_data::EpisodeSink;
use std::{fmt, ops::Deref, sync::LazyLock};

/// The registry, in listing order. A new family of environments is an entry here.
static DEFINITIONS: LazyLock<Vec<Box<dyn EnvDefinition>>> =
    LazyLock::new(|| [nav2d::definitions(), maze::definitions()].into_iter().flatten().collect());

/// An environment of the registry; it dereferences to its [`EnvDefinition`].
///
/// ```
/// use isochrone_envs::EnvId;
///
/// let env = EnvId::from_name("nav2d").expect("it is in the registry");
/// assert_eq!(env.spec().observation_width, 2);
/// let mut episode = env.make()?();
/// episode.reset(0, 0);
/// let result = episode.step(&[1.0, 0.0]);
/// assert!(!result.terminated);
/// # Ok::<(), isochrone_envs::EnvError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnvId(usize);

impl EnvId {
    /// Returns all environments.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..DEFINITIONS.len()).map(Self)
    }

    /// Returns the environment with this name, or the one in which the dataset with this name is
    /// collected.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|env| env.name() == name).or_else(|| Some(DatasetId::from_name(name)?.env()))
    }

    /// Returns the datasets that can be collected in this environment.
    pub fn datasets(self) -> impl Iterator<Item = DatasetId> {
        self.collection_policies().into_iter().map(move |policy| DatasetId { env: self, policy })
    }
}

impl Deref for EnvId {
    type Target = dyn EnvDefinition;

    fn deref(&self) -> &Self::Target {
        &*DEFINITIONS[self.0]
    }
}

impl fmt::Debug for EnvId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "EnvId({})", self.name())
    }
}

/// A dataset that can be collected: an environment and a policy that acts in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DatasetId {
    env: EnvId,
    policy: CollectionPolicy,
}

impl DatasetId {
    /// Returns the datasets of all environments.
    pub fn all() -> impl Iterator<Item = Self> {
        EnvId::all().flat_map(EnvId::datasets)
    }

    /// Returns the dataset with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|dataset| dataset.name() == name)
    }

    /// Returns the name: the environment and the policy, as in `pointmaze-medium-navigate`.
    pub fn name(self) -> String {
        match self.policy.name {
            "" => self.env.name(),
            policy => format!("{}-{policy}", self.env.name()),
        }
    }

    /// Returns the environment.
    pub fn env(self) -> EnvId {
        self.env
    }

    /// Returns the policy that collects the dataset.
    pub fn policy(self) -> CollectionPolicy {
        self.policy
    }

    /// Collects episodes `0..episodes`. Each episode depends only on the seed and its number.
    ///
    /// # Errors
    /// If `sink` rejects an episode, or if the environment needs MuJoCo and this build does not
    /// include it.
    pub fn collect(self, episodes: usize, seed: u64, sink: &mut dyn EpisodeSink) -> Result<(), EnvError> {
        self.env.collect(&self.policy, episodes, seed, sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_round_trip() {
        let mut names = BTreeSet::new();
        for env in EnvId::all() {
            assert_eq!(EnvId::from_name(&env.name()), Some(env));
            assert!(names.insert(env.name()) && env.datasets().count() > 0);
            for dataset in env.datasets() {
                assert_eq!(DatasetId::from_name(&dataset.name()), Some(dataset));
                assert_eq!(EnvId::from_name(&dataset.name()), Some(env));
            }
        }
        let datasets: BTreeSet<String> = DatasetId::all().map(DatasetId::name).collect();
        assert_eq!(datasets.len(), DatasetId::all().count());
        assert_eq!((EnvId::from_name("nowhere"), DatasetId::from_name("pointmaze-medium")), (None, None));
    }

    #[test]
    fn datasets_have_the_widths_of_their_environment() {
        for env in EnvId::all() {
            let (spec, dataset) = (env.spec(), env.dataset_spec());
            assert_eq!(
                (dataset.observation.width, dataset.action.width),
                (spec.observation_width, spec.action_width),
                "{env:?}"
            );
            assert!(spec.max_episode_steps > 0 && spec.n_tasks > 0, "{env:?}");
        }
    }

    #[test]
    fn an_unsupported_environment_is_an_error_that_names_it() {
        for env in EnvId::all() {
            match (env.check(), env.make()) {
                (Ok(()), Ok(factory)) => {
                    let environment = factory();
                    assert_eq!(environment.observation_width(), env.spec().observation_width, "{env:?}");
                    assert_eq!(environment.max_episode_steps(), env.spec().max_episode_steps, "{env:?}");
                }
                (Err(EnvError::NoPhysics { env: name }), Err(_)) => assert_eq!(name, env.name()),
                (check, _) => panic!("{env:?}: {check:?}"),
            }
        }
    }
}
