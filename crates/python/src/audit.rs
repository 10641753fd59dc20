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
    data,
    refined::{self, RefinedConfig, RefinedError},
};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::{prelude::*, types::PyDict};

/// Audits readings on their dataset; `is_recorded` states that they are recorded time, which is not
/// compared with itself.
fn report<'py>(
    py: Python<'py>,
    readings: &Readings<'_>,
    data: &data::Dataset,
    is_recorded: bool,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let found = compute(py, false, || -> Result<_, RefinedError> {
        let rank = match is_recorded {
            true => f64::NAN,
            false => {
                let recorded = refined::RefinedDistance::fit(data, &RefinedConfig::default())?;
                AcrossEpisodes::new(readings, &recorded, seed).rank_correlation(readings)
            }
        };
        Ok((Consistency::of_readings(readings, seed), rank))
    });
    let (found, rank) = found.or_raise()?;
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
    let is_recorded = distance.cast::<RefinedDistance>().is_ok();
    let readings = Readings::of_distance(&*metric.distance, dataset);
    let found = report(py, &readings, dataset, is_recorded, seed);
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
    report(py, &Readings::of_matrix(&matrix, dataset), dataset, false, seed)
}
