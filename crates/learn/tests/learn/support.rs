//! Small datasets and runs.

use isochrone_core::rng;
use isochrone_data::{Dataset, Episode, Spec};
use isochrone_learn::{
    Callbacks, LearnerConfig, Outcome, StopHandle, Training,
    run::{DataConfig, DatasetInfo, Manifest, Run, RunConfig},
};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};

/// Random walks with momentum in a square: states are `[x, y, vx, vy]`, actions two forces.
pub fn walks(episodes: usize, steps: usize) -> Dataset {
    let spec = Spec { goal: Some(0..2), ..Spec::new(4, 2) };
    let mut random = rng::stream(5, 0);
    let episodes = (0..episodes).map(|_| {
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
        episode
    });
    Dataset::from_episodes(&spec, episodes).unwrap()
}

/// Returns such walks without actions.
pub fn states_only() -> Dataset {
    let walks = walks(6, 40);
    let episodes = (0..walks.n_episodes()).map(|number| (walks.episode(number).observations, []));
    Dataset::from_arrays(4, 0, episodes).unwrap()
}

/// Returns the configuration of a run with small batches.
pub fn config(learner: LearnerConfig, data: &Dataset, steps: u64) -> RunConfig {
    let path = DataConfig { path: "walks".into(), ..DataConfig::default() };
    let mut config = RunConfig::for_data(learner, path, steps, data);
    config.batch_size = 32;
    config.metrics.evaluation_pairs = 64;
    config
}

/// Returns a training of a configuration in a folder.
pub fn in_folder(folder: &Path, config: &RunConfig) -> Training {
    Training::from_config(config.clone()).run_dir(folder)
}

/// Trains a configuration in a folder to the end.
pub fn trained(folder: &Path, config: &RunConfig, data: &Dataset) -> Run {
    let result = in_folder(folder, config).train(data).unwrap();
    assert_eq!(result.outcome, Outcome::Finished);
    result.run.unwrap().0
}

/// Creates a run before its first update.
pub fn create_run(folder: &Path, config: &RunConfig, data: &Dataset) -> Run {
    let manifest = Manifest::now(&config.learner, config.seed, DatasetInfo::of("walks".as_ref(), data), None);
    Run::create(folder, config.clone(), manifest).unwrap().0
}

/// Logs the first step of a training and its warnings.
#[derive(Debug, Default, Clone)]
pub struct CallLog(pub Arc<Mutex<(u64, Vec<String>)>>);

impl Callbacks for CallLog {
    fn on_start(&mut self, _: &RunConfig, step: u64) {
        self.0.lock().unwrap().0 = step;
    }

    fn on_warning(&mut self, text: &str) {
        self.0.lock().unwrap().1.push(text.to_owned());
    }
}

/// Stops training after a step.
pub struct StopAfter(pub u64, pub StopHandle);

impl Callbacks for StopAfter {
    fn on_step(&mut self, step: u64) {
        if step >= self.0 {
            self.1.stop();
        }
    }
}
