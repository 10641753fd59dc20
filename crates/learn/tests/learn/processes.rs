//! Several processes that train together, as threads of this one.

use crate::support::{CallLog, StopAfter, changed, config, create_run, on_ranks, presets, trained, walks};
use isochrone_data::Dataset;
use isochrone_learn::{
    Algorithm, LearnerConfig, Outcome, Preset, StopHandle, Training, TrainingResult,
    error::LearnError,
    run::{Checkpoints, OpenOptions, Record, Run, RunConfig},
};
use isochrone_nn::state_dict::LearnerState;
use std::{collections::BTreeMap, fs, path::Path};

/// Trains a configuration on several ranks, the first of which resumes the run in a folder.
fn train_on(
    size: usize,
    folder: &Path,
    config: &RunConfig,
    data: &Dataset,
) -> Vec<Result<TrainingResult, LearnError>> {
    on_ranks(size, |group| match group.rank() {
        0 => Training::from_run(accepting_edits(folder)).group(group).train(data),
        _ => Training::from_config(config.clone()).group(group).train(data),
    })
}

fn accepting_edits(folder: &Path) -> Run {
    Run::open_with(folder, &OpenOptions { accept_edits: true, ..OpenOptions::default() }).unwrap()
}

fn last_state(run: &Path) -> LearnerState {
    let (checkpoint, _) = accepting_edits(run).checkpoints().latest_valid(Checkpoints::load).unwrap();
    checkpoint.unwrap().snapshot
}

/// Returns the gradients of the last update: with `beta_1 = 0`, those are the first moments.
fn gradients(run: &Path) -> BTreeMap<String, Vec<f32>> {
    let state = last_state(run);
    let mut networks: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    for (name, values) in state.training.iter() {
        if let Some((network, _)) = name.split_once(".first") {
            networks.entry(network.to_owned()).or_default().extend(values);
        }
    }
    networks
}

