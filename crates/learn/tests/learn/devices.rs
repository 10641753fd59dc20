//! Devices: what a run records of them, and training on a GPU.

use crate::support::{CallLog, config, in_folder, walks};
use isochrone_learn::{
    Algorithm, ComputeDevice, Outcome, Preset, Training,
    error::{DeviceError, LearnError},
    run::{DatasetInfo, Manifest, Run},
};
use std::fs;

#[test]
fn a_run_records_its_device() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    let config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 2);
    let result = in_folder(folder.path(), &config).device(ComputeDevice::Cpu).train(&data).unwrap();
    assert_eq!(result.run.unwrap().0.manifest().made_by.device, "cpu");
    let sessions = fs::read_to_string(folder.path().join("sessions.jsonl")).unwrap();
    assert!(sessions.contains(r#""device":"cpu""#), "{sessions}");
}

#[test]
fn a_run_of_another_device_is_resumed_with_a_warning() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    let config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 4);
    let mut manifest =
        Manifest::now(&config.learner, config.seed, DatasetInfo::of("walks".as_ref(), &data), None);
    manifest.made_by.device = "wgpu:1 (an adapter)".to_owned();
    drop(Run::create(folder.path(), config, manifest).unwrap());
    let log = CallLog::default();
    let run = Run::open(folder.path()).unwrap();
    let result = Training::from_run(run).callbacks(log.clone()).train(&data).unwrap();
    assert_eq!(result.outcome, Outcome::Finished);
    let (_, warnings) = log.0.lock().unwrap().clone();
    let [warning] = &warnings[..] else { panic!("one warning, not {warnings:?}") };
    assert!(warning.contains("started on wgpu:1 (an adapter) and continues on cpu"), "{warning}");
}

