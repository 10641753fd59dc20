//! Environments, and the collection of datasets in them.

use crate::{
    arrays::Rows,
    dataset::Dataset,
    errors::{OrRaise as _, invalid},
    pool::compute,
};
use isochrone::{
    Environment,
    data::DatasetBuilder,
    envs::{self, DatasetId, EnvId},
    plot::{PlaneChart, PlanePanel, RolloutPath},
};
use numpy::{PyArray1, PyArrayDyn};
use pyo3::{prelude::*, types::PyDict};
use std::sync::Mutex;

/// An environment; `isochrone.gym` makes it one of Gymnasium.
#[pyclass(frozen, module = "isochrone._isochrone")]
pub struct Env {
    id: EnvId,
    state: Mutex<State>,
}

struct State {
    environment: Box<dyn Environment>,
    /// The positions of this episode, for figures.
    path: Vec<[f64; 2]>,
    success: bool,
}

type Observation<'py> = Bound<'py, PyArray1<f32>>;

fn position(observation: &[f32]) -> [f64; 2] {
    [f64::from(observation[0]), f64::from(observation[1])]
}

impl Env {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl Env {
    #[new]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        let id = EnvId::all().find(|env| env.name() == name).ok_or_else(|| {
            invalid(&format!("'{name}' is not an environment"), "see isochrone.environments()")
        })?;
        let environment = py.detach(|| id.make().map(|make| make())).or_raise()?;
        Ok(Self { id, state: Mutex::new(State { environment, path: Vec::new(), success: false }) })
    }

    /// The widths of observations and actions, the maximum number of steps, the number of tasks.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize, usize) {
        let spec = self.id.spec();
        (spec.observation_width, spec.action_width, spec.max_episode_steps, spec.n_tasks)
    }

    /// Starts episode `number` of `seed`; returns the observation and the goal.
    fn reset<'py>(&self, py: Python<'py>, seed: u64, number: u64) -> (Observation<'py>, Observation<'py>) {
        let mut state = self.state();
        state.environment.reset(seed, number);
        (state.path, state.success) = (vec![position(state.environment.observation())], false);
        let environment = &state.environment;
        (PyArray1::from_slice(py, environment.observation()), PyArray1::from_slice(py, environment.goal()))
    }

    /// Applies an action; returns the observation, the reward, success, and whether the episode
    /// terminated.
    fn step<'py>(&self, py: Python<'py>, action: Rows<'py>) -> PyResult<(Observation<'py>, f64, bool, bool)> {
        let mut state = self.state();
        let width = state.environment.action_width();
        if (action.n(), action.width()) != (1, width) {
            let hint = format!("an action has shape ({width},)");
            return Err(invalid(&format!("an action of {} values", action.numbers().len()), &hint));
        }
        let result = state.environment.step(action.numbers());
        let here = position(state.environment.observation());
        state.path.push(here);
        state.success |= result.success;
        let observation = PyArray1::from_slice(py, state.environment.observation());
        Ok((observation, result.reward, result.success, result.terminated))
    }

    /// Draws the map, the goal and the path so far: `(height, width, 3)` bytes.
    fn render<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let state = self.state();
        let (walls, places) = (self.id.walls(), self.id.places());
        // Noise may leave the map: all frames of an environment have the same size.
        let inside = |point: &[f64; 2]| {
            let mut point = *point;
            for (axis, value) in point.iter_mut().enumerate() {
                let known = || walls.iter().flatten().chain(&places).map(|place| place[axis]);
                *value = value
                    .max(known().fold(f64::INFINITY, f64::min))
                    .min(known().fold(f64::NEG_INFINITY, f64::max));
            }
            point
        };
        let mut points: Vec<[f64; 2]> = state.path.iter().map(inside).collect();
        // A path of one point has no entry in the legend.
        points.extend(points.first().copied().filter(|_| points.len() == 1));
        let panel = PlanePanel {
            starts: points.first().copied().into_iter().collect(),
            goals: vec![inside(&position(state.environment.goal()))],
            paths: vec![RolloutPath { points, success: state.success }],
            dots: places.iter().map(|place| (*place, None)).collect(),
            walls: walls.clone(),
            ..PlanePanel::default()
        };
        let title = format!("{}, step {}", self.id.name(), state.path.len().saturating_sub(1));
        let chart = PlaneChart {
            title,
            note: String::new(),
            axes: ["x".to_owned(), "y".to_owned()],
            panels: vec![panel],
        };
        let (pixels, [height, width]) = py
            .detach(|| chart.draw().rgb())
            .map_err(|error| invalid(&error.reason, "use render_mode=None"))?;
        crate::arrays::array(py, pixels, &[height, width, 3])
    }
}

/// Returns the names and descriptions of the environments.
#[pyfunction]
pub fn environments(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for env in EnvId::all() {
        all.set_item(env.name(), env.description())?;
    }
    Ok(all)
}

/// Returns the datasets that `collect` can collect, with their default numbers of episodes.
#[pyfunction]
pub fn datasets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for dataset in DatasetId::all() {
        all.set_item(dataset.name(), dataset.policy().default_episodes)?;
    }
    Ok(all)
}

/// The maximum number of steps of an episode in each environment.
#[pyfunction]
pub fn episode_steps(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for env in EnvId::all() {
        all.set_item(env.name(), env.spec().max_episode_steps)?;
    }
    Ok(all)
}

/// Collects a dataset: episodes of a scripted policy in an environment.
///
/// Each episode depends only on the seed and its number.
///
/// Parameters
/// ----------
/// name
///     An environment and a policy, such as "nav2d" or "pointmaze-medium-navigate";
///     `isochrone.datasets()` lists them.
/// episodes
///     The number of episodes; by default, that of `isochrone.datasets()`.
/// seed
///     The random seed.
#[pyfunction]
#[pyo3(signature = (name, episodes=None, *, seed=0))]
pub fn collect(py: Python<'_>, name: &str, episodes: Option<usize>, seed: u64) -> PyResult<Dataset> {
    let dataset = DatasetId::from_name(name)
        .ok_or_else(|| invalid(&format!("'{name}' is not a dataset"), "see isochrone.datasets()"))?;
    let episodes = episodes.unwrap_or(dataset.policy().default_episodes);
    if episodes == 0 {
        return Err(invalid("episodes=0", "collect at least one episode"));
    }
    let mut builder = DatasetBuilder::default();
    compute(py, false, || dataset.collect(episodes, seed, &mut builder)).or_raise()?;
    Ok(Dataset { data: py.detach(|| builder.finish()), source: None })
}

/// Returns the MuJoCo version, or None if MuJoCo cannot be loaded.
#[pyfunction]
pub fn mujoco_version() -> Option<String> {
    envs::mujoco_version()
}
