//! Training, observed from Python.
//!
//! The trainer has a thread of its own that never touches the interpreter. The calling thread waits
//! without the interpreter lock, and between waits does everything that needs Python: signals,
//! progress, callbacks. An exception there stops training after the current update, with a
//! checkpoint, and is raised again.

use crate::{
    dataset::{Dataset, write},
    errors::{OrRaise as _, invalid, invalid_data},
    pool::{pool, pool_of},
    run::Run,
    values::{assignments, record_dict},
};
use isochrone::{
    data::{
        self,
        formats::{Extras, Format, ReadOptions},
    },
    learn::{
        Algorithm, Callbacks, Outcome, Preset, StopHandle, Training,
        error::LearnError,
        run::{self, Record, RunConfig},
    },
    training::{default_folder, default_hold_out, default_validation, with_evaluations},
};
use pyo3::{prelude::*, types::PyDict};
use std::{
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    time::Duration,
};

/// The time between looks at signals and callbacks: short enough that Ctrl-C feels immediate.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the trainer reports to the calling thread.
enum Report {
    Started { step: u64, steps: u64 },
    Metrics(Record),
    Checkpoint(u64, PathBuf),
    Warning(String),
}

/// Callbacks that send everything to the calling thread.
struct Reporter {
    step: Arc<AtomicU64>,
    reports: Sender<Report>,
}

impl Reporter {
    fn send(&self, report: Report) {
        // Without a receiver, training is being stopped.
        let _ = self.reports.send(report);
    }
}

impl Callbacks for Reporter {
    fn on_start(&mut self, config: &RunConfig, step: u64) {
        self.step.store(step, Ordering::Relaxed);
        self.send(Report::Started { step, steps: config.steps });
    }

    fn on_step(&mut self, step: u64) {
        self.step.store(step, Ordering::Relaxed);
    }

    fn on_metrics(&mut self, record: &Record) {
        self.send(Report::Metrics(record.clone()));
    }

    fn on_checkpoint(&mut self, step: u64, path: &Path) {
        self.send(Report::Checkpoint(step, path.to_owned()));
    }

    fn on_warning(&mut self, text: &str) {
        self.send(Report::Warning(text.to_owned()));
    }
}

/// Passes reports to the Python object `observer`.
fn observe(
    py: Python<'_>,
    observer: &Bound<'_, PyAny>,
    folder: &Path,
    step: u64,
    reports: Vec<Report>,
) -> PyResult<()> {
    py.check_signals()?;
    for report in reports {
        match report {
            Report::Started { step, steps } => observer.call_method1("started", (step, steps, folder))?,
            Report::Metrics(record) => observer.call_method1("metrics", (record_dict(py, &record)?,))?,
            Report::Checkpoint(step, path) => observer.call_method1("checkpoint", (step, path))?,
            Report::Warning(text) => observer.call_method1("warning", (text,))?,
        };
    }
    observer.call_method1("step", (step,))?;
    Ok(())
}

/// Trains on a thread of its own; `start` creates the training there.
fn train(
    py: Python<'_>,
    folder: &Path,
    observer: &Bound<'_, PyAny>,
    threads: Option<usize>,
    (data, validation): (&data::Dataset, Option<&data::Dataset>),
    start: impl FnOnce() -> Result<Training, LearnError> + Send,
) -> PyResult<()> {
    isochrone::nn::memory::retain_heap();
    let own = threads.map(pool_of);
    let pool = own.as_ref().unwrap_or_else(|| pool());
    let (stop, step) = (StopHandle::default(), Arc::new(AtomicU64::new(0)));
    let (send, mut receive) = mpsc::channel();
    let mut raised: Option<PyErr> = None;
    let outcome = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let reporter = Reporter { step: step.clone(), reports: send };
            pool.install(|| {
                let training = with_evaluations(start()?, data, validation);
                training.callbacks(reporter).stop(stop.clone()).train(data).map(|result| result.outcome)
            })
        });
        loop {
            // A receiver can be sent to another thread, but not shared with it.
            let alone = &mut receive;
            let waited = py.detach(move || alone.recv_timeout(LOOK_EVERY));
            let is_over = matches!(waited, Err(RecvTimeoutError::Disconnected));
            let reports = waited.into_iter().chain(receive.try_iter()).collect();
            if raised.is_none()
                && let Err(error) = observe(py, observer, folder, step.load(Ordering::Relaxed), reports)
            {
                stop.stop();
                raised = Some(error);
            }
            if is_over {
                break;
            }
        }
        py.detach(|| worker.join())
    });
    let outcome: Result<Outcome, LearnError> = outcome.unwrap_or_else(|panic| resume_unwind(panic));
    let Some(error) = raised else { return outcome.or_raise().map(|_| ()) };
    // The reason for the stop matters more than an error while stopping.
    if matches!(outcome, Ok(Outcome::Stopped)) {
        let step = step.load(Ordering::Relaxed);
        let note = format!(
            "saved at step {step}; continue with isochrone.resume({:?})",
            folder.display().to_string()
        );
        error.value(py).call_method1("add_note", (note,))?;
    }
    Err(error)
}

