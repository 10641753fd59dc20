//! Planning over recorded states.

use crate::{
    arrays::{Rows, array, repeated},
    dataset::Dataset,
    distance::Metric,
    errors::{OrRaise as _, invalid},
    model::Model,
    pool::{SMALL_ROWS, compute},
    refined::RefinedDistance,
};
use isochrone::{
    GoalPolicy as _, TemporalDistance, data,
    learn::model::LearnedPolicy,
    plan::{self, PlanError, PlanMethod, PlannerConfig, RecordedPlanner, Vertices, Waypoints},
    refined::RecordedPath,
};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods as _};
use pyo3::{
    prelude::*,
    types::{PyDict, PyTuple},
};
use std::borrow::Cow;

/// A path of states from a start to a goal. `len(path)` is the number of states.
#[pyclass(frozen, module = "isochrone", get_all)]
pub struct Path {
    /// The start, the waypoints, the goal: `(n, observation width)`.
    states: Py<PyArrayDyn<f32>>,
    /// The steps of each edge: `(n - 1,)`.
    edge_steps: Py<PyArray1<f64>>,
    /// The dataset row of each state (its index over all episodes), -1 for a state that is not
    /// recorded: `(n,)`; None for paths that are not made of recorded rows.
    rows: Option<Py<PyArray1<i64>>>,
}

impl Path {
    fn new(
        py: Python<'_>,
        width: usize,
        states: Vec<f32>,
        edge_steps: Vec<f64>,
        rows: Option<Vec<i64>>,
    ) -> PyResult<Self> {
        let n = states.len() / width;
        Ok(Self {
            states: array(py, states, &[n, width])?.unbind(),
            edge_steps: PyArray1::from_vec(py, edge_steps).unbind(),
            rows: rows.map(|rows| PyArray1::from_vec(py, rows).unbind()),
        })
    }

    /// The ends of recorded segments, with short connections between them.
    pub fn of_recorded(
        py: Python<'_>,
        path: &RecordedPath,
        data: &data::Dataset,
        from: &[f32],
        to: &[f32],
    ) -> PyResult<Self> {
        let (mut states, mut steps, mut rows) = (from.to_vec(), Vec::new(), vec![-1]);
        for (segment, connection) in path.segments.iter().zip(&path.hops) {
            let ends = [(segment.first_row, *connection), (segment.last_row(), f64::from(segment.steps))];
            for (row, edge) in ends {
                states.extend(data.state(row));
                rows.push(row as i64);
                steps.push(edge);
            }
        }
        states.extend(to);
        rows.push(-1);
        steps.push(path.hops[path.hops.len() - 1]);
        Self::new(py, from.len(), states, steps, Some(rows))
    }

    pub fn states_of(&self, py: Python<'_>) -> PyResult<Vec<f32>> {
        Ok(self.states.bind(py).to_vec()?)
    }
}

#[pymethods]
impl Path {
    #[new]
    #[pyo3(signature = (states, edge_steps, rows=None))]
    fn make(
        py: Python<'_>,
        states: Rows<'_>,
        edge_steps: Vec<f64>,
        rows: Option<Vec<i64>>,
    ) -> PyResult<Self> {
        if edge_steps.len() + 1 != states.n() || rows.as_ref().is_some_and(|rows| rows.len() != states.n()) {
            return Err(invalid(
                &format!("{} edges between {} states", edge_steps.len(), states.n()),
                "n states have n - 1 edges and n rows",
            ));
        }
        Self::new(py, states.width(), states.numbers().to_vec(), edge_steps, rows)
    }

    /// The length of the path, in steps.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.edge_steps.bind(py).to_vec()?.iter().sum())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.states.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<isochrone.Path: {} states, {:.1} steps>", self.__len__(py)?, self.steps(py)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let rows = self.rows.as_ref().map(|rows| rows.bind(py).to_vec()).transpose()?;
        let steps = self.edge_steps.bind(py).to_vec()?;
        Ok((py.get_type::<Self>().into_any(), (&self.states, steps, rows).into_pyobject(py)?))
    }
}

/// The search behind a planner.
#[expect(clippy::large_enum_variant, reason = "one per planner")]
enum Search {
    /// Over sampled transitions, by any distance.
    Sampled(plan::Planner<Box<dyn TemporalDistance>>),
    /// Along recorded segments.
    Recorded(RecordedPlanner, Py<RefinedDistance>),
}

impl Search {
    fn waypoints(&self) -> &dyn Waypoints {
        match self {
            Self::Sampled(planner) => planner,
            Self::Recorded(planner, _) => planner,
        }
    }
}

