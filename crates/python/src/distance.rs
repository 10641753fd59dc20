//! Distances of any origin: of models, of recorded time, or Python callables.

use crate::{
    arrays::{Rows, array, repeated},
    dataset::{Dataset, check_axes},
    errors::{OrRaise as _, invalid, invalid_data},
    figure::Figure,
    model::Model,
    planning::Path,
    pool::{SMALL_ROWS, compute},
    refined::RefinedDistance,
};
use isochrone::{
    Discount, TemporalDistance,
    calibration::Calibrated,
    data,
    plot::{MapAxis, MapDirection, MapFrame, PlaneChart, PlanePanel, StateMap},
    round_trip::RoundTrip,
};
use numpy::PyArrayDyn;
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyTuple};
use std::sync::{Arc, Mutex};

/// A distance with what is needed to express it in seconds.
#[derive(Clone)]
pub struct Metric {
    pub distance: Arc<dyn TemporalDistance>,
    pub frames_per_second: Option<f64>,
    /// Whether one state against many is compared pair by pair, which gives the same bits as single
    /// queries; recorded time does so in any case.
    is_paired: bool,
    /// The Python callable that computes it, if it is one: it may raise.
    callable: Option<Arc<Callable>>,
}

type FloatArray<'py> = Bound<'py, PyArrayDyn<f32>>;

/// The unit of a distance.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Steps,
    Seconds(f64),
    Nats,
}

/// Which rows are compared.
#[derive(Clone, Copy)]
enum Pairing {
    /// Row `i` with row `i`.
    Rows,
    /// Every row with every row.
    All,
}

impl Metric {
    pub fn new(distance: Arc<dyn TemporalDistance>, frames_per_second: Option<f64>) -> Self {
        Self { distance, frames_per_second, is_paired: false, callable: None }
    }

    /// A learned distance.
    pub fn of_model(distance: Arc<dyn TemporalDistance>, frames_per_second: Option<f64>) -> Self {
        Self { is_paired: true, ..Self::new(distance, frames_per_second) }
    }

