//! The refined distance.

use super::{
    Gap, GoalSet, RecordedPath, RefinedConfig, RefinedError, Segment,
    choice::Choice,
    edges::{self, Edge, Reading},
    gap,
    graph::Graph,
    hop::HopMetric,
    nearest::Points,
    paths::{Found, Paths},
    place::Place,
    route::Route,
    rows::{Rows, apart},
    saved::{self, Parts},
};
use isochrone_core::{Discount, ShapeError, TemporalDistance};
use isochrone_data::{DataError, Dataset};
use rayon::prelude::*;
use std::{path::Path, sync::Arc};

/// A state farther than this many cover radii from its nearest landmark is outside the data.
const FAR_RADII: f32 = 2.0;
/// The number of states of a goal set that are tried with a direct hop.
const NEAREST_GOALS: usize = 8;
/// The discount, which only determines the unit of nats.
const DISCOUNT: f64 = 0.99;

/// The distance between states in steps, along recorded segments. Clones share the graph.
#[derive(Clone)]
pub struct RefinedDistance {
    reading: Reading,
    pub(super) map: Arc<Map>,
}

/// The data shared by readings and clones.
pub(super) struct Map {
    pub metric: HopMetric,
    /// The largest hop from a sampled row to its landmark.
    pub radius: f32,
    jumps: usize,
    pub landmarks: Points,
    /// The rows of the dataset that are landmarks.
    landmark_rows: Vec<u32>,
    /// By [`Reading`]; the fastest only if the graph was built in parts.
    readings: Vec<Paths>,
}

impl RefinedDistance {
    /// Builds the graph of a dataset. It needs some hundred bytes of memory per landmark and edge,
    /// and twenty per row.
    ///
    /// # Errors
    /// If a setting is out of range, the dataset has no transitions, or no column is informative
    /// about elapsed time.
    pub fn fit(data: &Dataset, config: &RefinedConfig) -> Result<Self, RefinedError> {
        let chosen = Choice::of(data, data.index().n_states() as usize, config)?;
        let Choice { metric, jumps_before, rows, landmark_rows, radius, .. } = chosen;
        let landmarks = Points::new(&rows.select(&landmark_rows), rows.width);
        let cells = landmarks.nearest(&rows.values);
        let edges = edges::recorded(&rows, &cells, landmark_rows.len(), &jumps_before);
        let jumps = jumps_before.last().map_or(0, |jumps| *jumps as usize);
        let parts = Parts { metric, radius, jumps, landmark_rows, edges: edges.into() };
        Ok(Self::of_rows(parts, &rows, config))
    }

