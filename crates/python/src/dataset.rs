//! Datasets of recorded episodes.

use crate::{
    arrays::{Rows, view},
    errors::{OrRaise as _, invalid, invalid_data},
    figure::Figure,
    pool::compute,
    values::to_python,
};
use arrow_array::{
    RecordBatch, RecordBatchReader as _,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use arrow_schema::SchemaRef;
use isochrone::{
    data::{
        self, Bounds, DataError, DatasetBuilder, Ending, EpisodeSink as _, EpisodeView, HubFolders, Spec,
        formats::{Ends, Extras, ReadOptions, Writer},
        remote::DatasetUrl,
    },
    plot::TrajectoryPlot,
};
use numpy::ndarray::{ArrayView1, ArrayView2};
use pyo3::{
    exceptions::{PyIndexError, PyTypeError},
    prelude::*,
    types::{PyCapsule, PyDict, PySlice},
};
use std::{
    path::{Path, PathBuf},
    ptr::NonNull,
    sync::Mutex,
};

/// The number of episodes that a figure shows.
const MAX_DRAWN: usize = 200;

/// Recorded episodes: T + 1 observations and the T actions between them.
///
/// `len(dataset)` is the number of episodes, `dataset[i]` a dictionary of arrays of episode `i`.
/// Made by `isochrone.load`, `from_arrays`, `from_episodes`, `from_table`, `from_minari`,
/// `from_lerobot` and `collect`.
#[pyclass(frozen, module = "isochrone", sequence)]
pub struct Dataset {
    pub data: data::Dataset,
    /// The file and the options it was read with; `None` for a dataset from memory.
    pub source: Option<(PathBuf, ReadOptions)>,
}

/// The options that tables and files share.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    observations: Vec<String>,
    actions: Vec<String>,
    episode: Option<String>,
    reward: Option<String>,
    time: Option<String>,
    ends: Option<String>,
    fps: Option<f64>,
    goal: Option<(usize, usize)>,
    action_range: Option<(f32, f32)>,
    extras: bool,
}

impl Options {
    fn read_options(self) -> PyResult<ReadOptions> {
        Ok(ReadOptions {
            observations: self.observations,
            actions: self.actions,
            episode: self.episode,
            reward: self.reward,
            time: self.time,
            extras: if self.extras { Extras::All } else { Extras::Named(Vec::new()) },
            ends: match self.ends.as_deref() {
                None => Ends::Auto,
                Some("timeouts") => Ends::Timeouts,
                Some("terminals") => Ends::Terminals,
                Some("either") => Ends::Either,
                Some(other) => {
                    let hint = "use 'timeouts', 'terminals' or 'either'";
                    return Err(invalid(&format!("ends='{other}'"), hint));
                }
            },
            frames_per_second: self.fps,
            goal: self.goal.map(|(first, end)| first..end),
            action_bounds: self.action_range.map(|(low, high)| Bounds { low: Some(low), high: Some(high) }),
            embeddings: Vec::new(),
        })
    }
}

/// Reads a file or folder of any format.
#[pyfunction]
pub fn load_file(py: Python<'_>, path: PathBuf, options: Options) -> PyResult<Dataset> {
    let options = options.read_options()?;
    // An address is absolute already.
    let path = match DatasetUrl::is_url(&path) {
        true => path,
        false => {
            let found = HubFolders::from_env().resolve(&path).or_raise()?.into_owned();
            std::path::absolute(&found).unwrap_or(found)
        }
    };
    let data = compute(py, false, || data::Dataset::load(&path, &options)).or_raise()?;
    Ok(Dataset { data, source: Some((path, options)) })
}

/// Reads a table with the Arrow PyCapsule interface.
#[pyfunction]
pub fn load_table(py: Python<'_>, table: &Bound<'_, PyAny>, options: Options) -> PyResult<Dataset> {
    let options = options.read_options()?;
    let (schema, batches) = record_batches(table)?;
    let data = compute(py, false, || data::Dataset::from_batches(&schema, batches, &options)).or_raise()?;
    require_finite(py, &data)?;
    Ok(Dataset { data, source: None })
}

