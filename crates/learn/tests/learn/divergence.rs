//! Values that are not finite.

use crate::support::{config, in_folder, walks};
use isochrone_data::{DatasetBuilder, Episode, EpisodeSink as _, Spec};
use isochrone_learn::{
    Algorithm, Preset,
    error::LearnError,
    run::{Run, State},
};

/// An excessive learning rate stops the run with a diagnosis; the last checkpoint precedes the
/// divergence.
#[test]
fn divergence_names_the_step_and_the_last_checkpoint() {
    let data = walks(10, 40);
    let learner = Algorithm::Gcbc.preset(Preset::Small);
    let learner = learner.with("policy.optimizer.learning_rate", 1e30).unwrap();
    let mut config = config(learner, &data, 100);
    config.checkpoints.every = 1;
    let folder = tempfile::tempdir().unwrap();
    let error = in_folder(folder.path(), &config).fit(&data).err().unwrap();
    let run = Run::open(folder.path()).unwrap();
    let LearnError::Diverged(divergence) = &error else { panic!("{error}") };
    assert!(!divergence.value.is_finite() && divergence.step < 100, "{divergence}");
    let status = run.status().unwrap();
    assert_eq!((status.state, status.reason), (State::Diverged, Some(error.to_string())));
    match (&divergence.last_checkpoint, run.checkpoints().steps().unwrap().last()) {
        (Some(path), Some(last)) => {
            assert!(*last < divergence.step && *path == run.checkpoints().path(*last), "{error}");
        }
        (None, None) => assert_eq!(divergence.step, 1, "{error}"),
        other => panic!("{other:?}"),
    }
    assert!(error.to_string().contains("hint:"), "{error}");
}

#[test]
fn non_finite_values_of_the_dataset_are_located() {
    let spec = Spec::new(1, 1);
    let mut builder = DatasetBuilder::default();
    builder.begin(&spec).unwrap();
    for (number, bad) in [1.0, f32::NAN].into_iter().enumerate() {
        let episode = Episode {
            observations: vec![0.0, bad, number as f32],
            actions: vec![0.5; 2],
            ..Episode::default()
        };
        builder.episode(&episode.view(&spec).unwrap()).unwrap();
    }
    let data = builder.finish();
    let folder = tempfile::tempdir().unwrap();
    let config = config(Algorithm::Cmd1.preset(Preset::Small), &data, 10);
    let error = in_folder(folder.path(), &config).fit(&data).err().unwrap().to_string();
    assert!(!folder.path().join("config.toml").exists(), "nothing is written");
    assert!(error.contains("episode 1, row 1 of observations") && error.contains("hint:"), "{error}");
}
