//! Recorded time: distances in true steps, refined by the data.

use crate::{
    arrays::{Rows, array},
    dataset::{Dataset, require_finite},
    distance::{Metric, distance_methods},
    errors::{OrRaise as _, invalid},
    planning::Path,
    pool::compute,
};
use isochrone::refined::{self, Reading, RefinedConfig};
use numpy::PyArrayDyn;
use pyo3::{prelude::*, types::PyDict};
use std::sync::Arc;

/// A distance in true steps: the fastest recorded segments between landmarks of the data.
///
/// Made by `isochrone.refine(data)`. It needs no training and no discount; it is infinite where the
/// data contain no path.
#[pyclass(frozen, module = "isochrone", weakref)]
pub struct RefinedDistance {
    pub distance: Box<refined::RefinedDistance>,
    pub metric: Metric,
    pub data: Py<Dataset>,
    config: RefinedConfig,
    reading: &'static str,
}

fn reading_of(name: &str) -> PyResult<(Reading, &'static str)> {
    match name {
        "fastest" => Ok((Reading::Fastest, "fastest")),
        "typical" => Ok((Reading::Typical, "typical")),
        _ => Err(invalid(&format!("reading='{name}'"), "use 'fastest' or 'typical'")),
    }
}

/// Builds the refined distance of a dataset: recorded time between landmarks, in true steps.
///
/// States near each other are connected by short hops, also where no recorded transition leads: a
/// wall that is thinner than about two steps is invisible. `Path.rows` shows which states of a path
/// are recorded.
///
/// Parameters
/// ----------
/// data
///     The dataset.
/// reading
///     "fastest" or "typical" (the median) recorded segments.
/// landmarks
///     The number of landmarks.
/// seed
///     The random seed.
#[pyfunction]
#[pyo3(signature = (data, *, reading="fastest", landmarks=None, seed=0))]
pub fn refine(
    py: Python<'_>,
    data: &Bound<'_, Dataset>,
    reading: &str,
    landmarks: Option<usize>,
    seed: u64,
) -> PyResult<RefinedDistance> {
    let (reading, name) = reading_of(reading)?;
    let defaults = RefinedConfig::default();
    let config = RefinedConfig { landmarks: landmarks.unwrap_or(defaults.landmarks), seed, ..defaults };
    let dataset = &data.get().data;
    require_finite(py, dataset)?;
    let distance = compute(py, false, || refined::RefinedDistance::fit(dataset, &config))
        .or_raise()?
        .with_reading(reading);
    let metric = Metric::new(Arc::new(distance.with_reading(reading)), dataset.frames_per_second());
    let distance = Box::new(distance);
    Ok(RefinedDistance { distance, metric, data: data.clone().unbind(), config, reading: name })
}

impl RefinedDistance {
    pub fn find_path(&self, py: Python<'_>, from: &[f32], to: &[f32]) -> PyResult<Option<Path>> {
        let path = compute(py, false, || self.distance.path(from, to)).or_raise()?;
        path.map(|path| Path::of_recorded(py, &path, &self.data.get().data, from, to)).transpose()
    }
}

distance_methods!(RefinedDistance, self => Ok::<_, PyErr>(&self.metric), {
    /// The fastest recorded path from a start to a goal; None if the data contain none.
    fn path<'py>(&self, py: Python<'py>, start: Rows<'py>, goal: Rows<'py>) -> PyResult<Option<Path>> {
        let width = self.metric.distance.width();
        let (from, to) = (start.one_of_width(width, "start")?, goal.one_of_width(width, "goal")?);
        self.find_path(py, from, to)
    }

    /// Whether states are so far from the data that their distances are extrapolated.
    fn extrapolates<'py>(&self, py: Python<'py>, states: Rows<'py>) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        let rows = states.of_width(self.metric.distance.width(), "states")?;
        let far = compute(py, false, || self.distance.extrapolates(rows)).or_raise()?;
        array(py, far, states.leading())
    }

    /// The gap in the data that separates a start from a goal, or None: the states on both sides
    /// (indices over all episodes), the steps between them, the fraction of states reached from the
    /// start, and the fraction that leads to the goal.
    fn gap<'py>(&self, py: Python<'py>, start: Rows<'py>, goal: Rows<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let width = self.metric.distance.width();
        let (from, to) = (start.one_of_width(width, "start")?, goal.one_of_width(width, "goal")?);
        let data = &self.data.get().data;
        let Some(gap) = compute(py, false, || self.distance.gap(data, from, to)).or_raise()? else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        dict.set_item("from_row", gap.from_row)?;
        dict.set_item("to_row", gap.to_row)?;
        dict.set_item("steps", gap.steps)?;
        dict.set_item("reached", gap.reached)?;
        dict.set_item("leading", gap.leading)?;
        Ok(Some(dict))
    }

    /// The number of landmarks.
    #[getter]
    fn n_landmarks(&self) -> usize {
        self.distance.n_landmarks()
    }

    fn __repr__(&self) -> String {
        let (landmarks, reading) = (self.distance.n_landmarks(), self.reading);
        format!("<isochrone.RefinedDistance: {reading} recorded time between {landmarks} landmarks>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<Dataset>, &'static str, usize, u64))> {
        let function = py.import("isochrone._pickle")?.getattr("refined")?;
        Ok((function, (self.data.clone_ref(py), self.reading, self.config.landmarks, self.config.seed)))
    }
});