/// Raises an error if a value is missing or not finite: recorded time would silently be wrong.
pub fn require_finite(py: Python<'_>, data: &data::Dataset) -> PyResult<()> {
    let spec = data.spec();
    let mut episodes = (0..data.n_episodes()).map(|number| (number, data.episode(number)));
    let found = py.detach(|| {
        episodes.find_map(|(number, episode)| Some((number, episode.require_finite(spec).err()?)))
    });
    match found {
        None => Ok(()),
        Some((number, error)) => Err(invalid_data(&format!("episode {number}: {error}"), error.hint())),
    }
}

/// Returns the schema and the record batches of a table with the Arrow PyCapsule interface.
pub fn record_batches(table: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    if !table.hasattr("__arrow_c_stream__")? {
        let kind = table.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{kind} is not a table: it has no __arrow_c_stream__ (pandas, polars, pyarrow and DuckDB tables have one)"
        )));
    }
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream: NonNull<FFI_ArrowArrayStream> = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast();
    // SAFETY: the capsule holds a stream of the Arrow C interface. It is moved out: what is left
    // behind has no release callback, as the interface demands of consumers.
    #[expect(unsafe_code, reason = "the Arrow C stream interface")]
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let read = RecordBatchStreamReader::try_new(stream)
        .and_then(|reader| Ok((reader.schema(), reader.collect::<Result<Vec<RecordBatch>, _>>()?)));
    read.map_err(|error| {
        invalid_data(&format!("the table cannot be read: {error}"), "convert it with pyarrow.table")
    })
}

/// Writes a dataset in the format of the file's name.
pub fn write(py: Python<'_>, data: &data::Dataset, path: &Path) -> PyResult<()> {
    py.detach(|| -> Result<(), DataError> {
        let mut writer = Writer::for_path(path)?;
        data.send(&mut writer)?;
        writer.finish()
    })
    .or_raise()
}

/// Checks that dimensions of an observation exist.
pub fn check_axes(axes: [usize; 2], width: usize) -> PyResult<[usize; 2]> {
    match axes.iter().find(|axis| **axis >= width) {
        Some(axis) => Err(invalid(&format!("dimension {axis} of {width}"), "dimensions are counted from 0")),
        None => Ok(axes),
    }
}

impl Dataset {
    fn episode_at<'py>(slf: &Bound<'py, Self>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let data = &slf.get().data;
        let (episode, spec) = (data.episode(number), data.spec());
        let dict = PyDict::new(slf.py());
        let owner = || slf.clone().into_any();
        let rows = |numbers, n: usize, width: usize| {
            view(owner(), ArrayView2::from_shape((n, width), numbers).expect("whole rows"))
        };
        dict.set_item("observations", rows(episode.observations, episode.steps + 1, spec.observation.width))?;
        dict.set_item("actions", rows(episode.actions, episode.steps, spec.action.width))?;
        if spec.has_rewards {
            dict.set_item("rewards", view(owner(), ArrayView1::from(episode.rewards)))?;
        }
        if spec.has_timestamps {
            dict.set_item("timestamps", view(owner(), ArrayView1::from(episode.timestamps)))?;
        }
        for (extra, numbers) in spec.extras.iter().zip(&episode.extras) {
            dict.set_item(&extra.name, rows(numbers, episode.steps + 1, extra.width))?;
        }
        dict.set_item("ending", episode.ending.name())?;
        Ok(dict)
    }

    fn episodes<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        (0..slf.get().data.n_episodes()).map(|number| Self::episode_at(slf, number)).collect()
    }
}

#[pymethods]
impl Dataset {
    fn __len__(&self) -> usize {
        self.data.n_episodes()
    }