/// Returns settings with which first moments are gradients, and all networks have the gradients of
/// the same parameters: Adam's first update of a critic moves every parameter by the learning rate,
/// also those whose gradient is only rounding, and the policy's gradient is computed after it.
fn measured(preset: LearnerConfig) -> LearnerConfig {
    let optimizers = ["critic_optimizer", "contrast_optimizer", "policy.optimizer"];
    let settings = optimizers
        .map(|name| [(format!("{name}.beta_1"), "0.0"), (format!("{name}.learning_rate"), "1e-12")]);
    let settings = settings.concat();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    changed(preset, &settings).unwrap()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Does one update on 1, 2, 4 and 8 processes and returns the largest relative difference of the
/// gradients of a network. With `start`, the update continues the run in that folder.
fn largest_difference(preset: &LearnerConfig, start: Option<(&Path, u64)>, data: &Dataset) -> f64 {
    let what = format!("{preset:?}");
    let folder = tempfile::tempdir().unwrap();
    let config = config(measured(preset.clone()), data, start.map_or(1, |(_, step)| step + 1));
    let [one, two, four, eight] = [1, 2, 4, 8].map(|size| {
        let run = folder.path().join(size.to_string());
        match start {
            // The settings of the last update differ from those of the ones before.
            Some((start, _)) => {
                copy_folder(start, &run);
                let path = run.join("config.toml");
                let mut table: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
                table.extend(toml::Table::try_from(&config).unwrap());
                fs::write(path, table.to_string()).unwrap();
            }
            None => drop(create_run(&run, &config, data)),
        }
        let results = train_on(size, &run, &config, data);
        assert!(
            results.iter().all(Result::is_ok),
            "{what}: {:?}",
            results.iter().find_map(|r| r.as_ref().err())
        );
        gradients(&run)
    });
    assert!(!one.is_empty());
    let norm = |values: &[f32]| values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
    let differences = [two, four, eight]
        .iter()
        .flat_map(|several| {
            one.iter()
                .map(|(network, values)| {
                    let difference: Vec<f32> =
                        values.iter().zip(&several[network]).map(|(a, b)| a - b).collect();
                    norm(&difference) / norm(values)
                })
                .collect::<Vec<_>>()
        })
        .collect::<Vec<_>>();
    differences.into_iter().fold(0.0, f64::max)
}

#[test]
fn first_gradients_of_every_algorithm_do_not_depend_on_the_number_of_processes() {
    let data = walks(8, 40);
    for preset in presets() {
        let difference = largest_difference(&preset, None, &data);
        println!("{} {difference:.1e}", preset.algorithm());
        assert!(difference < 1e-6, "{difference:e}: {preset:?}");
    }
}

/// After some updates, the constraints of CMD-2 and QRL are active, and their multipliers change.
#[test]
fn gradients_with_active_constraints_do_not_depend_on_the_number_of_processes() {
    let data = walks(8, 40);
    let fast = [("critic_optimizer.learning_rate", "0.01"), ("constraint.learning_rate", "0.5")];
    let slow = [("constraint.learning_rate", "0.5")];
    for (algorithm, part, settings, updates) in [
        (Algorithm::Cmd2, "critic", &fast[..], 60),
        (Algorithm::Qrl, "constraint", &fast, 60),
        (Algorithm::Qrl, "constraint", &slow, 200),
    ] {
        let preset = changed(algorithm.preset(Preset::Small), settings).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(preset.clone(), &data, updates);
        config.metrics.every = 1;
        let records = trained(folder.path(), &config, &data).records().unwrap();
        let value = |name: &str| {
            let last = records.last().unwrap();
            last.values.iter().find(|(known, _)| *known == format!("{part}/{name}")).unwrap().1
        };
        assert!(value("violation") > 0.0 && (value("lambda") - 1.0).abs() > 0.01, "{algorithm:?}");
        let difference = largest_difference(&preset, Some((folder.path(), updates)), &data);
        println!("{algorithm} after {updates} updates: {difference:.1e}");
        assert!(difference < 1e-6, "{algorithm:?}: {difference:e}");
    }
}

/// Returns the largest relative difference of each loss over all updates.
fn drift(one: &[Record], other: &[Record]) -> BTreeMap<String, f64> {
    let mut largest: BTreeMap<String, f64> = BTreeMap::new();
    for (one, other) in one.iter().zip(other) {
        let pairs = one.values.iter().zip(&other.values);
        for ((name, a), (_, b)) in pairs.filter(|((name, _), _)| name.ends_with("/loss")) {
            let largest = largest.entry(name.clone()).or_default();
            *largest = largest.max((a - b).abs() / a.abs().max(1.0));
        }
    }
    largest
}

/// Losses of four processes are those of one up to rounding, which training amplifies: Adam divides
/// by the root of the second moment, which is almost zero for some parameters, and the intervals of
/// QRL are sorted, so that a rounding error may swap two ends. Gradients from equal states agree in
/// all cases, see above.
#[test]
fn losses_of_200_updates_do_not_depend_on_the_number_of_processes() {
    let data = walks(8, 40);
    for algorithm in Algorithm::ALL {
        let bound = match algorithm.name() {
            "qrl" => 1e-2,
            "cmd2" => 3e-5,
            _ => 1e-5,
        };
        let [one, four] = [1, 4].map(|size| {
            let mut config = config(algorithm.preset(Preset::Small), &data, 200);
            config.metrics.every = 1;
            let folder = tempfile::tempdir().unwrap();
            create_run(folder.path(), &config, &data);
            assert!(train_on(size, folder.path(), &config, &data).iter().all(Result::is_ok));
            Run::open(folder.path()).unwrap().records().unwrap()
        });
        assert!(one.len() == 200);
        let drift = drift(&one, &four);
        println!("{algorithm}: {drift:?}");
        assert!(drift.values().all(|difference| *difference < bound), "{algorithm:?}: {drift:?}");
    }
}

/// Groups of two of four processes have the gradients of two batches of half the size.
#[test]
fn negatives_can_be_limited_to_groups() {
    let data = walks(8, 40);
    let mut config = config(measured(Algorithm::Cmd1.preset(Preset::Small)), &data, 1);
    let of = |config: &RunConfig, size: usize| {
        let folder = tempfile::tempdir().unwrap();
        create_run(folder.path(), config, &data);
        let results = train_on(size, folder.path(), config, &data);
        assert!(results.iter().all(Result::is_ok), "{:?}", results.iter().find_map(|r| r.as_ref().err()));
        gradients(folder.path())
    };
    let all = of(&config, 4);
    config.processes_per_group = Some(2);
    let (grouped, again) = (of(&config, 4), of(&config, 2));
    assert_ne!(all, grouped);
    // The first of two groups of two processes has the rows of the first half of the batch; with
    // two processes, the only group has all rows.
    assert_ne!(grouped, again);
    assert!(!grouped["critic"].is_empty() && grouped["critic"].iter().all(|value| value.is_finite()));
    config.processes_per_group = Some(3);
    let folder = tempfile::tempdir().unwrap();
    create_run(folder.path(), &config, &data);
    let error = train_on(4, folder.path(), &config, &data).remove(0).err().unwrap().to_string();
    assert!(error.contains("processes_per_group"), "{error}");
}

#[test]
fn ranks_that_are_stopped_and_resumed_give_the_bytes_of_an_uninterrupted_run() {
    let data = walks(8, 40);
    let folder = tempfile::tempdir().unwrap();
    let config = config(Algorithm::Cmd2.preset(Preset::Small), &data, 20);
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    for run in [&whole, &parts] {
        create_run(run, &config, &data);
    }
    assert!(train_on(2, &whole, &config, &data).iter().all(Result::is_ok));
    let stopped = on_ranks(2, |group| match group.rank() {
        0 => Training::from_run(Run::open(&parts).unwrap()).group(group).train(&data).unwrap().outcome,
        // Only this rank is asked to stop after update 7, and all stop after the next.
        _ => {
            let stop = StopHandle::default();
            let training = Training::from_config(config.clone()).callbacks(StopAfter(7, stop.clone()));
            training.stop(stop).group(group).train(&data).unwrap().outcome
        }
    });
    assert_eq!(stopped, [Outcome::Stopped; 2]);
    assert_eq!(Run::open(&parts).unwrap().status().unwrap().step, 8);
    assert!(train_on(2, &parts, &config, &data).iter().all(Result::is_ok));
    assert_eq!(last_state(&whole), last_state(&parts));
}

#[test]
fn a_resume_with_another_number_of_processes_warns() {
    let data = walks(8, 40);
    let folder = tempfile::tempdir().unwrap();
    let config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 2);
    create_run(folder.path(), &config, &data);
    let log = CallLog::default();
    let results = on_ranks(2, |group| match group.rank() {
        0 => Training::from_run(Run::open(folder.path()).unwrap())
            .callbacks(log.clone())
            .group(group)
            .train(&data),
        _ => Training::from_config(config.clone()).group(group).train(&data),
    });
    assert!(results.iter().all(Result::is_ok));
    let warnings = &log.0.lock().unwrap().1;
    assert!(
        warnings.iter().any(|text| text.contains("started with 1 processes and continues with 2")),
        "{warnings:?}"
    );
}

