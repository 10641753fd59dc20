//! Requirements on every preset of every algorithm.

use crate::support::{StopAfter, config, create_run, in_folder, presets, states_only, walks};
use isochrone_core::{GoalPolicy as _, TemporalDistance as _, rng};
use isochrone_data::Dataset;
use isochrone_learn::{
    Algorithm, LearnerConfig, Outcome, Preset, StopHandle, Training,
    internals::restore,
    model::{CheckpointSelector, Model},
    run::{Checkpoint, Checkpoints, Record, Run, RunConfig},
};
use isochrone_nn::state_dict::Mode;
use std::path::Path;

/// Resumes a run until `until`, or to the end.
fn train(run: &Run, data: &Dataset, until: u64) -> Outcome {
    let stop = StopHandle::default();
    let training = Training::from_run(Run::open(run.folder()).unwrap()).evaluate_training_data();
    let training = training.callbacks(StopAfter(until, stop.clone())).stop(stop);
    training.train(data).unwrap().outcome
}

/// Returns the last checkpoint and the metrics of a run, without times.
fn results(run: &Run) -> (Checkpoint, Vec<Record>) {
    let (checkpoint, warnings) = run.checkpoints().latest_valid(Checkpoints::load).unwrap();
    assert!(warnings.is_empty());
    let mut checkpoint = checkpoint.unwrap();
    checkpoint.progress.seconds = 0.0;
    let records = run.records().unwrap().into_iter().map(|record| Record { seconds: 0.0, ..record });
    (checkpoint, records.collect())
}

/// Trains to the end, with evaluations.
fn trained(folder: &Path, config: &RunConfig, data: &Dataset) -> Run {
    let result = in_folder(folder, config).evaluate_training_data().train(data).unwrap();
    assert_eq!(result.outcome, Outcome::Finished);
    result.run.unwrap().0
}

#[test]
fn configurations_round_trip_through_their_file() {
    let data = walks(2, 10);
    let other_presets = Preset::ALL.iter();
    let all = presets()
        .into_iter()
        .chain(other_presets.flat_map(|&preset| Algorithm::ALL.map(|algorithm| algorithm.preset(preset))));
    for learner in all {
        let config = config(learner, &data, 100);
        let text = toml::to_string_pretty(&config).unwrap();
        assert_eq!(RunConfig::from_table(text.parse().unwrap(), &[]).unwrap(), config, "{text}");
    }
}

#[test]
fn losses_decrease() {
    let data = walks(20, 60);
    // Distances of a Euclidean head start above one step per transition, and QRL lowers them first.
    let starts_high = |learner: &LearnerConfig| {
        let head = learner.get("critic.head.kind").and_then(|kind| kind.as_str());
        learner.algorithm() == Algorithm::Qrl && head == Some("asymmetric_euclidean")
    };
    // With the random numbers of one more goal distribution, the noise of ten updates hides it.
    let is_noisy = |learner: &LearnerConfig| {
        let steps = learner.get("extraction.advantage_steps").and_then(toml::Value::as_integer);
        learner.algorithm() == Algorithm::Mqe && steps.is_some_and(|steps| steps > 1)
    };
    for learner in presets().into_iter().filter(|learner| !starts_high(learner) && !is_noisy(learner)) {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(learner.clone(), &data, 300);
        config.metrics.every = 10;
        let run = trained(folder.path(), &config, &data);
        let records = run.records().unwrap();
        // The first of these losses that an algorithm has must decrease below this fraction. The
        // loss of a policy on a changing distance need not decrease, that of cloning must. The push
        // loss starts at 500 and decreases by the growth of distances in steps.
        let decreasing =
            [("contrast/loss", 0.85), ("push/loss", 0.998), ("critic/loss", 0.8), ("actor/loss", 0.98)];
        let has = |name: &str| records[0].values.iter().any(|(known, _)| known == name);
        let (name, fraction) = decreasing.into_iter().find(|(name, _)| has(name)).expect("there is a loss");
        let of = |record: Record| record.values.into_iter().find(|(known, _)| known == name);
        let losses: Vec<f64> = records.into_iter().filter_map(of).map(|(_, loss)| loss).collect();
        println!("{} {losses:.3?}", learner.algorithm());
        assert_eq!(losses.len(), 30);
        let (first, last) = (losses[0], losses[27..].iter().sum::<f64>() / 3.0);
        assert!(last < fraction * first, "{}: {name} {losses:.3?}", learner.algorithm());
    }
}