#[test]
fn a_device_that_is_not_there_is_an_error_before_anything_is_written() {
    let (folder, data) = (tempfile::tempdir().unwrap(), walks(4, 30));
    let config = config(Algorithm::Gcbc.preset(Preset::Small), &data, 2);
    let device = ComputeDevice::Wgpu { index: Some(1_000) };
    let error = in_folder(folder.path(), &config).device(device).train(&data).err().unwrap();
    match cfg!(feature = "wgpu") {
        true => assert!(matches!(error, LearnError::Device(DeviceError::NoAdapter { .. })), "{error}"),
        false => assert!(matches!(error, LearnError::Device(DeviceError::NotBuilt { .. })), "{error}"),
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Run by `just test-gpu`, on a GPU or on a software driver.
#[cfg(feature = "wgpu")]
mod on_a_gpu {
    use super::*;
    use crate::support::{StopAfter, presets};
    use isochrone_core::TemporalDistance as _;
    use isochrone_data::Dataset;
    use isochrone_learn::{
        StopHandle,
        distill::{DistillConfig, DistilledDistance, distill},
        model::{CheckpointSelector, Model},
        run::{Record, RunConfig},
    };
    use std::{path::Path, time::Instant};

    const GPU: ComputeDevice = ComputeDevice::Wgpu { index: Some(0) };

    /// Trains a run to its end, or until a step.
    fn train(folder: &Path, config: &RunConfig, data: &Dataset, device: ComputeDevice, until: u64) -> Run {
        let stop = StopHandle::default();
        let training = in_folder(folder, config).device(device);
        let result = training.callbacks(StopAfter(until, stop.clone())).stop(stop).train(data).unwrap();
        result.run.unwrap().0
    }

    fn losses(record: &Record) -> impl Iterator<Item = &(String, f64)> {
        record.values.iter().filter(|(name, _)| name.ends_with("loss"))
    }

    /// Returns the largest difference between the losses of two runs, relative to losses above 1.
    fn largest_difference(run: &Run, other: &Run, steps: usize) -> f64 {
        let (records, others) = (run.records().unwrap(), other.records().unwrap());
        assert_eq!((records.len(), others.len()), (steps, steps));
        let mut largest: f64 = 0.0;
        for (record, other) in records.iter().zip(&others) {
            assert_eq!(record.step, other.step);
            assert!(losses(record).count() > 0);
            for ((name, loss), (same, expected)) in losses(record).zip(losses(other)) {
                assert_eq!(name, same);
                largest = largest.max((loss - expected).abs() / expected.abs().max(1.0));
            }
        }
        largest
    }

    #[test]
    fn a_graphics_processor_trains_like_the_cpu_and_resumes_there() {
        let data = walks(20, 60);
        let mut config = config(Algorithm::Cmd1.preset(Preset::Small), &data, 200);
        (config.batch_size, config.metrics.every) = (128, 1);
        let folders = [(); 4].map(|()| tempfile::tempdir().unwrap());
        let [on_cpu, on_gpu, moved, whole] = folders.each_ref().map(tempfile::TempDir::path);
        let expected = train(on_cpu, &config, &data, ComputeDevice::Cpu, u64::MAX);
        let stopped = train(on_gpu, &config, &data, GPU, 100);
        assert_eq!(stopped.status().unwrap().step, 100);
        let description = GPU.open().unwrap().description;
        assert_eq!(stopped.manifest().made_by.device, description);
        copy(on_gpu, moved);

        let start = Instant::now();
        let resumed = train(on_gpu, &config, &data, GPU, u64::MAX);
        let milliseconds = start.elapsed().as_secs_f64() * 1000.0 / 100.0;
        let difference = largest_difference(&resumed, &expected, 200);
        println!("{description}: 200 steps differ by {difference:.2e}, {milliseconds:.0} ms per step");
        assert!(difference < 1e-4, "{difference}");

        let log = CallLog::default();
        let run = Run::open(moved).unwrap();
        let result = Training::from_run(run).callbacks(log.clone()).train(&data).unwrap();
        let difference = largest_difference(&result.run.unwrap().0, &expected, 200);
        println!("100 steps there and 100 on the CPU differ by {difference:.2e}");
        assert!(difference < 1e-4, "{difference}");
        let (first, warnings) = log.0.lock().unwrap().clone();
        assert_eq!((first, warnings.len()), (100, 1), "{warnings:?}");

        let uninterrupted = train(whole, &config, &data, GPU, u64::MAX);
        let difference = largest_difference(&resumed, &uninterrupted, 200);
        println!("resumed and uninterrupted runs differ by {difference:.2e}");
        assert!(difference < 1e-4, "{difference}");

        let rows = data.episode(0).observations.to_vec();
        let steps = |device| {
            let model = Model::of_run_on(&resumed, CheckpointSelector::Last, device).unwrap();
            let distance = model.distance().unwrap();
            let paired = distance.paired_steps(&rows[..160], &rows[80..240]).unwrap();
            [distance.all_pairs_steps(&rows, &rows).unwrap(), paired].concat()
        };
        let difference = deviation(&steps(GPU), &steps(ComputeDevice::Cpu));
        println!("distances differ by {difference:.2e} steps");
        assert!(difference < 1e-3, "{difference}");
    }

    #[test]
    fn a_graphics_processor_trains_all_algorithms() {
        let data = walks(8, 40);
        let mut failures = Vec::new();
        for learner in presets() {
            let mut config = config(learner.clone(), &data, 20);
            config.metrics.every = 1;
            let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let expected = train(folders[0].path(), &config, &data, ComputeDevice::Cpu, u64::MAX);
            let run = train(folders[1].path(), &config, &data, GPU, u64::MAX);
            let difference = largest_difference(&run, &expected, 20);
            println!("{}: 20 steps differ by {difference:.2e}", learner.algorithm());
            if difference.is_nan() || difference > 1e-4 {
                failures.push((learner.algorithm().name(), difference));
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    }

    #[test]
    fn a_graphics_processor_distills() {
        let data = walks(6, 40);
        let model = Training::new(Algorithm::Cmd1).preset(Preset::Small).steps(5).batch_size(32);
        let teacher = model.fit(&data).unwrap().distance().unwrap();
        let config = DistillConfig { updates: 10, device: GPU, ..DistillConfig::default() };
        let distance = distill(&teacher, &data, &config, |_, _| {}).unwrap();
        assert_eq!(distance.device(), GPU.open().unwrap().description);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DistilledDistance::FILE_NAME);
        distance.save(&path).unwrap();
        let rows = data.episode(0).observations.to_vec();
        let steps = |distance: &DistilledDistance| distance.all_pairs_steps(&rows, &rows).unwrap();
        let loaded = DistilledDistance::load(&path).unwrap();
        let difference = deviation(&steps(&distance), &steps(&loaded));
        println!("distilled distances differ by {difference:.2e} steps");
        assert!(difference < 1e-3, "{difference}");
        let there = DistilledDistance::load_on(&path, GPU).unwrap();
        assert!(deviation(&steps(&there), &steps(&distance)) < 1e-3);
    }

    /// Returns the largest difference of two rows of numbers, relative to numbers above 1.
    fn deviation(numbers: &[f64], expected: &[f64]) -> f64 {
        assert_eq!(numbers.len(), expected.len());
        let differences = numbers.iter().zip(expected).map(|(a, b)| (a - b).abs() / b.abs().max(1.0));
        differences.fold(0.0, f64::max)
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => copy(&entry.path(), &to.join(entry.file_name())),
                false => {
                    fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
                }
            }
        }
    }
}