/// A failure of one rank before the first update is an error of all, whichever rank it is.
#[test]
fn errors_before_training_are_errors_of_all_ranks() {
    let (data, other) = (walks(8, 40), walks(8, 41));
    let mut config = config(Algorithm::Cmd1.preset(Preset::Small), &data, 4);
    config.batch_size = 36;
    for failing in 0..3 {
        let results = on_ranks(3, |group| {
            let fails = group.rank() == failing;
            let training = Training::from_config(config.clone()).group(group);
            if fails { training.set("no_such_setting", 1).train(&data) } else { training.train(&data) }
        });
        for (rank, result) in results.into_iter().enumerate() {
            match result.err().expect("an error") {
                LearnError::OtherProcess { rank: named } => assert!(named == failing && rank != failing),
                _ => assert_eq!(rank, failing),
            }
        }
    }
    let results = on_ranks(2, |group| {
        let data = if group.rank() == 1 { &other } else { &data };
        Training::from_config(config.clone()).group(group).train(data)
    });
    for result in results {
        assert!(matches!(result, Err(LearnError::ProcessesDiffer { what: "dataset", .. })));
    }
    config.batch_size = 32;
    let results = on_ranks(3, |group| Training::from_config(config.clone()).group(group).train(&data));
    for result in results {
        let error = result.err().unwrap().to_string();
        assert!(error.contains("batch_size") && error.contains("33"), "{error}");
    }
}