    /// Converts any object that is a distance: a class of this package, or a callable.
    pub fn of(object: &Bound<'_, PyAny>, data: &Dataset, discount: Option<f64>) -> PyResult<Self> {
        let spec = data.data.spec();
        let metric = if let Ok(model) = object.cast::<Model>() {
            model.get().metric()?.clone()
        } else if let Ok(refined) = object.cast::<RefinedDistance>() {
            refined.get().metric.clone()
        } else if let Ok(distance) = object.cast::<Distance>() {
            distance.get().metric.clone()
        } else if object.is_callable() {
            Self::of_callable(object, &data.data, discount)?
        } else {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{kind} is not a distance: pass a Model, a RefinedDistance or a callable"
            )));
        };
        let (found, expected) = (spec.observation.width, metric.distance.width());
        if found != expected {
            return Err(invalid(
                &format!(
                    "the dataset has observations of width {found}, but the distance has width {expected}"
                ),
                "pass data like those that the distance was made from",
            ));
        }
        Ok(metric)
    }

    fn of_callable(object: &Bound<'_, PyAny>, data: &data::Dataset, discount: Option<f64>) -> PyResult<Self> {
        let all_pairs = object.getattr_opt("all_pairs")?.map(Bound::unbind);
        let callable = Arc::new(Callable {
            call: object.clone().unbind(),
            all_pairs,
            width: data.spec().observation.width,
            discount: Discount::new(discount.unwrap_or(0.99)).or_raise()?,
            raised: Mutex::default(),
        });
        let distance: Arc<dyn TemporalDistance> = callable.clone();
        let frames_per_second = data.frames_per_second();
        Ok(Self { distance, frames_per_second, is_paired: false, callable: Some(callable) })
    }

    /// Raises what the callable raised while `value` was computed.
    pub fn checked<T>(&self, value: T) -> PyResult<T> {
        match self.callable.as_ref().and_then(|callable| callable.take_raised()) {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }

    /// Returns the same metric with another distance on top of it.
    fn wrapped(&self, distance: impl TemporalDistance + 'static) -> Self {
        Self { distance: Arc::new(distance), ..self.clone() }
    }

    fn unit(&self, unit: &str) -> PyResult<Unit> {
        match (unit, self.frames_per_second) {
            ("steps", _) => Ok(Unit::Steps),
            ("nats", _) => Ok(Unit::Nats),
            ("seconds", Some(rate)) => Ok(Unit::Seconds(rate)),
            ("seconds", None) => {
                Err(invalid("unit='seconds': the data have no frame rate", "pass `fps` when they are loaded"))
            }
            _ => Err(invalid(&format!("unit='{unit}'"), "use 'steps', 'seconds' or 'nats'")),
        }
    }

    /// Computes distances between rows that were checked.
    fn values(
        &self,
        py: Python<'_>,
        (unit, pairing): (Unit, Pairing),
        is_small: bool,
        (from, to): (&[f32], &[f32]),
    ) -> PyResult<Vec<f32>> {
        let distance = &*self.distance;
        let values = compute(py, is_small, || {
            let in_steps = || {
                let steps = match pairing {
                    Pairing::Rows => distance.paired_steps(from, to),
                    Pairing::All => distance.all_pairs_steps(from, to),
                };
                steps.expect("checked").into_iter()
            };
            match (unit, pairing) {
                (Unit::Nats, Pairing::Rows) => distance.paired_nats(from, to),
                (Unit::Nats, Pairing::All) => distance.all_pairs_nats(from, to),
                (Unit::Steps, _) => in_steps().map(|steps| steps as f32).collect(),
                (Unit::Seconds(rate), _) => in_steps().map(|steps| (steps / rate) as f32).collect(),
            }
        });
        self.checked(values)
    }

    pub fn paired<'py>(
        &self,
        py: Python<'py>,
        start: &Rows<'py>,
        goal: &Rows<'py>,
        unit: &str,
    ) -> PyResult<FloatArray<'py>> {
        let (unit, width) = (self.unit(unit)?, self.distance.width());
        let (from, to) = (start.of_width(width, "start")?, goal.of_width(width, "goal")?);
        let (n, m) = (start.n(), goal.n());
        let shape = match (n, m) {
            _ if start.leading() == goal.leading() => start.leading(),
            (1, 1) if start.leading().len() < goal.leading().len() => goal.leading(),
            (_, 1) => start.leading(),
            (1, _) => goal.leading(),
            _ => {
                return Err(invalid(
                    &format!(
                        "start has shape {:?} and goal {:?}, without the last axis",
                        start.leading(),
                        goal.leading()
                    ),
                    "pass as many goals as starts, or one of either; `all_pairs` compares all",
                ));
            }
        };
        let is_small = n.max(m) <= SMALL_ROWS;
        let values = match n == m || self.is_paired {
            // One row against many is repeated.
            true => {
                let pairs = if n == 1 { m } else { n };
                let (from, to) = (repeated(from, n, pairs), repeated(to, m, pairs));
                self.values(py, (unit, Pairing::Rows), is_small, (&from, &to))
            }
            false => self.values(py, (unit, Pairing::All), is_small, (from, to)),
        };
        array(py, values?, shape)
    }

    /// Computes all pairs, row by row.
    fn matrix(
        &self,
        py: Python<'_>,
        start: &Rows<'_>,
        (goal, name): (&Rows<'_>, &str),
        unit: &str,
    ) -> PyResult<Vec<f32>> {
        let (unit, width) = (self.unit(unit)?, self.distance.width());
        let rows = (start.of_width(width, "start")?, goal.of_width(width, name)?);
        self.values(py, (unit, Pairing::All), start.n().max(goal.n()) <= SMALL_ROWS, rows)
    }

    pub fn all_pairs<'py>(
        &self,
        py: Python<'py>,
        start: &Rows<'py>,
        goal: &Rows<'py>,
        unit: &str,
    ) -> PyResult<FloatArray<'py>> {
        array(py, self.matrix(py, start, (goal, "goal"), unit)?, &[start.n(), goal.n()])
    }

    /// The distance to the nearest of several goals.
    pub fn to_set<'py>(
        &self,
        py: Python<'py>,
        start: &Rows<'py>,
        goals: &Rows<'py>,
        unit: &str,
    ) -> PyResult<FloatArray<'py>> {
        if goals.n() == 0 {
            return Err(invalid("goals: an empty set", "pass at least one goal"));
        }
        let all = self.matrix(py, start, (goals, "goals"), unit)?;
        let nearest =
            all.chunks_exact(goals.n()).map(|row| row.iter().copied().fold(f32::INFINITY, f32::min));
        array(py, nearest.collect(), start.leading())
    }

    /// Draws the steps to a goal or from a start over two dimensions of the data.
    pub fn map(&self, py: Python<'_>, data: &Dataset, request: &MapRequest<'_>) -> PyResult<Figure> {
        let width = self.distance.width();
        let (state, direction) = match (&request.goal, &request.start) {
            (Some(goal), _) => (goal.one_of_width(width, "goal")?, MapDirection::To),
            (None, Some(start)) => (start.one_of_width(width, "start")?, MapDirection::From),
            (None, None) => return Err(invalid("a map needs a state", "pass `goal` or `start`")),
        };
        let from = match (&request.goal, &request.start) {
            (Some(_), Some(start)) => Some(start.one_of_width(width, "start")?),
            _ => None,
        };
        let path = request.path.as_ref().map(|path| path.get().states_of(py)).transpose()?;
        let dataset = &data.data;
        let axes = request.axes(dataset)?;
        if width < 2 {
            return Err(invalid("observations of one dimension cannot be drawn", "use `distance`"));
        }
        let (cells, title) = (request.cells, request.title);
        let figure = compute(py, false, || {
            let draw = |panel: &mut PlanePanel,
                        draw_path: &dyn Fn(&mut PlanePanel, &[f32], Option<&[f32]>)| {
                if let Some(path) = &path {
                    draw_path(panel, &path[..width], Some(path));
                } else if let Some(from) = from {
                    draw_path(panel, from, None);
                }
            };
            let observation = &dataset.spec().observation;
            let (panel, names) = if width == 2 {
                let frame = MapFrame::new(dataset, axes, cells);
                let mut panel = frame.panel("", &*self.distance, state, direction);
                draw(&mut panel, &|panel, from, states| frame.draw_path(panel, from, states));
                (panel, axes.map(|axis| observation.dimension(axis)))
            } else {
                let map = StateMap::new(dataset, axes.map(|axis| MapAxis::column(observation, axis)));
                let mut panel = map.panel("", &*self.distance, state, direction);
                draw(&mut panel, &|panel, from, states| map.draw_path(panel, from, states));
                (panel, map.axes())
            };
            let title = title.to_owned();
            PlaneChart { title, note: String::new(), axes: names, panels: vec![panel] }.draw()
        });
        self.checked(Figure { figure })
    }
}

