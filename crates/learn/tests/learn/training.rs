//! Training through the library.

use crate::support::{CallLog, StopAfter, config, in_folder, walks};
use isochrone_core::{GoalPolicy as _, TemporalDistance as _};
use isochrone_learn::{
    Algorithm, LearnedDistance, LearnedPolicy, Model, Outcome, Preset, ScalingConfig, StopHandle, Training,
    error::LearnError,
    model::CheckpointSelector,
    run::{Run, State},
};

fn small() -> Training {
    Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(6).batch_size(32).set("critic.width", 16)
}

fn distances(model: &Model) -> Vec<f32> {
    let rows = [0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 0.1, 0.1];
    model.distance().unwrap().all_pairs_nats(&rows, &rows)
}

/// Training in memory, in a folder, and in a folder with an interruption gives the same model.
#[test]
fn the_model_does_not_depend_on_the_folder() {
    let data = walks(4, 30);
    let in_memory = small().fit(&data).unwrap();
    assert_eq!(in_memory.step, 6);
    let folder = tempfile::tempdir().unwrap();
    let once = small().run_dir(folder.path().join("once")).fit(&data).unwrap();
    let twice = folder.path().join("twice");
    let stop = StopHandle::default();
    let stopped =
        small().run_dir(&twice).callbacks(StopAfter(4, stop.clone())).stop(stop).train(&data).unwrap();
    assert_eq!((stopped.outcome, stopped.model.step), (Outcome::Stopped, 4));
    drop(stopped);
    assert_eq!(Run::open(&twice).unwrap().status().unwrap().state, State::Stopped);
    let resumed = small().run_dir(&twice).train(&data).unwrap();
    assert_eq!((resumed.outcome, resumed.model.step), (Outcome::Finished, 6));
    assert!(distances(&in_memory) == distances(&once) && distances(&once) == distances(&resumed.model));
    let actions = |model: &Model| model.policy().unwrap().actions(&[0.0; 4], &[1.0; 4]);
    assert_eq!(actions(&in_memory), actions(&resumed.model));
}

#[test]
fn a_finished_run_is_not_trained_again() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    let first = small().run_dir(folder.path()).fit(&data).unwrap();
    let sessions = || std::fs::read_to_string(folder.path().join("sessions.jsonl")).unwrap();
    let before = sessions();
    let log = CallLog::default();
    let second = small().run_dir(folder.path()).callbacks(log.clone()).train(&data).unwrap();
    assert_eq!((second.outcome, log.0.lock().unwrap().0), (Outcome::Finished, 6));
    assert!(distances(&first) == distances(&second.model) && sessions() == before);
    assert_eq!(Model::open(folder.path(), CheckpointSelector::Last).unwrap().step, 6);
}

/// A run with other settings or data is not resumed; the error names the difference.
#[test]
fn other_settings_and_data_are_rejected() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    small().run_dir(folder.path()).fit(&data).unwrap();
    let error = small().set("critic.depth", 3).run_dir(folder.path()).fit(&data).err().unwrap();
    match &error {
        LearnError::OtherSettings { setting, found, expected, .. } => {
            assert_eq!([setting, found, expected], ["learner.critic.depth", "2", "3"], "{error}");
        }
        _ => panic!("{error}"),
    }
    let error = small().run_dir(folder.path()).fit(&walks(4, 31)).err().unwrap();
    assert!(matches!(error, LearnError::OtherData { role: "training", .. }), "{error}");
    let error = small().run_dir(folder.path()).validation(&data).fit(&data).err().unwrap();
    assert!(matches!(error, LearnError::OtherData { role: "validation", .. }), "{error}");
    let narrow = crate::support::states_only();
    let error = small().validation(&narrow).fit(&data).err().unwrap();
    assert!(matches!(error, LearnError::ValidationWidths { found: [4, 0], expected: [4, 2] }), "{error}");
}

#[test]
fn invalid_settings_are_detected_before_anything_is_written() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    for training in [
        small().set("critic.widht", 3),
        small().set("critic.head.components", 7),
        small().set("seed", u64::MAX),
    ] {
        let error = training.run_dir(folder.path().join("run")).fit(&data).err().unwrap();
        assert!(matches!(error, LearnError::Config(_)), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn missing_distances_and_policies_are_errors() {
    let data = walks(4, 30);
    let cloned = Training::new(Algorithm::Gcbc).preset(Preset::Small).steps(2).fit(&data).unwrap();
    assert!(matches!(cloned.distance(), Err(LearnError::NoDistance)));
    let states = small().fit(&crate::support::states_only()).unwrap();
    assert!(matches!(states.policy(), Err(LearnError::NoPolicy)));
}

/// Models can be shared between threads, as language bindings require.
#[test]
fn models_are_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    fn moved<T: Send + 'static>() {}
    shared::<Model>();
    shared::<LearnedDistance>();
    shared::<LearnedPolicy>();
    shared::<StopHandle>();
    shared::<Algorithm>();
    moved::<Training>();
    let data = walks(4, 30);
    let distance = small().fit(&data).unwrap().distance().unwrap();
    let here = distance.paired_nats(&[0.0; 4], &[1.0; 4]);
    let other = distance.clone();
    assert_eq!(std::thread::spawn(move || other.paired_nats(&[0.0; 4], &[1.0; 4])).join().unwrap(), here);
}

/// A complete configuration and the settings that it was resolved from define the same training.
#[test]
fn a_configuration_defines_a_training() {
    let data = walks(4, 30);
    let resolved = small().config(&data).unwrap();
    let again = Training::from_config(resolved.clone()).config(&data).unwrap();
    assert_eq!(again, resolved);
    assert_eq!(Training::from_config(resolved).steps(7).config(&data).unwrap().steps, 7);
    let folder = tempfile::tempdir().unwrap();
    let config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 2);
    in_folder(folder.path(), &config).fit(&data).unwrap();
    let file = folder.path().join("config.toml");
    let from_file = Training::default().config_file(&file).unwrap().config(&data).unwrap();
    assert_eq!(from_file.learner, config.learner);
}

#[test]
fn data_settings_apply_in_memory() {
    let data = walks(4, 30);
    let training = || small().set("data.rows_per_episode", 16).set("data.scaling", "none");
    let config = training().config(&data).unwrap();
    assert_eq!((config.data.rows_per_episode, config.data.scaling), (Some(16), ScalingConfig::None));
    assert!(training().set("data.rows_per_episode", 3).fit(&data).is_err());
}