/// A planner over the recorded states of a dataset.
///
/// Parameters
/// ----------
/// distance
///     A `Model`, a `RefinedDistance`, a `Distance`, or any callable that maps `(n, width)` and
///     `(n, width)` to `(n,)` steps (and, if it has a method `all_pairs`, to `(n, m)`).
/// data
///     The dataset to plan over.
/// method
///     "graph" (shortest paths over sampled states), "greedy" (the best recorded transition within
///     a radius), or "recorded" (recorded segments; needs a `RefinedDistance`). The default is
///     "recorded" for a `RefinedDistance` and "graph" otherwise.
/// max_edge_steps
///     Graph: the longest edge, in steps.
/// radius
///     Greedy: how far a transition may start from the state, in the units of observations.
/// states
///     The number of transitions that are sampled from the data.
/// calibrated, round_trip
///     Whether the distance is calibrated to observed steps, or the larger of both directions.
/// look_ahead
///     Recorded: how many steps ahead the next waypoint is.
/// seed
///     The random seed of the sampled transitions.
#[pyclass(frozen, module = "isochrone", weakref)]
pub struct Planner {
    search: Box<Search>,
    metric: Metric,
    /// The arguments, for pickles.
    arguments: (Py<PyTuple>, Py<PyDict>),
    description: String,
}

/// The maximum number of states of a graph, and of transitions of a greedy search.
const MAX_STATES: [usize; 2] = [10_000, 1_000_000];

#[pymethods]
impl Planner {
    #[new]
    #[pyo3(signature = (distance, data, method=None, *, max_edge_steps=10.0, radius=None, states=1000, calibrated=false, round_trip=false, look_ahead=RecordedPlanner::LOOK_AHEAD_STEPS, seed=0), text_signature = "(distance, data, method=None, *, max_edge_steps=10.0, radius=None, states=1000, calibrated=False, round_trip=False, look_ahead=12.0, seed=0)")]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new<'py>(
        py: Python<'py>,
        distance: &Bound<'py, PyAny>,
        data: &Bound<'py, Dataset>,
        method: Option<&str>,
        max_edge_steps: f64,
        radius: Option<f64>,
        states: usize,
        calibrated: bool,
        round_trip: bool,
        look_ahead: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let refined = distance.cast::<RefinedDistance>().ok();
        let method = method.unwrap_or(if refined.is_some() { "recorded" } else { "graph" });
        let metric = Metric::of(distance, data.get(), None)?;
        let dataset = &data.get().data;
        let keywords = PyDict::new(py);
        keywords.set_item("method", method)?;
        for (name, value) in [("max_edge_steps", max_edge_steps), ("look_ahead", look_ahead)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(invalid(&format!("{name}={value}"), "pass a positive number"));
            }
            keywords.set_item(name, value)?;
        }
        keywords.set_item("radius", radius)?;
        keywords.set_item("states", states)?;
        keywords.set_item("calibrated", calibrated)?;
        keywords.set_item("round_trip", round_trip)?;
        keywords.set_item("seed", seed)?;
        let (plan_method, max_states) = match (method, refined) {
            ("recorded", Some(refined)) => {
                if calibrated || round_trip {
                    let problem = "calibrated and round_trip do not apply to recorded segments";
                    return Err(invalid(problem, "use method='graph'"));
                }
                if refined.get().data.get().data.content_hash() != dataset.content_hash() {
                    let problem = "the RefinedDistance was made from other data";
                    return Err(invalid(problem, "pass the same dataset, or call isochrone.refine(data)"));
                }
                let planner = RecordedPlanner::new((*refined.get().distance).clone(), dataset, look_ahead);
                let search = Box::new(Search::Recorded(planner, refined.clone().unbind()));
                let arguments = ((distance, data).into_pyobject(py)?.unbind(), keywords.unbind());
                let description = format!("recorded segments, {look_ahead} steps ahead");
                return Ok(Self { search, metric, arguments, description });
            }
            ("recorded", None) => {
                let hint = "pass isochrone.refine(data) as the distance";
                return Err(invalid("method='recorded' needs a RefinedDistance", hint));
            }
            ("graph", _) => (PlanMethod::Graph { max_edge_steps }, MAX_STATES[0]),
            ("greedy", _) => match radius {
                Some(radius) => (PlanMethod::Greedy { radius }, MAX_STATES[1]),
                None => {
                    let hint = "pass how far a transition may start from the state";
                    return Err(invalid("method='greedy' needs a radius", hint));
                }
            },
            _ => return Err(invalid(&format!("method='{method}'"), "use 'graph', 'greedy' or 'recorded'")),
        };
        if !(1..=max_states).contains(&states) {
            return Err(invalid(
                &format!("states={states}"),
                &format!("pass a number between 1 and {max_states}"),
            ));
        }
        let config = PlannerConfig {
            method: plan_method,
            round_trip,
            calibrated,
            transitions: states,
            vertices: Vertices::Random,
            seed,
        };
        let base = metric.distance.clone();
        let planner = compute(py, false, || config.build(base, dataset)).or_raise()?;
        let arguments = ((distance, data).into_pyobject(py)?.unbind(), keywords.unbind());
        let description = format!("{method} over up to {states} recorded states");
        metric.checked(())?;
        Ok(Self { search: Box::new(Search::Sampled(planner)), metric, arguments, description })
    }

    /// Returns the path from a start to a goal, or None if there is none.
    fn plan<'py>(&self, py: Python<'py>, start: Rows<'py>, goal: Rows<'py>) -> PyResult<Option<Path>> {
        let width = self.metric.distance.width();
        let (from, to) = (start.one_of_width(width, "start")?, goal.one_of_width(width, "goal")?);
        let planner = match &*self.search {
            Search::Recorded(_, refined) => return refined.get().find_path(py, from, to),
            Search::Sampled(planner) => planner,
        };
        let found = compute(py, false, || planner.plan(from, to));
        match self.metric.checked(found)? {
            Ok(path) => Ok(Some(Path::new(py, width, path.states, path.edge_steps, None)?)),
            Err(PlanError::NoPath) => Ok(None),
            Err(error) => Err(error).or_raise(),
        }
    }

    /// Returns the next waypoint on the path from each observation to its goal; the goal itself if
    /// it is near or no path is known. Any policy can follow it.
    fn next<'py>(
        &self,
        py: Python<'py>,
        observation: Rows<'py>,
        goal: Rows<'py>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let width = self.metric.distance.width();
        let (here, there) = with_goals(&observation, &goal, width)?;
        let next = compute(py, observation.n() <= SMALL_ROWS, || self.search.waypoints().next(here, &there));
        let shape = [observation.leading(), &[width]].concat();
        array(py, self.metric.checked(next)?, &shape)
    }

    /// Whether a path is known from each observation to its goal, or the goal is near.
    fn is_reachable<'py>(
        &self,
        py: Python<'py>,
        observation: Rows<'py>,
        goal: Rows<'py>,
    ) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        let width = self.metric.distance.width();
        let (here, there) = with_goals(&observation, &goal, width)?;
        let waypoints = self.search.waypoints();
        let known = compute(py, observation.n() <= SMALL_ROWS, || waypoints.is_reachable(here, &there));
        array(py, self.metric.checked(known)?, observation.leading())
    }

    /// Returns the policy of a model that follows the waypoints of this planner.
    fn policy(slf: Bound<'_, Self>, model: &Bound<'_, Model>) -> PyResult<PlannedPolicy> {
        let policy = Box::new(model.get().known_policy()?.clone());
        Ok(PlannedPolicy { planner: slf.unbind(), model: model.clone().unbind(), policy })
    }

    fn __repr__(&self) -> String {
        format!("<isochrone.Planner: {}>", self.description)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<PyTuple>, Py<PyDict>))> {
        let function = py.import("isochrone._pickle")?.getattr("planner")?;
        Ok((function, (self.arguments.0.clone_ref(py), self.arguments.1.clone_ref(py))))
    }
}