/// What to draw on a map.
pub struct MapRequest<'py> {
    pub goal: Option<Rows<'py>>,
    pub start: Option<Rows<'py>>,
    pub path: Option<Bound<'py, Path>>,
    pub dimensions: Option<(usize, usize)>,
    pub cells: usize,
    pub title: &'py str,
}

impl MapRequest<'_> {
    fn axes(&self, data: &data::Dataset) -> PyResult<[usize; 2]> {
        let width = data.spec().observation.width;
        let goal = data.spec().goal_space();
        let first = if goal.len() >= 2 { goal.start } else { 0 };
        let axes = self.dimensions.map_or([first, first + 1], |(x, y)| [x, y]);
        check_axes(axes, width)
    }
}

/// Any Python callable as a distance: rows `[n, width]` twice give `[n]` steps. If it has a method
/// `all_pairs`, `[n, width]` and `[m, width]` give `[n, m]`.
pub struct Callable {
    call: Py<PyAny>,
    all_pairs: Option<Py<PyAny>>,
    width: usize,
    discount: Discount,
    /// The first exception: the search goes on with infinite distances, and raises it at its end.
    raised: Mutex<Option<PyErr>>,
}

/// The number of pairs per call.
const PAIRS_PER_CALL: usize = 1 << 16;

impl Callable {
    fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().ok()?.take()
    }

    fn try_call(&self, call: &Py<PyAny>, from: &[f32], to: &[f32], expected: usize) -> PyResult<Vec<f64>> {
        Python::attach(|py| {
            let rows =
                |numbers: &[f32]| array(py, numbers.to_vec(), &[numbers.len() / self.width, self.width]);
            let steps = call.bind(py).call1((rows(from)?, rows(to)?))?;
            let steps: Rows<'_> = steps.extract()?;
            match steps.numbers().len() == expected {
                true => Ok(steps.numbers().iter().map(|&steps| f64::from(steps)).collect()),
                false => Err(invalid(
                    &format!("the distance returned {} numbers for {expected} pairs", steps.numbers().len()),
                    "it maps (n, width) and (n, width) to (n,) steps",
                )),
            }
        })
    }

    fn call(&self, call: &Py<PyAny>, from: &[f32], to: &[f32], expected: usize) -> Vec<f64> {
        let has_raised = || self.raised.lock().is_ok_and(|raised| raised.is_some());
        if has_raised() {
            return vec![f64::INFINITY; expected];
        }
        self.try_call(call, from, to, expected).unwrap_or_else(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                raised.get_or_insert(error);
            }
            vec![f64::INFINITY; expected]
        })
    }

    fn nats(&self, steps: Vec<f64>) -> Vec<f32> {
        let per_step = self.discount.nats_per_step();
        steps.into_iter().map(|steps| (steps * per_step) as f32).collect()
    }

    fn paired(&self, from: &[f32], to: &[f32]) -> Vec<f64> {
        let chunk = PAIRS_PER_CALL * self.width;
        let chunks = from.chunks(chunk).zip(to.chunks(chunk));
        chunks.flat_map(|(from, to)| self.call(&self.call, from, to, from.len() / self.width)).collect()
    }

    fn pairs(&self, from: &[f32], to: &[f32]) -> Vec<f64> {
        let m = to.len() / self.width;
        let rows = (PAIRS_PER_CALL / m.max(1)).max(1) * self.width;
        let block = |from: &[f32]| {
            let n = from.len() / self.width;
            if let Some(all_pairs) = &self.all_pairs {
                return self.call(all_pairs, from, to, n * m);
            }
            let repeated: Vec<f32> = from.chunks(self.width).flat_map(|row| row.repeat(m)).collect();
            self.call(&self.call, &repeated, &to.repeat(n), n * m)
        };
        from.chunks(rows).flat_map(block).collect()
    }
}

