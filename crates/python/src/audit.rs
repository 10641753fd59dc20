//! Audits: how far a distance can be trusted.

use crate::{
    dataset::Dataset,
    distance::Metric,
    errors::{OrRaise as _, invalid},
    pool::compute,
    refined::RefinedDistance,
};
use isochrone::{
    audit::{AcrossEpisodes, Consistency, DistanceMatrix, Readings},
    refined::{self, RefinedConfig},
};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::{prelude::*, types::PyDict};

/// Compares readings with recorded time.
fn report<'py>(
    py: Python<'py>,
    readings: &(dyn Fn() -> (Consistency, f64) + Sync),
) -> PyResult<Bound<'py, PyDict>> {
    let (found, rank) = compute(py, false, readings);
    let dict = PyDict::new(py);
    for (name, value) in [
        ("one_step", found.one_step),
        ("one_step_back", found.one_step_back),
        ("above_recorded_lag", found.above_recorded_lag),
        ("below_speed_limit", found.below_speed_limit),
        ("triangle_violations", found.triangle_violations),
        ("largest_self_distance", found.largest_self_distance),
        ("rank_across_episodes", rank),
    ] {
        dict.set_item(name, value)?;
    }
    dict.set_item("problems", found.problems(rank))?;
    Ok(dict)
}

/// Audits a distance on the states of a dataset.
#[pyfunction]
pub fn audit_distance<'py>(
    py: Python<'py>,
    distance: &Bound<'py, PyAny>,
    data: &Bound<'py, Dataset>,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let metric = Metric::of(distance, data.get(), None)?;
    let dataset = &data.get().data;
    // Recorded time is not compared with itself.
    let is_recorded = distance.cast::<RefinedDistance>().is_ok();
    let recorded = match is_recorded {
        true => None,
        false => Some(
            compute(py, false, || refined::RefinedDistance::fit(dataset, &RefinedConfig::default()))
                .or_raise()?,
        ),
    };
    let found = report(py, &|| {
        let readings = Readings::of_distance(&*metric.distance, dataset);
        let rank = recorded.as_ref().map_or(f64::NAN, |recorded| {
            AcrossEpisodes::new(&readings, recorded, seed).rank_correlation(&readings)
        });
        (Consistency::of_readings(&readings, seed), rank)
    });
    metric.checked(())?;
    found
}

/// Audits a matrix of steps between some states of a dataset, `[from, to]`.
#[pyfunction]
pub fn audit_matrix<'py>(
    py: Python<'py>,
    matrix: PyReadonlyArray2<'py, f64>,
    rows: Vec<u64>,
    data: &Bound<'py, Dataset>,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let dataset = &data.get().data;
    if matrix.shape() != [rows.len(), rows.len()] {
        return Err(invalid(
            &format!("a matrix of shape {:?} for {} states", matrix.shape(), rows.len()),
            "pass one row and one column per state, and `rows` if they are not all states",
        ));
    }
    let matrix = DistanceMatrix::new(dataset, &rows, matrix.as_slice()?.to_vec()).or_raise()?;
    let recorded = compute(py, false, || refined::RefinedDistance::fit(dataset, &RefinedConfig::default()))
        .or_raise()?;
    report(py, &|| {
        let readings = Readings::of_matrix(&matrix, dataset);
        let rank = AcrossEpisodes::new(&readings, &recorded, seed).rank_correlation(&readings);
        (Consistency::of_readings(&readings, seed), rank)
    })
}
