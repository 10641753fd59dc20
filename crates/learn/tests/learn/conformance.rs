//! What every preset of every algorithm must do.

use crate::support::{begin, config, states_only, walks};
use isochrone_core::{GoalPolicy as _, TemporalDistance as _, rng};
use isochrone_data::{Dataset, EpisodeSink as _};
use isochrone_learn::{
    algos::{Algorithm, AlgorithmConfig, Cmd1Config, Cmd2Config, CrlConfig, GciqlConfig, QrlConfig},
    evaluation::ObservedSteps,
    ledger::{Ledger, Snapshot},
    model::{Model, Which},
    parts::{Extraction, Size},
    run::{Checkpoint, Checkpoints, Record, Run, RunConfig, overrides},
    setting::Setting,
    trainer::{Observer, Outcome, Trainer},
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Every algorithm, small, and those that can with the other way to draw a policy.
fn presets() -> Vec<AlgorithmConfig> {
    let awr = Extraction::Awr { alpha: 3.0, largest_weight: 100.0 };
    let mut presets: Vec<AlgorithmConfig> =
        Algorithm::ALL.into_iter().map(|algorithm| algorithm.preset(Size::Small)).collect();
    for preset in presets.clone() {
        presets.extend(match preset {
            AlgorithmConfig::Cmd1(config) => {
                Some(AlgorithmConfig::Cmd1(Cmd1Config { extraction: awr, ..config }))
            }
            AlgorithmConfig::Cmd2(config) => {
                Some(AlgorithmConfig::Cmd2(Cmd2Config { extraction: awr, ..config }))
            }
            AlgorithmConfig::Crl(config) => {
                Some(AlgorithmConfig::Crl(CrlConfig { extraction: awr, ..config }))
            }
            AlgorithmConfig::Qrl(config) => {
                Some(AlgorithmConfig::Qrl(QrlConfig { extraction: awr, ..config }))
            }
            AlgorithmConfig::Gciql(config) => {
                Some(AlgorithmConfig::Gciql(GciqlConfig { extraction: awr, ..config }))
            }
            AlgorithmConfig::Gcbc(_) | AlgorithmConfig::Ddpg(_) => None,
        });
    }
    presets.extend(unusual());
    presets
}

/// Settings that presets do not use: twins, falling learning rates, shortened gradients, learned deviations, other heads.
fn unusual() -> Vec<AlgorithmConfig> {
    let settings = [
        ("critic.ensemble", "twin"),
        ("contrast.ensemble", "twin"),
        ("critic_optimiser.schedule", "cosine"),
        ("critic_optimiser.largest_gradient", "0.5"),
        ("policy.spread.kind", "tanh_gaussian"),
        ("critic.head.kind", "iqe"),
        ("hinge.kind", "huber"),
    ];
    let change = |algorithm: Algorithm| {
        let mut table = toml::Table::try_from(algorithm.preset(Size::Small)).unwrap();
        for (name, value) in settings {
            let (outer, inner) = name.split_once('.').unwrap();
            // Only what the algorithm has.
            let first = inner.split('.').next().unwrap();
            if table.get(outer).and_then(|outer| outer.get(first)).is_some() {
                let (name, value) = overrides::parse(&format!("{name}={value}")).unwrap();
                overrides::set(&mut table, &name, value);
            }
        }
        overrides::read(table).unwrap()
    };
    Algorithm::ALL.map(change).to_vec()
}

/// Stops at a step.
struct StopAt<'a>(u64, &'a AtomicBool);

