//! Trained models.

use crate::{
    arrays::{Rows, array},
    distance::{Metric, distance_methods},
    errors::{OrRaise as _, invalid},
    planning::with_goals,
    pool::{SMALL_ROWS, compute},
};
use isochrone::{
    GoalPolicy as _, TemporalDistance as _,
    learn::{
        error::LearnError,
        export::{OnnxPart, write_onnx},
        model::{self, CheckpointSelector, LearnedPolicy},
        run::{Run, write_file},
    },
};
use numpy::PyArrayDyn;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A distance and a policy that a run has learned.
///
/// Made by `isochrone.fit`, `Run.model` or `Model.load`.
#[pyclass(frozen, module = "isochrone", weakref)]
pub struct Model {
    /// Boxed, as all large fields of classes: Python aligns objects to 16 bytes only.
    model: Box<model::Model>,
    metric: Option<Metric>,
    /// The files of the run that hold the model, by their paths in its folder: a model can be
    /// pickled, exported or saved after the run changed.
    files: Vec<(String, Vec<u8>)>,
}

/// Parses "last", "best" or a step.
pub fn checkpoint_of(checkpoint: &Bound<'_, PyAny>) -> PyResult<CheckpointSelector> {
    if let Ok(step) = checkpoint.extract() {
        return Ok(CheckpointSelector::Step(step));
    }
    match checkpoint.extract::<&str>() {
        Ok("last") => Ok(CheckpointSelector::Last),
        Ok("best") => Ok(CheckpointSelector::Best),
        _ => Err(invalid(&format!("checkpoint={}", checkpoint.repr()?), "use 'best', 'last' or a step")),
    }
}

/// The files of a run that hold the model of a step.
fn model_files(run: &Run, step: u64) -> PyResult<Vec<(String, Vec<u8>)>> {
    let mut names = vec!["config.toml".to_owned(), "manifest.json".to_owned()];
    let checkpoints = run.folder().join("checkpoints");
    let number = |name: &str| name.strip_prefix("step-").and_then(|number| number.parse::<u64>().ok());
    for entry in std::fs::read_dir(&checkpoints)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if number(&name) == Some(step) {
            let of_model = ["weights.safetensors", "checkpoint.json", "SHA256SUMS"];
            names.extend(of_model.map(|file| format!("checkpoints/{name}/{file}")));
        }
    }
    names.into_iter().map(|name| Ok((name.clone(), std::fs::read(run.folder().join(name))?))).collect()
}

impl Model {
    pub fn open(py: Python<'_>, folder: &Path, which: CheckpointSelector) -> PyResult<Self> {
        let (run, model) = py
            .detach(|| {
                let run = Run::open(folder)?;
                let model = model::Model::of_run(&run, which)?;
                Ok::<_, LearnError>((run, model))
            })
            .or_raise()?;
        let warn = py.import("isochrone._train")?.getattr("warn")?;
        for warning in &model.warnings {
            warn.call1((warning,))?;
        }
        let files = model_files(&run, model.step)?;
        let metric = model.distance.clone();
        let metric =
            metric.map(|distance| Metric::of_model(Arc::new(distance), model.spec.frames_per_second));
        Ok(Self { model: Box::new(model), metric, files })
    }

    fn algorithm_name(&self) -> &'static str {
        self.model.algorithm.name()
    }

    fn no_distance(&self) -> PyErr {
        let problem = format!("{} learns no distance", self.algorithm_name());
        invalid(&problem, "train with another algorithm, or use isochrone.refine(data)")
    }

    pub fn known_policy(&self) -> PyResult<&LearnedPolicy> {
        self.model.policy.as_ref().ok_or_else(|| {
            invalid("a dataset without actions teaches no policy", "train on data with actions")
        })
    }

    pub fn metric(&self) -> PyResult<&Metric> {
        self.metric.as_ref().ok_or_else(|| self.no_distance())
    }
}