/// What `isochrone.train` and `isochrone.fit` pass on.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request<'py> {
    algorithm: Option<String>,
    size: String,
    config: Option<PathBuf>,
    settings: Bound<'py, PyDict>,
    threads: Option<usize>,
    /// Whether data from memory are written to the run folder, so that the run can be resumed.
    keeps_data: bool,
}

impl Request<'_> {
    fn algorithm(&self) -> PyResult<Option<Algorithm>> {
        let Some(name) = self.algorithm.as_deref() else { return Ok(None) };
        let found = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        found.map(Some).ok_or_else(|| {
            let names: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
            invalid(&format!("algorithm='{name}'"), &format!("choose from {}", names.join(", ")))
        })
    }

    fn preset(&self) -> PyResult<Preset> {
        match self.size.as_str() {
            "small" => Ok(Preset::Small),
            "standard" => Ok(Preset::Standard),
            "paper" => Ok(Preset::Paper),
            other => Err(invalid(&format!("size='{other}'"), "use 'small', 'standard' or 'paper'")),
        }
    }
}

/// Datasets from memory that were written into the run folder, where a resumed run finds them. They
/// are removed with this value, if no run was created.
#[derive(Default)]
struct Kept(Vec<PathBuf>);

impl Kept {
    /// Writes a dataset, and returns its path. A process that was killed before its run was created
    /// has left the same file; any other file there is an error.
    fn write(
        &mut self,
        py: Python<'_>,
        data: &data::Dataset,
        folder: &Path,
        name: &str,
    ) -> PyResult<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let path = std::path::absolute(folder)?.join(name);
        match path.symlink_metadata() {
            Err(_) => {
                write(py, data, &path)?;
                self.0.push(path.clone());
                Ok(path)
            }
            Ok(found) if found.is_file() && has_contents(py, &path, data) => Ok(path),
            Ok(_) => {
                let problem = format!("{} already exists", path.display());
                Err(invalid(&problem, "choose another run folder, or pass the path of the file"))
            }
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
}

/// Whether a file is a dataset with the contents of another.
fn has_contents(py: Python<'_>, path: &Path, data: &data::Dataset) -> bool {
    let found = py.detach(|| data::Dataset::load(path, ReadOptions::default()));
    found.is_ok_and(|found| found.content_hash() == data.content_hash())
}

/// Starts a run and trains it.
#[pyfunction]
#[pyo3(signature = (data, validation, run, request, observer))]
pub fn start_run(
    py: Python<'_>,
    data: Option<&Bound<'_, Dataset>>,
    validation: Option<&Bound<'_, Dataset>>,
    run: Option<PathBuf>,
    request: Request<'_>,
    observer: &Bound<'_, PyAny>,
) -> PyResult<Run> {
    let (algorithm, preset) = (request.algorithm()?, request.preset()?);
    let settings = assignments(&request.settings)?;
    let config_file = request.config.clone();
    let start = move || -> Result<Training, LearnError> {
        let mut training = algorithm.map_or_else(Training::default, Training::new).preset(preset);
        if let Some(path) = &config_file {
            training = training.config_file(path)?;
        }
        Ok(settings.iter().fold(training, |training, (name, value)| training.set(name, value)))
    };
    let mut config = start().or_raise()?.data_from_settings().or_raise()?.unwrap_or_default();
    if let Some(folder) = &run {
        run::Run::check_free(folder).or_raise()?;
    }
    let read = |options: &ReadOptions| ReadOptions { extras: Extras::Named(Vec::new()), ..options.clone() };
    let mut kept = Kept::default();
    let dataset = match data.map(Bound::get) {
        None if config.path.as_os_str().is_empty() => {
            return Err(invalid("no training data", "pass a Dataset or a path, or a config with data.path"));
        }
        None => py.detach(|| data::Dataset::load(&config.path, &config.read)).or_raise()?,
        Some(Dataset { data, source: Some((path, options)) }) => {
            config.path.clone_from(path);
            config.read = read(options);
            without_extras(py, data)?
        }
        Some(Dataset { data, source: None }) => {
            let data = without_extras(py, data)?;
            config.read = read(&ReadOptions::default());
            config.path = match (&run, request.keeps_data) {
                (Some(folder), true) => kept.write(py, &data, folder, "data.arrow")?,
                (_, false) => PathBuf::from("memory"),
                (None, true) => {
                    let hint = "pass run='runs/NAME', or use isochrone.fit, which needs no folder";
                    return Err(invalid("a dataset from memory needs a run folder", hint));
                }
            };
            data
        }
    };
    let validation = match validation.map(Bound::get) {
        Some(Dataset { data, source: Some((path, _)) }) => {
            config.validation = Some(path.clone());
            Some(without_extras(py, data)?)
        }
        Some(Dataset { data, source: None }) => {
            let data = without_extras(py, data)?;
            if let (Some(folder), true) = (&run, request.keeps_data) {
                config.validation = Some(kept.write(py, &data, folder, "validation.arrow")?);
            }
            Some(data)
        }
        None => {
            config.validation = config.validation.or_else(|| default_validation(&config.path));
            let load = |path: &PathBuf| py.detach(|| data::Dataset::load(path, &config.read)).or_raise();
            config.validation.as_ref().map(load).transpose()?
        }
    };
    if let (None, Ok(format)) = (&validation, Format::detect(&config.path)) {
        config.hold_out = default_hold_out(&config, format, &dataset);
    }
    let (dataset, validation) = divide(&config, dataset, validation)?;
    // Settings are checked before the run is created.
    let started = start()
        .and_then(|training| training.data_config(config.clone()).config(&dataset))
        .and_then(|resolved| {
            let folder = run.unwrap_or_else(|| default_folder(&config.path, &resolved));
            run::Run::check_free(&folder).map(|()| folder)
        });
    let folder = started.or_raise()?;
    kept.0.clear();
    train(py, &folder, observer, request.threads, (&dataset, validation.as_ref()), || {
        Ok(start()?.data_config(config).run_dir(&folder))
    })?;
    Run::at(folder)
}

/// Returns the training and the validation data: episodes that are held out, or those given.
fn divide(
    config: &run::DataConfig,
    data: data::Dataset,
    validation: Option<data::Dataset>,
) -> PyResult<(data::Dataset, Option<data::Dataset>)> {
    let parts = config.held_out(&data).map_err(LearnError::from).or_raise()?;
    Ok(parts.map_or((data, validation), |(training, held_out)| (training, Some(held_out))))
}

/// Training uses no extra columns.
fn without_extras(py: Python<'_>, data: &data::Dataset) -> PyResult<data::Dataset> {
    if data.spec().extras.is_empty() {
        return Ok(data.clone());
    }
    let spec = data::Spec { extras: Vec::new(), ..data.spec().clone() };
    py.detach(|| {
        use data::EpisodeSink as _;
        let mut builder = data::DatasetBuilder::default();
        builder.begin(&spec)?;
        for number in 0..data.n_episodes() {
            let episode = data.episode(number);
            builder.episode(&data::EpisodeView { extras: Vec::new(), ..episode })?;
        }
        Ok::<_, data::DataError>(builder.finish())
    })
    .or_raise()
}

/// Resumes a run from its last valid checkpoint.
#[pyfunction]
#[pyo3(signature = (run, data, threads, observer))]
pub fn resume_run(
    py: Python<'_>,
    run: PathBuf,
    data: Option<&Bound<'_, Dataset>>,
    threads: Option<usize>,
    observer: &Bound<'_, PyAny>,
) -> PyResult<Run> {
    let opened = py.detach(|| run::Run::open(&run)).or_raise()?;
    let config = opened.config().data.clone();
    let load = |path: &Path| py.detach(|| data::Dataset::load(path, &config.read)).or_raise();
    let dataset = match data {
        Some(data) => without_extras(py, &data.get().data)?,
        None if !config.path.exists() => {
            let problem = format!("{}: the data of the run do not exist", config.path.display());
            return Err(invalid_data(&problem, "pass them as `data`"));
        }
        None => load(&config.path)?,
    };
    let validation = config.validation.as_deref().map(load).transpose()?;
    let (dataset, validation) = divide(&config, dataset, validation)?;
    train(py, &run, observer, threads, (&dataset, validation.as_ref()), || Ok(Training::from_run(opened)))?;
    Run::at(run)
}
