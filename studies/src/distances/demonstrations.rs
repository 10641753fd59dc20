//! Steps to go of demonstrations, predicted by a method that was fitted to other demonstrations.

use super::{
    environment::arm::{Arm, FOLDS, KINDS, NAME, UNREACHED_STEPS},
    method::DistanceMethod,
    results,
    row::{Checked, DistanceRow},
};
use crate::StudyError;
use isochrone_learn::ComputeDevice;
use std::{collections::BTreeMap, time::Instant};

/// Measures a method. All checks except those of steps to go use the first fold.
pub fn measure(
    arm: &Arm,
    method: DistanceMethod,
    updates: u64,
    seed: u64,
    device: ComputeDevice,
) -> Result<Vec<DistanceRow>, StudyError> {
    let gpu = results::gpu(device)?;
    let mut readings: BTreeMap<&'static str, Readings> = BTreeMap::new();
    let (mut fit_seconds, mut query_seconds) = (0.0, 0.0);
    for fold in 0..FOLDS {
        let (data, held_out) = arm.fold(fold)?;
        let start = Instant::now();
        let fitted = method.fit(&data, None, updates, seed, device)?;
        fit_seconds += start.elapsed().as_secs_f64();
        let start = Instant::now();
        for fitted in fitted {
            let readings = readings.entry(fitted.name).or_insert_with(|| Readings {
                steps: vec![Vec::new(); arm.n_demonstrations()],
                checked: Checked::of(&fitted, &held_out, seed),
            });
            let read = arm.steps_to_go(&*fitted.distance, fold);
            readings.steps.iter_mut().zip(read).for_each(|(known, read)| known.extend(read));
        }
        query_seconds += start.elapsed().as_secs_f64();
    }
    let truth = arm.oracle_steps();
    let row = |(name, readings): (&str, Readings)| {
        let about = DistanceRow {
            environment: NAME.to_owned(),
            method: method.name().to_owned(),
            reading: name.to_owned(),
            seed,
            updates,
            gpu: gpu.clone(),
            data_sha256: arm.content_hash().to_owned(),
            rows: truth.len() as u64,
            fit_seconds,
            query_seconds,
            ..DistanceRow::default()
        };
        let rank = |(name, defect): (&str, f32)| (name.to_owned(), arm.rank_within(&readings.steps, defect));
        let steps = readings.steps.concat();
        let unreached = steps.iter().filter(|steps| **steps >= UNREACHED_STEPS).count();
        let mut row = DistanceRow { spearman_within_episodes: KINDS.map(rank).into(), ..about }
            .with_accuracy(&steps, &truth)
            .with_checks(readings.checked);
        // Infinite readings count as the farthest in ranks, and are not drawn.
        row.unreached = unreached as f64 / steps.len() as f64;
        row.sample.retain(|(_, reading)| *reading < UNREACHED_STEPS);
        row
    };
    Ok(readings.into_iter().map(row).collect())
}

/// The readings of all demonstrations, and the checks on the first fold.
struct Readings {
    steps: Vec<Vec<f64>>,
    checked: Checked,
}