impl Observer for StopAt<'_> {
    fn updated(&mut self, step: u64) {
        if step == self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

/// Trains on until `until`, or to the end.
fn train(run: &Run, data: &Arc<Dataset>, until: u64) -> Outcome {
    let config = run.config();
    let judge =
        ObservedSteps::new(data.clone(), config.discount(), config.metrics.evaluation_pairs, config.seed)
            .unwrap();
    let _lock = run.lock().unwrap();
    let stop = AtomicBool::new(false);
    let mut observer = StopAt(until, &stop);
    let mut trainer = Trainer::new(run, data.clone(), &isochrone_learn::cpu(), &mut observer)
        .unwrap()
        .with_evaluation(judge);
    trainer.train(&mut observer, &stop).unwrap()
}

/// What is left of a run: its last checkpoint but for the time, and what it measured but for the time.
fn remains(run: &Run) -> (Checkpoint, Vec<Record>) {
    let (checkpoint, damaged) = run.checkpoints().last_whole(Checkpoints::load).unwrap();
    assert!(damaged.is_empty());
    let mut checkpoint = checkpoint.unwrap();
    checkpoint.progress.seconds = 0.0;
    let records = run.records().unwrap().into_iter().map(|record| Record { seconds: 0.0, ..record });
    (checkpoint, records.collect())
}

fn trained(folder: &Path, config: &RunConfig, data: &Arc<Dataset>) -> Run {
    let run = begin(folder, config, data);
    assert_eq!(train(&run, data, u64::MAX), Outcome::Finished);
    run
}

/// A configuration, written and read, is the same; so are those of the other sizes.
#[test]
fn configurations_survive_their_file() {
    let data = walks(2, 10);
    let sizes = [Size::Small, Size::Standard, Size::Paper];
    let all = presets()
        .into_iter()
        .chain(sizes.iter().flat_map(|&size| Algorithm::ALL.map(|algorithm| algorithm.preset(size))));
    for learner in all {
        let config = config(learner, &data, 100);
        let text = toml::to_string_pretty(&config).unwrap();
        assert_eq!(overrides::read::<RunConfig>(text.parse().unwrap()).unwrap(), config, "{text}");
    }
}

/// What is descended falls.
#[test]
fn losses_fall() {
    let data = walks(20, 60);
    for learner in presets() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(learner, &data, 300);
        config.metrics.every = 10;
        let run = trained(folder.path(), &config, &data);
        // A policy that climbs a moving distance has no loss that must fall; cloning has. Pushing falls from 500, by the steps that distances grow.
        let (name, most) = match learner {
            AlgorithmConfig::Gcbc(_) => ("actor/loss", 0.98),
            AlgorithmConfig::Cmd2(_) => ("contrast/loss", 0.8),
            AlgorithmConfig::Qrl(_) => ("push/loss", 0.998),
            _ => ("critic/loss", 0.8),
        };
        let of = |record: Record| record.values.into_iter().find(|(known, _)| known == name);
        let losses: Vec<f64> =
            run.records().unwrap().into_iter().filter_map(of).map(|(_, loss)| loss).collect();
        println!("{} {losses:.3?}", learner.name());
        assert_eq!(losses.len(), 30);
        let (first, last) = (losses[0], losses[27..].iter().sum::<f64>() / 3.0);
        assert!(last < most * first, "{}: {name} {losses:.3?}", learner.name());
    }
}

/// A model that was saved and opened answers as the one in memory did.
#[test]
fn saved_models_answer_the_same() {
    let data = walks(4, 30);
    let rows = data.episode(0).observations.to_vec();
    for learner in presets() {
        let folder = tempfile::tempdir().unwrap();
        let run = begin(folder.path(), &config(learner, &data, 6), &data);
        let mut trainer = Trainer::new(&run, data.clone(), &isochrone_learn::cpu(), &mut ()).unwrap();
        trainer.train(&mut (), &AtomicBool::new(false)).unwrap();
        let (there, opened) = (trainer.model(), Model::open(folder.path(), Which::Last).unwrap());
        let (reversed, n) = (rows.chunks(4).rev().flatten().copied().collect::<Vec<_>>(), rows.len() / 4);
        assert_eq!(there.distance.is_some(), opened.distance.is_some());
        if let (Some(there), Some(opened)) = (&there.distance, &opened.distance) {
            let pairs = opened.all_pairs_nats(&rows, &rows);
            assert_eq!(there.all_pairs_nats(&rows, &rows), pairs);
            assert_eq!(there.paired_nats(&rows, &reversed), opened.paired_nats(&rows, &reversed));
            // All pairs and pairs agree, up to rounding of products of other sizes.
            for (row, nats) in opened.paired_nats(&rows, &reversed).into_iter().enumerate() {
                let of_all = pairs[row * n + n - 1 - row];
                assert!(
                    (nats - of_all).abs() < 1e-4 * (1.0 + nats.abs()),
                    "{}: {nats} {of_all}",
                    learner.name()
                );
            }
        }
        let act = |model: &Model| model.policy.as_ref().unwrap().actions(&rows, &reversed);
        assert_eq!(act(&there), act(&opened));
        assert!(act(&opened).iter().all(|action| (-1.0..=1.0).contains(action)));
    }
}

