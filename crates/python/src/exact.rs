//! Exact distances of tabular processes.

use crate::{
    arrays::array,
    dataset::record_batches,
    errors::{OrRaise as _, invalid},
    pool::compute,
};
use isochrone::{
    Discount,
    data::tabular::{self, LogColumns},
    exact::{ExactSolver, MdpError, Method, RowWriter, TabularMdp, hitting_statistics},
};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyDict};

/// Distances from every state to a goal, with a certified bound on their error.
/// `len(distances)` is the number of states.
#[pyclass(frozen, module = "isochrone", get_all)]
pub struct ExactDistances {
    /// Effective steps to the goal, `(states,)`; infinite where it cannot be reached.
    steps: Py<PyArray1<f64>>,
    /// The same in nats of the discount.
    nats: Py<PyArray1<f64>>,
    /// The optimal action, `(states,)`; -1 at the goal and where it cannot be reached.
    policy: Py<PyArray1<i64>>,
    /// The bound on the relative error of every distance.
    error_bound: f64,
    /// The method: "bfs", "lu" or "policy_iteration".
    method: String,
}

#[pymethods]
impl ExactDistances {
    #[new]
    fn new(
        py: Python<'_>,
        steps: Vec<f64>,
        nats: Vec<f64>,
        policy: Vec<i64>,
        error_bound: f64,
        method: String,
    ) -> Self {
        Self {
            steps: PyArray1::from_vec(py, steps).unbind(),
            nats: PyArray1::from_vec(py, nats).unbind(),
            policy: PyArray1::from_vec(py, policy).unbind(),
            error_bound,
            method,
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.steps.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (n, bound, method) = (self.__len__(py)?, self.error_bound, &self.method);
        Ok(format!("<isochrone.ExactDistances: {n} states, relative error below {bound:.0e}, by {method}>"))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Vec<f64>, Vec<f64>, Vec<i64>, f64, String))> {
        let numbers = |array: &Py<PyArray1<f64>>| array.bind(py).to_vec();
        let parts = (numbers(&self.steps)?, numbers(&self.nats)?, self.policy.bind(py).to_vec()?);
        Ok((
            py.get_type::<Self>().into_any(),
            (parts.0, parts.1, parts.2, self.error_bound, self.method.clone()),
        ))
    }
}

/// The rows of all actions on top of each other, in compressed form.
#[derive(FromPyObject)]
pub struct Rows<'py> {
    n_states: usize,
    indptr: PyReadonlyArray1<'py, i64>,
    indices: PyReadonlyArray1<'py, i64>,
    probabilities: PyReadonlyArray1<'py, f64>,
}

impl Rows<'_> {
    fn process(&self, py: Python<'_>) -> PyResult<TabularMdp> {
        let (n_states, indptr, indices, data) = (
            self.n_states,
            self.indptr.as_slice()?,
            self.indices.as_slice()?,
            self.probabilities.as_slice()?,
        );
        let is_stack = n_states > 0 && indptr.len() > 1 && (indptr.len() - 1).is_multiple_of(n_states);
        let is_complete = indptr.first() == Some(&0)
            && indptr.last() == Some(&(data.len() as i64))
            && indices.len() == data.len();
        if !(is_stack && is_complete && indptr.is_sorted()) {
            let hint = "pass one (states, states) matrix per action";
            return Err(invalid("not a stack of square matrices", hint));
        }
        py.detach(|| process(n_states, indptr, indices, data)).or_raise()
    }
}

fn process(n_states: usize, indptr: &[i64], indices: &[i64], data: &[f64]) -> Result<TabularMdp, MdpError> {
    let n_actions = (indptr.len() - 1) / n_states;
    let mut writer = RowWriter::new(n_states);
    for state in 0..n_states {
        for action in 0..n_actions {
            let row = action * n_states + state;
            let entries = indptr[row] as usize..indptr[row + 1] as usize;
            if !entries.is_empty() {
                // A negative successor becomes one that is out of range, which the writer reports.
                let successors =
                    indices[entries.clone()].iter().map(|&to| usize::try_from(to).unwrap_or(usize::MAX));
                writer.row(state, action, successors.zip(data[entries].iter().copied()))?;
            }
        }
    }
    writer.finish()
}

fn solver<'a>(
    mdp: &'a TabularMdp,
    discount: f64,
    tolerance: f64,
    method: Option<&str>,
) -> PyResult<ExactSolver<'a>> {
    let solver = ExactSolver::new(mdp, Discount::new(discount).or_raise()?).with_tolerance(tolerance);
    match method {
        None => Ok(solver),
        Some("bfs") => solver.with_method(Method::BreadthFirst).or_raise(),
        Some("lu") => solver.with_method(Method::SparseLu).or_raise(),
        Some("policy_iteration") => solver.with_method(Method::PolicyIteration).or_raise(),
        Some(other) => {
            Err(invalid(&format!("method='{other}'"), "use 'bfs', 'lu', 'policy_iteration' or None"))
        }
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::BreadthFirst => "bfs",
        Method::SparseLu => "lu",
        Method::PolicyIteration => "policy_iteration",
    }
}