/// Returns the observations and as many goals: one goal serves all.
pub fn with_goals<'a>(
    observation: &'a Rows<'_>,
    goal: &'a Rows<'_>,
    width: usize,
) -> PyResult<(&'a [f32], Cow<'a, [f32]>)> {
    let (here, there) = (observation.of_width(width, "observation")?, goal.of_width(width, "goal")?);
    match (observation.n(), goal.n()) {
        (n, m) if n == m || m == 1 => Ok((here, repeated(there, m, n))),
        (n, m) => Err(invalid(
            &format!("{n} observations and {m} goals"),
            "pass as many goals as observations, or one",
        )),
    }
}

/// The policy of a model that follows the waypoints of a planner.
///
/// Made by `Planner.policy`. `policy(observation, goal)` returns actions of shape
/// `(..., action width)`; one goal may serve all observations.
#[pyclass(frozen, module = "isochrone", weakref)]
pub struct PlannedPolicy {
    planner: Py<Planner>,
    model: Py<Model>,
    policy: Box<LearnedPolicy>,
}

#[pymethods]
impl PlannedPolicy {
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        observation: Rows<'py>,
        goal: Rows<'py>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let (planner, policy) = (self.planner.get(), &*self.policy);
        let width = policy.observation_width();
        let (here, there) = with_goals(&observation, &goal, width)?;
        let waypoints = planner.search.waypoints();
        let actions = compute(py, observation.n() <= SMALL_ROWS, || waypoints.actions(policy, here, &there));
        let shape = [observation.leading(), &[policy.action_width()]].concat();
        array(py, planner.metric.checked(actions)?, &shape)
    }

    fn __repr__(&self) -> String {
        format!("<isochrone.PlannedPolicy: {}>", self.planner.get().description)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<Planner>, Py<Model>))> {
        let function = py.import("isochrone._pickle")?.getattr("planned_policy")?;
        Ok((function, (self.planner.clone_ref(py), self.model.clone_ref(py))))
    }
}
