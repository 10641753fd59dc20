//! Small datasets and runs.

use isochrone_core::rng;
use isochrone_data::{Dataset, Episode, Spec};
use isochrone_learn::{
    Algorithm, Callbacks, LearnerConfig, Outcome, Preset, StopHandle, Training,
    run::{DataConfig, DatasetInfo, Manifest, Run, RunConfig, checkpoint::sha256},
    settings,
};
use isochrone_nn::{group::ProcessGroup, store::Archive};
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

/// Returns every algorithm at the small preset, with the other extraction if it has one, and with
/// settings that no preset uses.
pub fn presets() -> Vec<LearnerConfig> {
    let small = || Algorithm::ALL.into_iter().map(|algorithm| algorithm.preset(Preset::Small));
    let awr = small().filter_map(|preset| changed(preset, &[("extraction.kind", "awr")]));
    let several_steps = r#"{ kind = "awr", advantage_steps = 5 }"#;
    let several = small().filter_map(move |preset| changed(preset, &[("extraction", several_steps)]));
    let other = small().filter_map(|preset| changed(preset, &OTHER));
    let options = small().filter_map(|preset| changed(preset, &OPTIONS));
    small().chain(awr).chain(several).chain(other).chain(options).collect()
}

/// Twin critics, learning-rate schedules, gradient clipping, learned standard deviations, other
/// heads.
const OTHER: [(&str, &str); 6] = [
    ("critic.ensemble", "twin"),
    ("contrast.ensemble", "twin"),
    ("critic_optimizer.schedule", "cosine"),
    ("critic_optimizer.max_grad_norm", "0.5"),
    ("policy.distribution.kind", "tanh_gaussian"),
    ("critic.head.kind", "iqe"),
];

/// Options of distances and policies.
const OPTIONS: [(&str, &str); 5] = [
    ("continuity_weight", "0.1"),
    ("critic.head.kind", "asymmetric_euclidean"),
    ("policy.distribution.kind", "mixture"),
    ("policy.goal_input", "displacement"),
    ("policy.goals.max_offset", "5"),
];

/// Applies the changes for which a preset has a setting; `None` if there are none.
pub fn changed(preset: LearnerConfig, changes: &[(&str, &str)]) -> Option<LearnerConfig> {
    let known: Vec<_> = changes.iter().filter(|(name, _)| preset.get(name).is_some()).collect();
    (!known.is_empty()).then(|| {
        known.into_iter().fold(preset, |preset, (name, value)| {
            let (name, value) = settings::parse_assignment(&format!("{name}={value}")).unwrap();
            preset.with(&name, value).unwrap()
        })
    })
}

/// Runs `train` on every rank and returns the results in the order of ranks. Each rank has its own
/// thread pool, as a process has: a rank that waits for others must not block their work.
pub fn on_ranks<T: Send>(size: usize, train: impl Fn(ProcessGroup) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let ranks = ProcessGroup::threads(size).into_iter().map(|group| {
            let train = &train;
            scope.spawn(move || {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
                pool.install(|| train(group))
            })
        });
        ranks.collect::<Vec<_>>().into_iter().map(|rank| rank.join().unwrap()).collect()
    })
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

/// Returns a described file with the checksum that fits its contents.
pub fn resealed(bytes: &[u8]) -> Vec<u8> {
    let (archive, text) =
        (Archive::from_bytes(bytes).unwrap(), Archive::description(bytes).unwrap().unwrap());
    let (fields, _) = text.rsplit_once(",\"sha256\":").unwrap();
    let sum = sha256(&[fields.as_bytes(), &archive.to_bytes()].concat());
    archive.to_described_bytes(&format!("{fields},\"sha256\":\"{sum}\"}}"))
}