fn distances(
    py: Python<'_>,
    mdp: &TabularMdp,
    goals: &[usize],
    (discount, tolerance, method): (f64, f64, Option<&str>),
) -> PyResult<ExactDistances> {
    let solver = solver(mdp, discount, tolerance, method)?;
    let found = compute(py, false, || solver.to_goal_set(goals)).or_raise()?;
    let n = mdp.n_states();
    let steps = (0..n).map(|state| found.steps(state)).collect();
    let policy = (0..n).map(|state| found.action(state).map_or(-1, |action| action as i64)).collect();
    let (bound, method) = (found.certificate().relative_error(), method_name(found.method()));
    Ok(ExactDistances::new(py, steps, found.into_nats(), policy, bound, method.to_owned()))
}

/// Distances to whichever of the goals is reached first.
#[pyfunction]
pub fn solve(
    py: Python<'_>,
    rows: Rows<'_>,
    goals: Vec<usize>,
    discount: f64,
    tolerance: f64,
    method: Option<&str>,
) -> PyResult<ExactDistances> {
    distances(py, &rows.process(py)?, &goals, (discount, tolerance, method))
}

/// Steps between all pairs of states, `[from, to]`.
#[pyfunction]
pub fn solve_all_pairs<'py>(
    py: Python<'py>,
    rows: Rows<'_>,
    discount: f64,
    tolerance: f64,
    method: Option<&str>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let mdp = rows.process(py)?;
    let solver = solver(&mdp, discount, tolerance, method)?;
    let n = mdp.n_states();
    let steps = compute(py, false, || {
        let all = solver.all_pairs()?;
        Ok::<_, isochrone::exact::SolveError>(
            (0..n)
                .flat_map(|from| (0..n).map(move |to| (from, to)))
                .map(|(from, to)| all.steps(from, to))
                .collect(),
        )
    });
    array(py, steps.or_raise()?, &[n, n])
}

/// The Markov chain of an event log.
#[pyclass(frozen, module = "isochrone._isochrone")]
pub struct EventLog {
    log: tabular::EventLog,
}

#[pymethods]
impl EventLog {
    /// Reads a table with the Arrow PyCapsule interface; None finds a column by its common names.
    #[new]
    fn new(
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        case: Option<String>,
        activity: Option<String>,
        timestamp: Option<String>,
    ) -> PyResult<Self> {
        let (schema, batches) = record_batches(table)?;
        let columns = LogColumns { case, activity, timestamp };
        let log = py.detach(|| tabular::EventLog::from_batches(&schema, &batches, &columns)).or_raise()?;
        Ok(Self { log })
    }

    /// Statistics of every state with respect to a goal, as columns: `activity`,
    /// `steps_if_reached`, `reach_probability`, `seconds_if_reached`, `distance_steps` and
    /// `visits`.
    fn to_goal<'py>(
        &self,
        py: Python<'py>,
        goals: Vec<String>,
        discount: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let log = &self.log;
        let find = |name: &String| {
            log.find_state(name).ok_or_else(|| {
                let hint = format!("the activities are {}", log.activities.join(", "));
                invalid(&format!("goal '{name}': unknown activity"), &hint)
            })
        };
        let goals = goals.iter().map(find).collect::<PyResult<Vec<usize>>>()?;
        let chain = log.chain.chain();
        let hitting = hitting_statistics(chain, &goals).or_raise()?;
        let exact = distances(py, chain, &goals, (discount, 1e-9, None))?;
        let columns = PyDict::new(py);
        let names: Vec<&str> = (0..chain.n_states()).map(|state| log.state_name(state)).collect();
        columns.set_item("activity", names)?;
        let numbers = |values: Vec<f64>| PyArray1::from_vec(py, values);
        columns.set_item("steps_if_reached", numbers(hitting.mean_if_reached(|_, _| 1.0)))?;
        columns.set_item("reach_probability", numbers(hitting.reach_probability().to_vec()))?;
        let seconds = hitting.mean_if_reached(|from, to| log.chain.mean_seconds(from, to));
        columns.set_item("seconds_if_reached", numbers(seconds))?;
        columns.set_item("distance_steps", &exact.steps)?;
        columns.set_item("visits", PyArray1::from_slice(py, log.chain.visits()))?;
        Ok(columns)
    }
}