distance_methods!(Model, self => self.metric(), {
    /// Loads the model of a run: "best", "last" or the checkpoint of a step.
    #[staticmethod]
    #[pyo3(signature = (run, checkpoint=None))]
    fn load(py: Python<'_>, run: PathBuf, checkpoint: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let which = checkpoint.map_or(Ok(CheckpointSelector::Best), |checkpoint| checkpoint_of(&checkpoint))?;
        Self::open(py, &run, which)
    }

    /// Returns the rows of the latent space in which the quasimetric is computed:
    /// `(..., observation width)` gives `(..., latent width)`.
    fn embed<'py>(&self, py: Python<'py>, observation: Rows<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let distance = self.model.distance.as_ref().ok_or_else(|| self.no_distance())?;
        let rows = observation.of_width(distance.width(), "observation")?;
        let latent = compute(py, observation.n() <= SMALL_ROWS, || distance.embed(rows));
        let Some((latent, width)) = latent else {
            let problem = format!("the distance of {} is not a quasimetric on a latent space", self.algorithm_name());
            return Err(invalid(&problem, "use cmd1, cmd2, qrl, tmd or mqe"));
        };
        array(py, latent, &[observation.leading(), &[width]].concat())
    }

    /// Returns the action at each observation for its goal; one goal may serve all observations.
    fn policy<'py>(&self, py: Python<'py>, observation: Rows<'py>, goal: Rows<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let policy = self.known_policy()?;
        let width = policy.observation_width();
        let (here, there) = with_goals(&observation, &goal, width)?;
        let actions = compute(py, observation.n() <= SMALL_ROWS, || policy.actions(here, &there));
        array(py, actions, &[observation.leading(), &[policy.action_width()]].concat())
    }

    /// Writes the model as a run folder with this checkpoint; `Model.load` and the command open it.
    fn save(&self, folder: PathBuf) -> PyResult<()> {
        Run::check_free(&folder).or_raise()?;
        for (name, contents) in &self.files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            write_file(&path, contents).or_raise()?;
        }
        Ok(())
    }

    /// Writes a part of the model as an ONNX file: "distance", "policy" or "embedding".
    ///
    /// The inputs are `observation` and `goal`, in the units of the dataset. The output is
    /// `distance` in steps, `action`, or `embedding`. The number of rows is free.
    #[pyo3(signature = (path, part="distance"))]
    fn export(&self, py: Python<'_>, path: PathBuf, part: &str) -> PyResult<()> {
        let parts = [OnnxPart::Distance, OnnxPart::Policy, OnnxPart::Embedding];
        let Some(part) = parts.into_iter().find(|known| known.name() == part) else {
            return Err(invalid(&format!("part='{part}'"), "use 'distance', 'policy' or 'embedding'"));
        };
        if path.extension().is_none_or(|extension| extension != "onnx") {
            let hint = "use the extension .onnx";
            return Err(invalid(&format!("{}: not an ONNX file", path.display()), hint));
        }
        py.detach(|| write_onnx(&self.model, part, &path)).or_raise()
    }

    /// The number of updates.
    #[getter]
    fn step(&self) -> u64 {
        self.model.step
    }

    /// The name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &str {
        self.algorithm_name()
    }

    /// The discount that steps are measured with; None without a distance.
    #[getter]
    fn discount(&self) -> Option<f64> {
        self.model.distance.as_ref().map(|distance| distance.discount().gamma())
    }

    /// The number of values in an action.
    #[getter]
    fn action_width(&self) -> usize {
        self.model.spec.action.width
    }

    /// Whether the model has a distance.
    #[getter]
    fn has_distance(&self) -> bool {
        self.model.distance.is_some()
    }

    /// Whether the model has a policy.
    #[getter]
    fn has_policy(&self) -> bool {
        self.model.policy.is_some()
    }

    /// The files of the run that hold the model, by name.
    #[getter]
    fn _files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for (name, contents) in &self.files {
            files.set_item(name, PyBytes::new(py, contents))?;
        }
        Ok(files)
    }

    fn __repr__(&self) -> String {
        let learned = match (&self.model.distance, &self.model.policy) {
            (Some(_), Some(_)) => "distance and policy",
            (Some(_), None) => "distance",
            _ => "policy",
        };
        let (algorithm, step, width) = (self.algorithm_name(), self.model.step, self.model.spec.observation.width);
        format!("<isochrone.Model: {learned} of {algorithm} at step {step}, observations of width {width}>")
    }

    /// Pickles by value: the files of one checkpoint.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>, u64))> {
        let function = py.import("isochrone._pickle")?.getattr("model_of_files")?;
        Ok((function, (self._files(py)?, self.model.step)))
    }
});