    /// Episode `i` as a dictionary of read-only arrays, without copies; a slice as a list of them.
    fn __getitem__<'py>(slf: Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let n = slf.get().data.n_episodes() as isize;
        if let Ok(slice) = index.cast::<PySlice>() {
            let indices = slice.indices(n)?;
            let numbers = (0..indices.slicelength).map(|i| indices.start + i as isize * indices.step);
            let episodes: PyResult<Vec<_>> = numbers.map(|at| Self::episode_at(&slf, at as usize)).collect();
            return Ok(episodes?.into_pyobject(slf.py())?.into_any());
        }
        let index: isize = index.extract()?;
        let at = if index < 0 { index + n } else { index };
        if !(0..n).contains(&at) {
            return Err(PyIndexError::new_err(format!("episode {index} of {n}")));
        }
        Ok(Self::episode_at(&slf, at as usize)?.into_any())
    }

    /// Iterates over the episodes.
    fn __iter__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Self::episodes(&slf)?.into_pyobject(slf.py())?.try_iter()?.into_any())
    }

    /// The number of transitions.
    #[getter]
    fn n_transitions(&self) -> u64 {
        self.data.n_transitions()
    }

    /// The number of states: one more than transitions in every episode.
    #[getter]
    fn n_states(&self) -> u64 {
        self.data.index().n_states()
    }

    /// The number of values in an observation.
    #[getter]
    fn observation_width(&self) -> usize {
        self.data.spec().observation.width
    }

    /// The number of values in an action; 0 if the dataset has states only.
    #[getter]
    fn action_width(&self) -> usize {
        self.data.spec().action.width
    }

    /// The names, widths and meanings of the columns.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &serde_json::to_value(self.data.spec()).expect("plain data"))
    }

    /// The SHA-256 hash of the episodes, which does not depend on the file format.
    #[getter]
    fn content_hash(&self) -> &str {
        self.data.content_hash()
    }

    /// The file that the dataset was read from, or None.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.source.as_ref().map(|(path, _)| path.clone())
    }

    /// Writes the dataset to a file: .arrow, .npz, or a folder in Minari's format.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        write(py, &self.data, &path)
    }

    /// Draws the episodes on two dimensions of an observation.
    #[pyo3(signature = (dimensions=(0, 1), *, title=""), text_signature = "($self, dimensions=(0, 1), *, title='')")]
    fn plot(&self, dimensions: (usize, usize), title: &str) -> PyResult<Figure> {
        let spec = self.data.spec();
        let width = spec.observation.width;
        let axes = check_axes([dimensions.0, dimensions.1], width)?;
        let n = self.data.n_episodes();
        let drawn = (0..n).step_by(n.div_ceil(MAX_DRAWN).max(1));
        let path = |episode: EpisodeView<'_>| {
            episode.observations.chunks_exact(width).map(|state| axes.map(|axis| state[axis])).collect()
        };
        let mut lengths = std::collections::BTreeMap::<usize, u64>::new();
        (0..n).for_each(|number| *lengths.entry(self.data.episode(number).steps).or_default() += 1);
        let plot = TrajectoryPlot {
            title: title.to_owned(),
            axes: axes.map(|axis| spec.observation.dimension(axis)),
            paths: drawn.map(|number| path(self.data.episode(number))).collect(),
            lengths: lengths.into_iter().collect(),
        };
        Ok(Figure { figure: plot.draw() })
    }

    fn _repr_svg_(&self) -> PyResult<Option<String>> {
        if self.data.spec().observation.width < 2 || self.data.n_episodes() == 0 {
            return Ok(None);
        }
        Ok(Some(self.plot((0, 1), "")?.figure.svg().to_owned()))
    }

    fn __repr__(&self) -> String {
        let spec = self.data.spec();
        let origin = self
            .source
            .as_ref()
            .map(|(path, _)| format!(", from {}", path.file_name().unwrap_or_default().to_string_lossy()));
        format!(
            "<isochrone.Dataset: {} episodes, {} transitions, observations of width {}, actions of width {}{}>",
            self.data.n_episodes(),
            self.data.n_transitions(),
            spec.observation.width,
            spec.action.width,
            origin.unwrap_or_default()
        )
    }

    /// Pickles a dataset from a file by its path, one from memory by value.
    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = py.import("isochrone._pickle")?;
        let this = slf.get();
        let json =
            |value: Result<serde_json::Value, serde_json::Error>| to_python(py, &value.expect("plain data"));
        if let Some((path, options)) = &this.source {
            let parts = (path, json(serde_json::to_value(options))?);
            return Ok((module.getattr("load_with")?, parts).into_pyobject(py)?.into_any());
        }
        let parts = (json(serde_json::to_value(this.data.spec()))?, Self::episodes(&slf)?);
        Ok((module.getattr("dataset_of")?, parts).into_pyobject(py)?.into_any())
    }
}

