//! Run folders.

use crate::{
    errors::OrRaise as _,
    figure::Figure,
    model::{Model, checkpoint_of},
    values::to_python,
};
use isochrone::{
    learn::{
        model::CheckpointSelector,
        run::{self, metrics},
    },
    plot::{LineChart, Panel, Series},
};
use numpy::PyArray1;
use pyo3::{prelude::*, types::PyDict};
use std::path::PathBuf;

/// The folder of a run: settings, metrics and checkpoints.
///
/// Made by `isochrone.train`; `Run(folder)` opens one.
#[pyclass(frozen, module = "isochrone", weakref)]
pub struct Run {
    folder: PathBuf,
}

impl Run {
    pub fn at(folder: PathBuf) -> PyResult<Self> {
        run::Run::open(&folder).or_raise()?;
        Ok(Self { folder: std::path::absolute(&folder)? })
    }

    fn open(&self) -> PyResult<run::Run> {
        run::Run::open(&self.folder).or_raise()
    }
}

#[pymethods]
impl Run {
    #[new]
    fn new(folder: PathBuf) -> PyResult<Self> {
        Self::at(folder)
    }

    /// The path of the folder.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// All settings, as in config.toml.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &serde_json::to_value(self.open()?.config()).expect("plain data"))
    }

    /// The state of the run: state, step, seconds, best evaluation.
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &serde_json::to_value(self.open()?.status().or_raise()?).expect("plain data"))
    }

    /// The metrics as columns, for `pandas.DataFrame`; NaN where a record has no value.
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let records = self.open()?.records().or_raise()?;
        let columns = PyDict::new(py);
        columns.set_item("step", PyArray1::from_iter(py, records.iter().map(|record| record.step)))?;
        columns.set_item("seconds", PyArray1::from_iter(py, records.iter().map(|record| record.seconds)))?;
        for name in metrics::names(&records) {
            let values = records.iter().map(|record| record.get(name).unwrap_or(f64::NAN));
            columns.set_item(name, PyArray1::from_iter(py, values))?;
        }
        Ok(columns)
    }

    /// Loads the model: "best" (the default), "last" or the checkpoint of a step.
    #[pyo3(signature = (checkpoint=None))]
    fn model(&self, py: Python<'_>, checkpoint: Option<Bound<'_, PyAny>>) -> PyResult<Model> {
        let which =
            checkpoint.map_or(Ok(CheckpointSelector::Best), |checkpoint| checkpoint_of(&checkpoint))?;
        Model::open(py, &self.folder, which)
    }

    /// Draws the main metrics over training.
    fn curves(&self) -> PyResult<Figure> {
        let run = self.open()?;
        let records = run.records().or_raise()?;
        let main = metrics::names(&records).into_iter().filter(|name| metrics::is_main(name));
        let panels = main.map(|name| {
            let curve = metrics::curve(&records, name).into_iter();
            let points = curve.map(|(step, value)| (step as f64, value)).collect();
            Panel {
                title: name.replace('_', " "),
                series: vec![Series { points, ..Series::default() }],
                ..Panel::default()
            }
        });
        let chart = LineChart {
            title: format!(
                "{}, {}",
                run.manifest().algorithm,
                self.folder.file_name().unwrap_or_default().to_string_lossy()
            ),
            x_axis: "updates".into(),
            panels: panels.collect(),
            ..LineChart::default()
        };
        Ok(Figure { figure: chart.draw() })
    }

    fn _repr_svg_(&self) -> PyResult<Option<String>> {
        let is_empty = self.open()?.records().or_raise()?.is_empty();
        if is_empty { Ok(None) } else { Ok(Some(self.curves()?.figure.svg().to_owned())) }
    }

    fn __repr__(&self) -> PyResult<String> {
        let run = self.open()?;
        let status = run.status().or_raise()?;
        let (algorithm, label) = (&run.manifest().algorithm, run.status_label(status.state));
        let (step, steps) = (status.step, run.config().steps);
        Ok(format!("<isochrone.Run {}: {algorithm}, {label}, step {step} of {steps}>", self.folder.display()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (PathBuf,)) {
        (py.get_type::<Self>().into_any(), (self.folder.clone(),))
    }
}
