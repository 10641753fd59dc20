//! Small problems and runs.

use isochrone_core::rng;
use isochrone_data::{Dataset, DatasetBuilder, Episode, EpisodeSink as _, Spec};
use isochrone_learn::{
    algos::AlgorithmConfig,
    run::{DataConfig, DataFacts, Manifest, Run, RunConfig},
};
use std::{path::Path, sync::Arc};

/// Walks in a square with momentum, so that there is something to learn: `[x, y, vx, vy]`, pushed by two forces.
pub fn walks(episodes: usize, steps: usize) -> Arc<Dataset> {
    let spec = Spec { goal: Some(0..2), ..Spec::new(4, 2) };
    let mut random = rng::stream(5, 0);
    let mut builder = DatasetBuilder::default();
    builder.begin(&spec).unwrap();
    for _ in 0..episodes {
        let mut draw = || 2.0 * rng::unit_f64(&mut random) as f32 - 1.0;
        let mut state = [10.0 * draw(), 10.0 * draw(), 0.0, 0.0];
        let mut episode = Episode { observations: state.to_vec(), ..Episode::default() };
        for _ in 0..steps {
            let push = [draw(), draw()];
            for axis in 0..2 {
                state[axis + 2] = 0.9 * state[axis + 2] + 0.3 * push[axis];
                state[axis] = (state[axis] + state[axis + 2]).clamp(-10.0, 10.0);
            }
            episode.actions.extend(push);
            episode.observations.extend(state);
        }
        builder.episode(&episode.view(&spec).unwrap()).unwrap();
    }
    Arc::new(builder.finish())
}

/// The same without actions.
pub fn states_only() -> Arc<Dataset> {
    let walks = walks(6, 40);
    let spec = Spec::new(4, 0);
    let mut builder = DatasetBuilder::default();
    builder.begin(&spec).unwrap();
    for number in 0..walks.n_episodes() {
        let observations = walks.episode(number).observations.to_vec();
        let episode = Episode { observations, ..Episode::default() };
        builder.episode(&episode.view(&spec).unwrap()).unwrap();
    }
    Arc::new(builder.finish())
}

/// A run of `steps` small steps.
pub fn config(learner: AlgorithmConfig, data: &Dataset, steps: u64) -> RunConfig {
    let path = DataConfig { path: "walks".into(), ..DataConfig::default() };
    let mut config = RunConfig::for_data(learner, path, steps, data.index());
    config.batch_size = 32;
    config.metrics.evaluation_pairs = 64;
    config
}

/// Its folder.
pub fn begin(folder: &Path, config: &RunConfig, data: &Dataset) -> Run {
    let facts = DataFacts::of("walks".as_ref(), data);
    let manifest = Manifest::now(&config.learner, config.seed, facts, None);
    Run::create(folder, config.clone(), manifest).unwrap().0
}