/// A model that was saved and loaded returns the values of the one in memory.
#[test]
fn saved_models_return_the_same_values() {
    let data = walks(4, 30);
    let rows = data.episode(0).observations.to_vec();
    for learner in presets() {
        let folder = tempfile::tempdir().unwrap();
        let trained = in_folder(folder.path(), &config(learner.clone(), &data, 6)).fit(&data).unwrap();
        let opened = Model::open(folder.path(), CheckpointSelector::Last).unwrap();
        let (reversed, n) = (rows.chunks(4).rev().flatten().copied().collect::<Vec<_>>(), rows.len() / 4);
        assert_eq!(trained.distance.is_some(), opened.distance.is_some());
        if let (Some(trained), Some(opened)) = (&trained.distance, &opened.distance) {
            let pairs = opened.all_pairs_nats(&rows, &rows);
            assert_eq!(trained.all_pairs_nats(&rows, &rows), pairs);
            assert_eq!(trained.paired_nats(&rows, &reversed), opened.paired_nats(&rows, &reversed));
            // All pairs and matched pairs agree up to rounding, since matrix sizes differ.
            for (row, nats) in opened.paired_nats(&rows, &reversed).into_iter().enumerate() {
                let of_all = pairs[row * n + n - 1 - row];
                assert!(
                    (nats - of_all).abs() < 1e-4 * (1.0 + nats.abs()),
                    "{}: {nats} {of_all}",
                    learner.algorithm()
                );
            }
        }
        let act = |model: &Model| model.policy.as_ref().unwrap().actions(&rows, &reversed);
        assert_eq!(act(&trained), act(&opened));
        assert!(act(&opened).iter().all(|action| (-1.0..=1.0).contains(action)));
    }
}

/// Runs with the same seed are bit-identical for one and two threads; another seed gives another
/// result.
#[test]
fn results_depend_on_the_seed_alone() {
    let data = walks(10, 40);
    for learner in presets() {
        let with = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let folder = tempfile::tempdir().unwrap();
                let config = RunConfig { seed, ..config(learner.clone(), &data, 20) };
                results(&trained(folder.path(), &config, &data))
            })
        };
        let first = with(1, 3);
        assert!(first == with(1, 3), "{}: the same seed", learner.algorithm());
        assert!(first == with(2, 3), "{}: two threads", learner.algorithm());
        assert!(first.0.snapshot != with(1, 4).0.snapshot, "{}: another seed", learner.algorithm());
    }
}

/// A run that is stopped at 20 random steps and resumed each time has the weights, moments,
/// multipliers and metrics of an uninterrupted run.
#[test]
fn resume_equals_an_uninterrupted_run() {
    const STEPS: u64 = 60;
    let data = walks(10, 40);
    for (number, learner) in presets().into_iter().enumerate() {
        let mut config = config(learner.clone(), &data, STEPS);
        (config.metrics.every, config.metrics.evaluate_every, config.checkpoints.every) = (7, 11, 13);
        let uninterrupted = tempfile::tempdir().unwrap();
        let expected = results(&trained(uninterrupted.path(), &config, &data));
        let interrupted = tempfile::tempdir().unwrap();
        let run = create_run(interrupted.path(), &config, &data);
        let mut random = rng::stream(9, number as u64);
        let mut stops: Vec<u64> =
            (0..20).map(|_| 1 + rng::below(&mut random, STEPS as usize - 1) as u64).collect();
        stops.sort_unstable();
        stops.dedup();
        for stop in stops {
            assert_eq!(train(&run, &data, stop), Outcome::Stopped, "{} at {stop}", learner.algorithm());
        }
        assert_eq!(train(&run, &data, u64::MAX), Outcome::Finished);
        assert!(results(&run) == expected, "{}", learner.algorithm());
    }
}

#[test]
fn everything_saved_is_restored() {
    let data = walks(4, 10);
    for learner in presets() {
        let folder = tempfile::tempdir().unwrap();
        let config = config(learner.clone(), &data, 2);
        let (checkpoint, _) = results(&trained(folder.path(), &config, &data));
        let context = config.context(data.spec(), &isochrone_learn::cpu());
        let restored =
            restore(&mut *learner.init(&context).unwrap(), Mode::Resume, checkpoint.snapshot, &context);
        assert!(restored.is_ok(), "{}: {restored:?}", learner.algorithm());
    }
}

/// Training on unscaled states of zeros stays finite.
#[test]
fn states_of_zeros_can_be_trained_on() {
    let data = Dataset::from_arrays(2, 1, [(vec![0.0; 40], vec![0.0; 19])]).unwrap();
    for learner in presets() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(learner, &data, 3);
        config.data.scaling = isochrone_learn::ScalingConfig::None;
        trained(folder.path(), &config, &data);
    }
}

/// Without actions, algorithms learn a distance and no policy, or return an error if they require
/// actions.
#[test]
fn distances_are_learned_without_actions() {
    let data = states_only();
    for algorithm in Algorithm::ALL {
        let learner = algorithm.preset(Preset::Small);
        let config = config(learner.clone(), &data, 8);
        let context = config.context(data.spec(), &isochrone_learn::cpu());
        let needs_actions = algorithm.needs_actions();
        match learner.init(&context) {
            Err(error) => {
                assert!(needs_actions, "{error}");
                assert!(
                    error.to_string().contains("actions") && error.to_string().contains("hint:"),
                    "{error}"
                );
            }
            Ok(_) => {
                assert!(!needs_actions);
                let folder = tempfile::tempdir().unwrap();
                trained(folder.path(), &config, &data);
                let model = Model::open(folder.path(), CheckpointSelector::Last).unwrap();
                assert!(model.policy.is_none());
                let rows = data.episode(0).observations;
                let nats = model.distance.unwrap().all_pairs_nats(rows, rows);
                assert!(nats.iter().all(|nats| nats.is_finite()));
            }
        }
    }
}