/// The same seed gives the same bits, with one thread or two; another seed does not.
#[test]
fn bits_depend_on_the_seed_alone() {
    let data = walks(10, 40);
    for learner in presets() {
        let with = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let folder = tempfile::tempdir().unwrap();
                let config = RunConfig { seed, ..config(learner, &data, 20) };
                remains(&trained(folder.path(), &config, &data))
            })
        };
        let first = with(1, 3);
        assert!(first == with(1, 3), "{}: the same seed", learner.name());
        assert!(first == with(2, 3), "{}: two threads", learner.name());
        assert!(first.0.snapshot != with(1, 4).0.snapshot, "{}: another seed", learner.name());
    }
}

/// A run that is stopped at 20 random steps and continued each time leaves what an uninterrupted one leaves: weights, moments, multipliers, metrics.
#[test]
fn resuming_changes_nothing() {
    const STEPS: u64 = 60;
    let data = walks(10, 40);
    for (number, learner) in presets().into_iter().enumerate() {
        let mut config = config(learner, &data, STEPS);
        (config.metrics.every, config.metrics.evaluate_every, config.checkpoints.every) = (7, 11, 13);
        let whole = tempfile::tempdir().unwrap();
        let expected = remains(&trained(whole.path(), &config, &data));
        let parts = tempfile::tempdir().unwrap();
        let run = begin(parts.path(), &config, &data);
        let mut random = rng::stream(9, number as u64);
        let mut cuts: Vec<u64> =
            (0..20).map(|_| 1 + rng::below(&mut random, STEPS as usize - 1) as u64).collect();
        cuts.sort_unstable();
        cuts.dedup();
        for cut in cuts {
            assert_eq!(train(&run, &data, cut), Outcome::Stopped, "{} at {cut}", learner.name());
        }
        assert_eq!(train(&run, &data, u64::MAX), Outcome::Finished);
        assert!(remains(&run) == expected, "{}", learner.name());
    }
}

/// A ledger that goes both ways through a learner is empty at the end: nothing is saved that is not read.
#[test]
fn everything_saved_is_read() {
    let data = walks(4, 10);
    for learner in presets() {
        let folder = tempfile::tempdir().unwrap();
        let config = config(learner, &data, 2);
        let (checkpoint, _) = remains(&trained(folder.path(), &config, &data));
        let setting = Setting::of(data.spec(), config.discount(), 0, 2, &isochrone_learn::cpu());
        let mut read = Ledger::resuming(checkpoint.snapshot);
        learner.init(&setting).unwrap().exchange(&mut read).unwrap();
        let mut left = read.into_snapshot();
        for (name, width) in [("observation", 4), ("action", 2)] {
            left.weights.take(&format!("scaling.{name}.shift"), &[width]).unwrap();
            left.weights.take(&format!("scaling.{name}.factor"), &[width]).unwrap();
        }
        assert_eq!(left, Snapshot::default(), "{}", learner.name());
    }
}

/// States of zeros, unscaled, are states like others.
#[test]
fn a_state_of_zeros_is_no_accident() {
    let spec = isochrone_data::Spec::new(2, 1);
    let mut builder = isochrone_data::DatasetBuilder::default();
    builder.begin(&spec).unwrap();
    let episode =
        isochrone_data::Episode { observations: vec![0.0; 40], actions: vec![0.0; 19], ..Default::default() };
    builder.episode(&episode.view(&spec).unwrap()).unwrap();
    let data = Arc::new(builder.finish());
    for learner in presets() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(learner, &data, 3);
        config.data.scaling = isochrone_learn::scaling::ScalingConfig::None;
        trained(folder.path(), &config, &data);
    }
}

/// Logs without actions give a distance and no policy; what cannot learn without actions says so.
#[test]
fn states_alone_teach_a_distance() {
    let data = states_only();
    for algorithm in Algorithm::ALL {
        let learner = algorithm.preset(Size::Small);
        let config = config(learner, &data, 8);
        let setting = Setting::of(data.spec(), config.discount(), 0, 8, &isochrone_learn::cpu());
        let needs_actions = matches!(algorithm, Algorithm::Gcbc | Algorithm::Gciql | Algorithm::Ddpg);
        match learner.init(&setting) {
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
                let model = Model::open(folder.path(), Which::Last).unwrap();
                assert!(model.policy.is_none());
                let rows = data.episode(0).observations;
                let nats = model.distance.unwrap().all_pairs_nats(rows, rows);
                assert!(nats.iter().all(|nats| nats.is_finite()));
            }
        }
    }
}
