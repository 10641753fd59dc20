//! Behaviour: walks along one street each.

use super::{Nav2d, Plan, draw};
use isochrone_core::rng;
use isochrone_data::{
    Bounds, DataError, Dataset, DatasetBuilder, Ending, Episode, EpisodeSink, Feature, Spec,
};
use rand_chacha::ChaCha8Rng;

impl Nav2d {
    /// What recordings consist of.
    pub fn spec() -> Spec {
        let named = |name: &str, dimensions: [&str; 2]| Feature {
            dimensions: dimensions.map(str::to_owned).to_vec(),
            ..Feature::new(name, 2)
        };
        let mut spec = Spec::new(2, 2);
        spec.observation = named("observations", ["x", "y"]);
        spec.action = named("actions", ["push x", "push y"]);
        spec.action.bounds = vec![Bounds { low: Some(-1.0), high: Some(1.0) }; 2];
        spec
    }

    /// Records walks of a geometric number of steps from random sites. Each follows its street, with a heading that drifts, and never turns into another: where chance carries it off
    /// its street, it ends. So the logs show all four streets, and no way from one to the next.
    ///
    /// # Errors
    /// What `sink` refuses.
    pub fn record(&self, episodes: usize, seed: u64, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
        let spec = Self::spec();
        sink.begin(&spec)?;
        for number in 0..episodes {
            let mut random = rng::stream(seed, number as u64);
            let episode = loop {
                let walk = self.walk(&mut random);
                if walk.actions.len() >= 2 * self.plan().recordings.least_steps {
                    break walk;
                }
            };
            sink.episode(&episode.view(&spec).expect("widths fit"))?;
        }
        Ok(())
    }

    /// Records into memory.
    pub fn recordings(&self, episodes: usize, seed: u64) -> Dataset {
        let mut builder = DatasetBuilder::default();
        self.record(episodes, seed, &mut builder).expect("memory takes all");
        builder.finish()
    }

    /// One walk; shorter than it was meant where its street ends.
    fn walk(&self, random: &mut ChaCha8Rng) -> Episode {
        let Plan { recordings, .. } = self.plan();
        let mut site = rng::below(random, self.sites().len());
        let street = self.sites()[site].street;
        // Geometric: every step is the last with the same chance.
        let steps =
            (1.0 - rng::unit_f64(random)).ln() / (1.0 - 1.0 / recordings.mean_steps.max(1.0 + 1e-9)).ln();
        let steps = (steps.ceil() as usize).clamp(recordings.least_steps, recordings.most_steps);
        let mut drift = 0.0;
        let mut episode = Episode {
            observations: self.seen(site, random).to_vec(),
            ending: Ending::Truncated,
            ..Episode::default()
        };
        for _ in 0..steps {
            drift = recordings.drift_kept * drift + recordings.drift_added * rng::normal(random);
            let Some([x, y]) = self.sites()[site].leads[street] else { break };
            let (sin, cos) = f64::sin_cos(y.atan2(x) + drift);
            let next = draw(&self.moves(site, [cos, sin]), random);
            let Some(next) = next.filter(|&next| self.sites()[next].leads[street].is_some()) else { break };
            site = next;
            episode.actions.extend([cos as f32, sin as f32]);
            episode.observations.extend(self.seen(site, random));
        }
        episode
    }
}