    /// Writes the graph to a file atomically, for [`open`](Self::open) with the same dataset and
    /// settings.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path, data: &Dataset, config: &RefinedConfig) -> Result<(), DataError> {
        let Map { metric, radius, jumps, landmark_rows, readings, .. } = &*self.map;
        if !self.has_reading(Reading::Typical) {
            let problem = "a graph that was built in parts has no typical reading".to_owned();
            let hint = "save its edges with `GraphPart::save` instead".into();
            return Err(DataError::Setting { problem, hint });
        }
        let edges = readings.iter().map(|paths| paths.graph.edges.clone()).collect();
        let (metric, landmark_rows) = (metric.clone(), landmark_rows.clone());
        saved::write(
            path,
            data,
            config,
            &Parts { metric, radius: *radius, jumps: *jumps, landmark_rows, edges },
        )
    }

    /// Opens a graph that [`save`](Self::save) wrote. It is bit-identical to the one that
    /// [`fit`](Self::fit) builds. Returns `None` if the file belongs to another dataset, other
    /// settings or another version.
    ///
    /// # Errors
    /// If the file cannot be read, or its content contradicts the dataset.
    pub fn open(path: &Path, data: &Dataset, config: &RefinedConfig) -> Result<Option<Self>, DataError> {
        let read = saved::read(path, data, config)?;
        Ok(read.map(|(parts, rows)| Self::of_rows(parts, &rows, config)))
    }

    fn of_rows(parts: Parts, rows: &Rows, config: &RefinedConfig) -> Self {
        let values = rows.select(&parts.landmark_rows);
        let ends_of = |edge: &Edge| [edge.row, edge.row + edge.lag].map(|row| rows.row(row as usize));
        Self::of_parts(parts, values, ends_of, config.table_landmarks)
    }

    /// Creates the distance from landmarks, `[n, projected width]`, and edges ordered by start and
    /// end landmark; `ends_of` returns the first and the last row of an edge.
    pub(super) fn of_parts<'a>(
        parts: Parts,
        values: Vec<f32>,
        ends_of: impl Fn(&Edge) -> [&'a [f32]; 2],
        table_landmarks: usize,
    ) -> Self {
        let Parts { metric, radius, jumps, landmark_rows, edges } = parts;
        let width = metric.projected_width();
        let landmarks = Points::new(&values, width);
        let has_table = landmark_rows.len() <= table_landmarks;
        let paths = |edges| Paths::new(Graph::new(values.clone(), width, edges, &ends_of), has_table);
        let readings = edges.into_iter().map(paths).collect();
        let map = Map { metric, radius, jumps, landmarks, landmark_rows, readings };
        Self { reading: Reading::Fastest, map: Arc::new(map) }
    }

    /// Returns whether the graph has a reading: a graph that was built in parts has only the
    /// fastest.
    pub fn has_reading(&self, reading: Reading) -> bool {
        (reading as usize) < self.map.readings.len()
    }

    /// Returns the same graph with another reading.
    ///
    /// # Panics
    /// If the graph does not have this reading, see [`has_reading`](Self::has_reading).
    pub fn with_reading(&self, reading: Reading) -> Self {
        assert!(self.has_reading(reading), "a graph that was built in parts has no typical reading");
        Self { reading, map: Arc::clone(&self.map) }
    }

    /// Returns the hop metric.
    pub fn metric(&self) -> &HopMetric {
        &self.map.metric
    }

    /// Returns the number of landmarks.
    pub fn n_landmarks(&self) -> usize {
        self.map.landmark_rows.len()
    }

    /// Returns the rows of the dataset that are landmarks, counted over all episodes.
    pub fn landmark_rows(&self) -> &[u32] {
        &self.map.landmark_rows
    }

    /// Returns the number of edges.
    pub fn n_edges(&self) -> usize {
        self.paths().graph.edges.len()
    }

    /// Returns the number of involuntary jumps in the data.
    pub fn n_jumps(&self) -> usize {
        self.map.jumps
    }

    /// Returns the cover radius: the largest hop from a sampled row to its landmark, in steps.
    pub fn radius_steps(&self) -> f64 {
        f64::from(self.map.radius)
    }

    /// Returns, for every row of `[n, width]`, whether it is outside the data, where readings only
    /// extrapolate.
    ///
    /// # Errors
    /// If the length of `rows` is not a multiple of [`width`](TemporalDistance::width).
    pub fn extrapolates(&self, rows: &[f32]) -> Result<Vec<bool>, ShapeError> {
        self.check_all_pairs(rows, &[])?;
        let limit = (self.map.radius * FAR_RADII).max(1.0);
        Ok(self.places(rows).iter().map(|place| place.near[0].1 > limit).collect())
    }

    /// Creates a set of goals, `[n, width]`; reaching any of them counts.
    ///
    /// # Errors
    /// If the length of `states` is not a multiple of [`width`](TemporalDistance::width).
    pub fn goal_set(&self, states: &[f32]) -> Result<GoalSet, ShapeError> {
        self.check_all_pairs(states, &[])?;
        let places = self.places(states);
        let ends = places.iter().flat_map(|place| self.confirmed_ends(place).to_vec()).collect();
        Ok(GoalSet::new(places, ends))
    }

    /// Returns the steps from every row of `from`, `[n, width]`, to the nearest goal of a set;
    /// infinite if the set is empty.
    ///
    /// # Errors
    /// If the length of `from` is not a multiple of [`width`](TemporalDistance::width).
    pub fn steps_to_set(&self, from: &[f32], goals: &GoalSet) -> Result<Vec<f64>, ShapeError> {
        self.check_all_pairs(from, &[])?;
        let read = |from: Place<'_>| {
            let starts = self.confirmed_starts(from);
            let mut along = self.shortest(&starts, &goals.ends).0;
            if along.is_infinite() {
                along = self.shortest(&self.starts_near_dead_end(from), &goals.ends).0;
            }
            // A hop leads to one state of the set, and the graph has to confirm it for that state.
            let near = goals.states.nearest_few(from.projected, NEAREST_GOALS);
            let hop = |&(goal, _): &(u32, f32)| {
                let to = goals.places.get(goal as usize);
                self.reading_of((from, &starts), (to, &self.confirmed_ends(to)))
            };
            f64::from(near.iter().map(hop).fold(along, f32::min))
        };
        let from = self.places(from);
        Ok((0..from.len()).into_par_iter().map(|state| read(from.get(state))).collect())
    }

    /// Returns the path behind a reading: recorded segments, and the hops between them. `None` if
    /// no path is known.
    ///
    /// # Errors
    /// If a state does not have [`width`](TemporalDistance::width) values.
    pub fn path(&self, from: &[f32], to: &[f32]) -> Result<Option<RecordedPath>, ShapeError> {
        self.check_paired(from, to)?;
        let (from, to) = (self.places(from), self.places(to));
        let (from, to) = (from.get(0), to.get(0));
        let (first, last) = match self.route(from, to) {
            Route::Hop(hop) => {
                return Ok(Some(RecordedPath { segments: Vec::new(), hops: vec![f64::from(hop)] }));
            }
            Route::None => return Ok(None),
            Route::Along { first, last } => (first, last),
        };
        let graph = self.graph();
        let found = self.search(last);
        let edges = Graph::path(&found.first_edges, &graph.edges, first, last);
        let (mut here, mut segments, mut hops) = (from.projected, Vec::new(), Vec::new());
        for edge in edges {
            let Edge { row, lag, .. } = graph.edges[edge];
            hops.push(f64::from(apart(here, graph.end(edge, 0))));
            segments.push(Segment { first_row: u64::from(row), steps: lag });
            here = graph.end(edge, 1);
        }
        hops.push(f64::from(apart(here, to.projected)));
        Ok(Some(RecordedPath { segments, hops }))
    }

    /// Returns the gap in the data between two states: the nearest pair of a recorded state that
    /// can be reached and one from which the goal can be reached, among all rows of the dataset
    /// that the graph was built from. `None` if a path is known.
    ///
    /// # Errors
    /// If a state does not have [`width`](TemporalDistance::width) values.
    ///
    /// # Panics
    /// If the states of the dataset do not have this width.
    pub fn gap(&self, data: &Dataset, from: &[f32], to: &[f32]) -> Result<Option<Gap>, ShapeError> {
        self.check_paired(from, to)?;
        assert_eq!(data.spec().observation.width, self.width(), "the dataset has another state width");
        let (from, to) = (self.places(from), self.places(to));
        let (from, to) = (from.get(0), to.get(0));
        let (starts, ends) = (self.confirmed_starts(from), self.confirmed_ends(to));
        if self.reading_of((from, &starts), (to, &ends)).is_finite() {
            return Ok(None);
        }
        let graph = self.graph();
        let [starts, ends] =
            [starts, ends].map(|few| few.iter().map(|(landmark, _)| *landmark).collect::<Vec<u32>>());
        let n = graph.n_landmarks();
        let reached = gap::closure(n, &graph.edges, &starts, false);
        let leading = gap::closure(n, &graph.edges, &ends, true);
        let rows = self.map.metric.rows(data);
        let cells = self.map.landmarks.nearest(&rows.values);
        Ok(Gap::between(&rows, &cells, &reached, &leading))
    }

    pub(super) fn graph(&self) -> &Graph {
        &self.paths().graph
    }

    /// Returns the paths from all landmarks to a goal landmark.
    pub(super) fn search(&self, goal: u32) -> Arc<Found> {
        self.paths().search(goal)
    }

    /// Returns whether the distances of all pairs of landmarks are stored in a table.
    pub(super) fn has_table(&self) -> bool {
        self.paths().has_table
    }

    /// Computes the steps between all landmarks, if the graph is small enough for such a table.
    ///
    /// To be called before parallel queries that are parallel themselves: a thread that waits for
    /// its part of the table could pick up a query that itself waits for the table.
    pub(crate) fn make_table(&self) {
        self.paths().make_table();
    }

    /// Returns the landmark nearest to a state.
    pub(super) fn nearest_landmark(&self, state: &[f32]) -> u32 {
        let mut projected = Vec::with_capacity(self.map.metric.projected_width());
        self.map.metric.project(state, &mut projected);
        self.map.landmarks.nearest_one(&projected).0
    }

    pub(super) fn paths(&self) -> &Paths {
        &self.map.readings[self.reading as usize]
    }
}

impl TemporalDistance for RefinedDistance {
    fn width(&self) -> usize {
        self.map.metric.width()
    }

    fn discount(&self) -> Discount {
        Discount::new(DISCOUNT).expect("the discount is between 0 and 1")
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        self.paired(from, to, |steps| steps * unit)
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        self.all_pairs(from, to, |steps| steps * unit)
    }

    fn paired_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        self.check_paired(from, to)?;
        Ok(self.paired(from, to, f64::from))
    }

    fn all_pairs_steps(&self, from: &[f32], to: &[f32]) -> Result<Vec<f64>, ShapeError> {
        self.check_all_pairs(from, to)?;
        Ok(self.all_pairs(from, to, f64::from))
    }
}