/// Collects episodes from arrays.
#[pyclass(frozen, module = "isochrone._isochrone")]
pub struct Builder {
    spec: Spec,
    builder: Mutex<Option<(DatasetBuilder, usize)>>,
}

#[pymethods]
impl Builder {
    /// `spec` is a JSON object as in `Dataset.spec`.
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        let spec: Spec = serde_json::from_str(spec)
            .map_err(|error| invalid(&format!("not a dataset spec: {error}"), "use Dataset.spec"))?;
        spec.check().map_err(|error| invalid(&error.to_string(), &error.hint().to_string()))?;
        let mut builder = DatasetBuilder::default();
        builder.begin(&spec).or_raise()?;
        Ok(Self { spec, builder: Mutex::new(Some((builder, 0))) })
    }

    /// Adds an episode: T + 1 observations, T actions and rewards, extra columns by name.
    #[pyo3(signature = (observations, actions=None, rewards=None, timestamps=None, extras=Vec::new(), ending="unknown"))]
    fn push(
        &self,
        observations: Rows<'_>,
        actions: Option<Rows<'_>>,
        rewards: Option<Rows<'_>>,
        timestamps: Option<Vec<f64>>,
        extras: Vec<Rows<'_>>,
        ending: &str,
    ) -> PyResult<()> {
        let mut builder = self.builder.lock().expect("no panic while it is locked");
        let (builder, number) =
            builder.as_mut().ok_or_else(|| invalid("the builder is finished", "make another one"))?;
        let numbers =
            |rows: &Option<Rows<'_>>| rows.as_ref().map_or_else(Vec::new, |rows| rows.numbers().to_vec());
        let Some(ending) = Ending::from_name(ending) else {
            return Err(invalid(&format!("ending='{ending}'"), "use 'unknown', 'terminated' or 'truncated'"));
        };
        let episode = data::Episode {
            observations: observations.numbers().to_vec(),
            actions: numbers(&actions),
            rewards: numbers(&rewards),
            timestamps: timestamps.unwrap_or_default(),
            extras: extras.iter().map(|rows| rows.numbers().to_vec()).collect(),
            ending,
        };
        let view = episode.view(&self.spec).and_then(|view| view.require_finite(&self.spec).map(|()| view));
        let view = view.map_err(|error| invalid_data(&format!("episode {number}: {error}"), error.hint()))?;
        builder.episode(&view.numbered(*number)).or_raise()?;
        *number += 1;
        Ok(())
    }

    /// Returns the dataset.
    fn finish(&self, py: Python<'_>) -> PyResult<Dataset> {
        let builder = self.builder.lock().expect("no panic while it is locked").take();
        let (builder, _) = builder.ok_or_else(|| invalid("the builder is finished", "make another one"))?;
        Ok(Dataset { data: py.detach(|| builder.finish()), source: None })
    }
}