impl TemporalDistance for Callable {
    fn width(&self) -> usize {
        self.width
    }

    fn discount(&self) -> Discount {
        self.discount
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.nats(self.paired(from, to))
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.nats(self.pairs(from, to))
    }

    fn paired_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, isochrone::ShapeError> {
        self.check_paired(from, to)?;
        Ok(self.paired(from, to))
    }

    fn all_pairs_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, isochrone::ShapeError> {
        self.check_all_pairs(from, to)?;
        Ok(self.pairs(from, to))
    }
}

/// A distance from a callable, or one that wraps another distance.
///
/// Parameters
/// ----------
/// callable
///     Maps `(n, width)` and `(n, width)` to `(n,)` steps; an optional method `all_pairs` gives
///     `(n, m)`.
/// data
///     The dataset that defines the observation width and the frame rate.
/// discount
///     The discount that converts steps to nats.
#[pyclass(frozen, module = "isochrone", weakref)]
pub struct Distance {
    pub metric: Metric,
    description: &'static str,
    /// The function and the arguments that make it again, for pickles.
    origin: (&'static str, Py<PyTuple>),
}

/// Defines the methods that all distances share.
macro_rules! distance_methods {
    ($class:ty, $self:ident => $metric:expr, { $($rest:tt)* }) => {
        #[pymethods]
        impl $class {
            /// Distances from `start[i]` to `goal[i]`; one of both may be a single state.
            ///
            /// Arrays of shape `(..., observation width)` give an array of shape `(...)`. The unit
            /// is "steps", "seconds" (if the data have a frame rate) or "nats".
            #[pyo3(signature = (start, goal, *, unit="steps"))]
            fn distance<'py>(&$self, py: Python<'py>, start: Rows<'py>, goal: Rows<'py>, unit: &str) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
                $metric?.paired(py, &start, &goal, unit)
            }

            /// `distance(start, goal)`.
            fn __call__<'py>(&$self, py: Python<'py>, start: Rows<'py>, goal: Rows<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
                $metric?.paired(py, &start, &goal, "steps")
            }

