//! Data collection: each episode follows one street.

use super::streets::{Nav2d, sample};
use isochrone_core::rng;
use isochrone_data::{Bounds, DataError, Dataset, DatasetBuilder, Ending, Episode, EpisodeSink, Spec};
use rand_chacha::ChaCha8Rng;

impl Nav2d {
    /// Returns the columns of datasets.
    pub fn dataset_spec() -> Spec {
        let mut spec = Spec::new(2, 2);
        spec.observation.dimensions = vec!["x".into(), "y".into()];
        spec.action.dimensions = vec!["push x".into(), "push y".into()];
        spec.action.bounds = vec![Bounds { low: Some(-1.0), high: Some(1.0) }; 2];
        spec
    }

    /// Collects episodes of geometrically distributed length from random sites. Each episode
    /// follows its street with a drifting heading and never turns into another street: it ends
    /// where noise carries the agent off its street. The dataset covers all four streets, and no
    /// episode leads from one to another.
    ///
    /// # Errors
    /// If `sink` rejects an episode.
    pub fn collect(&self, episodes: usize, seed: u64, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
        let spec = Self::dataset_spec();
        sink.begin(&spec)?;
        for number in 0..episodes {
            let mut random = rng::stream(seed, number as u64);
            let episode = loop {
                let walk = self.walk(&mut random);
                if walk.actions.len() >= 2 * self.map().collection.min_steps {
                    break walk;
                }
            };
            sink.episode(&episode.view(&spec).expect("widths fit"))?;
        }
        Ok(())
    }

    /// Collects a dataset in memory.
    pub fn dataset(&self, episodes: usize, seed: u64) -> Dataset {
        let mut builder = DatasetBuilder::default();
        self.collect(episodes, seed, &mut builder).expect("memory accepts every episode");
        builder.finish()
    }

    /// Collects one episode. It is shorter than its sampled length if the agent leaves the street.
    fn walk(&self, random: &mut ChaCha8Rng) -> Episode {
        let collection = &self.map().collection;
        let mut site = rng::below(random, self.sites().len());
        let street = self.sites()[site].street;
        // Geometric distribution: every step is the last with the same probability.
        let steps =
            (1.0 - rng::unit_f64(random)).ln() / (1.0 - 1.0 / collection.mean_steps.max(1.0 + 1e-9)).ln();
        let steps = (steps.ceil() as usize).clamp(collection.min_steps, collection.max_steps);
        let mut drift = 0.0;
        let mut episode = Episode {
            observations: self.observe(site, random).to_vec(),
            ending: Ending::Truncated,
            ..Episode::default()
        };
        for _ in 0..steps {
            drift = collection.drift_kept * drift + collection.drift_added * rng::normal(random);
            let Some([x, y]) = self.sites()[site].directions[street] else { break };
            let (sin, cos) = f64::sin_cos(y.atan2(x) + drift);
            let next = sample(&self.transitions(site, [cos, sin]), random);
            let Some(next) = next.filter(|&next| self.sites()[next].directions[street].is_some()) else {
                break;
            };
            site = next;
            episode.actions.extend([cos as f32, sin as f32]);
            episode.observations.extend(self.observe(site, random));
        }
        episode
    }
}