            /// Distances from every start to every goal: `(n, width)` and `(m, width)` give `(n,
            /// m)`.
            #[pyo3(signature = (start, goal, *, unit="steps"))]
            fn all_pairs<'py>(&$self, py: Python<'py>, start: Rows<'py>, goal: Rows<'py>, unit: &str) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
                $metric?.all_pairs(py, &start, &goal, unit)
            }

            /// Distances from every start to the nearest state of a goal set.
            #[pyo3(signature = (start, goals, *, unit="steps"))]
            fn distance_to_set<'py>(&$self, py: Python<'py>, start: Rows<'py>, goals: Rows<'py>, unit: &str) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
                $metric?.to_set(py, &start, &goals, unit)
            }

            /// Draws the steps from everywhere to `goal` (or from `start` to everywhere), with
            /// isochrones, on two dimensions of the data; a `path` is drawn on top.
            #[pyo3(signature = (data, *, goal=None, start=None, path=None, dimensions=None, cells=110, title=""))]
            #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
            fn map<'py>(&$self, py: Python<'py>, data: &Bound<'py, crate::dataset::Dataset>, goal: Option<Rows<'py>>, start: Option<Rows<'py>>, path: Option<Bound<'py, crate::planning::Path>>, dimensions: Option<(usize, usize)>, cells: usize, title: &str) -> PyResult<crate::figure::Figure> {
                let request = crate::distance::MapRequest { goal, start, path, dimensions, cells, title };
                $metric?.map(py, data.get(), &request)
            }

            /// The number of values in an observation.
            #[getter]
            fn observation_width(&$self) -> PyResult<usize> {
                Ok($metric?.distance.width())
            }

            $($rest)*
        }
    };
}
pub(crate) use distance_methods;

distance_methods!(Distance, self => Ok::<_, PyErr>(&self.metric), {
    /// A distance from a callable that maps `(n, width)` and `(n, width)` to `(n,)` steps.
    #[new]
    #[pyo3(signature = (callable, data, *, discount=0.99))]
    fn new(callable: &Bound<'_, PyAny>, data: &Bound<'_, Dataset>, discount: f64) -> PyResult<Self> {
        let py = data.py();
        Ok(Self {
            metric: Metric::of(callable, data.get(), Some(discount))?,
            description: "of a callable",
            origin: ("distance_of_callable", (callable, data, discount).into_pyobject(py)?.unbind()),
        })
    }

    fn __repr__(&self) -> String {
        let width = self.metric.distance.width();
        format!("<isochrone.Distance: {}, observations of width {width}>", self.description)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Py<PyTuple>)> {
        let (function, arguments) = &self.origin;
        Ok((py.import("isochrone._pickle")?.getattr(*function)?, arguments.clone_ref(py)))
    }
});

/// Calibrates a distance to the steps observed within the episodes of a dataset.
///
/// Parameters
/// ----------
/// distance
///     A `Model`, `RefinedDistance`, `Distance`, or a callable that maps `(n, width)` and
///     `(n, width)` to `(n,)` steps.
/// data
///     The dataset whose episodes are compared.
/// seed
///     The random seed of the sampled pairs.
#[pyfunction]
#[pyo3(signature = (distance, data, *, seed=0))]
pub fn calibrate(
    py: Python<'_>,
    distance: &Bound<'_, PyAny>,
    data: &Bound<'_, Dataset>,
    seed: u64,
) -> PyResult<Distance> {
    let metric = Metric::of(distance, data.get(), None)?;
    if data.get().data.n_transitions() == 0 {
        return Err(invalid_data("the dataset has no transitions", "pass episodes of at least two states"));
    }
    let (base, dataset) = (metric.distance.clone(), &data.get().data);
    let calibrated = compute(py, false, || Calibrated::fit(base, dataset, seed));
    Ok(Distance {
        metric: metric.checked(metric.wrapped(calibrated))?,
        description: "calibrated to observed steps",
        origin: ("calibrated", (distance, data, seed).into_pyobject(py)?.unbind()),
    })
}

/// Returns the larger of both directed distances, for paths that can be reversed.
///
/// Parameters
/// ----------
/// distance, data
///     As for `calibrate`.
#[pyfunction]
pub fn round_trip(
    py: Python<'_>,
    distance: &Bound<'_, PyAny>,
    data: &Bound<'_, Dataset>,
) -> PyResult<Distance> {
    let metric = Metric::of(distance, data.get(), None)?;
    Ok(Distance {
        metric: metric.wrapped(RoundTrip(metric.distance.clone())),
        description: "the larger of both directions",
        origin: ("round_trip", (distance, data).into_pyobject(py)?.unbind()),
    })
}
