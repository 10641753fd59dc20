//! The refined distance.

use super::{
    Gap, GoalSet, RecordedPath, RefinedConfig, RefinedError, Segment,
    cover::k_center,
    edges::{self, Edge, Reading},
    gap,
    graph::Graph,
    hop::HopMetric,
    jumps,
    nearest::Points,
    place::Place,
    rows::{Rows, apart},
    saved::{self, Parts},
};
use isochrone_core::{Discount, ShapeError, TemporalDistance, rng};
use isochrone_data::{DataError, Dataset};
use rayon::prelude::*;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, OnceLock},
};

/// Where states do not recur, landmarks have at least so many rows each: with fewer, nobody went from one to the next.
const ROWS_PER_LANDMARK: usize = 24;
/// Landmarks of the smallest datasets.
const MIN_LANDMARKS: usize = 32;
/// Landmarks near a state that paths may begin or end at.
const NEAR: usize = 3;
/// Landmarks near a state that are tried where the nearest is the end of a recording, and nobody went on from it.
const NEAR_DEAD_END: usize = 32;
/// How much farther away than the nearest those of a plan may be, in cover radii; and no more than the longest hop that is believed.
const PLAN_RADII: f32 = 4.0;
/// Hops that are longer, in steps, are never believed: nor are those that are longer than some cover radii, which the graph would resolve.
const MAX_HOP: f32 = 12.0;
const MAX_HOP_RADII: f32 = 4.0;
/// A state whose nearest landmark is more than this many cover radii away is not among the data.
const FAR_RADII: f32 = 2.0;
/// Searches that are kept where there is no table.
const MAX_CACHED_GOALS: usize = 1024;
/// States of a set of goals that may be a hop away.
const NEAREST_GOALS: usize = 8;
/// Only the unit of nats depends on it.
const DISCOUNT: f64 = 0.99;

/// Steps between states, along recorded segments. Clones share the graph.
#[derive(Clone)]
pub struct RefinedDistance {
    reading: Reading,
    map: Arc<Map>,
}

/// What readings and clones share.
struct Map {
    metric: HopMetric,
    /// The largest hop from a sampled row to its landmark.
    radius: f32,
    jumps: usize,
    landmarks: Points,
    /// Rows of the dataset that are landmarks.
    landmark_rows: Vec<u32>,
    readings: [Paths; 2],
}

/// The graph of a reading and its shortest paths.
struct Paths {
    graph: Graph,
    has_table: bool,
    /// Steps between all pairs of landmarks, `[to, from]`; made when first asked for.
    table: OnceLock<Vec<f32>>,
    /// Steps from all landmarks to some, where there is no table.
    to_goals: Kept<f32>,
    /// First edges of the paths to some.
    first_edges: Kept<u32>,
}

/// One number for each landmark, for the goals that were asked for last.
type Kept<T> = Mutex<HashMap<u32, Arc<Vec<T>>>>;

/// How one gets from one place to another.
pub(super) enum Route {
    /// By a hop of so many steps.
    Hop(f32),
    /// From one landmark to another.
    Along { first: u32, last: u32 },
    /// No path is known.
    None,
}

impl RefinedDistance {
    /// Builds the graph of a dataset. Needs some hundred bytes for each landmark and edge and twenty for each row.
    ///
    /// # Errors
    /// If a setting is out of range, or the dataset has no transition or nothing that changes with time.
    pub fn fit(data: &Dataset, config: &RefinedConfig) -> Result<Self, RefinedError> {
        config.check()?;
        if data.n_transitions() == 0 {
            return Err(RefinedError::NoTransition);
        }
        let is_jump = jumps::find(data);
        let jumps_before = running_count(&is_jump);
        let metric = HopMetric::fit(data, &jumps_before, config.hop_pairs, config.seed)?;
        let rows = metric.rows(data);
        let sampled = sample(rows.len(), config.sampled_rows, config.seed);
        let mut chosen = k_center(&rows.select(&sampled), rows.width, config.landmarks);
        let recur = chosen.len() <= rows.len() / 2 && chosen[chosen.len() - 1].1 == 0.0;
        if !recur {
            chosen.truncate((rows.len() / ROWS_PER_LANDMARK).max(MIN_LANDMARKS));
        }
        let radius = chosen[chosen.len() - 1].1;
        let landmark_rows: Vec<u32> = chosen.into_iter().map(|(number, _)| sampled[number]).collect();
        let landmarks = Points::new(&rows.select(&landmark_rows), rows.width);
        let cells = landmarks.nearest(&rows.values);
        let edges = edges::recorded(&rows, &cells, landmark_rows.len(), &jumps_before);
        let jumps = is_jump.iter().filter(|is_jump| **is_jump).count();
        Ok(Self::of_parts(Parts { metric, radius, jumps, landmark_rows, edges }, &rows, config))
    }

    /// Writes the graph to a file, atomically, for [`open`](Self::open) with the same dataset and settings.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path, data: &Dataset, config: &RefinedConfig) -> Result<(), DataError> {
        let Map { metric, radius, jumps, landmark_rows, readings, .. } = &*self.map;
        let edges = [0, 1].map(|reading: usize| readings[reading].graph.edges.clone());
        let (metric, landmark_rows) = (metric.clone(), landmark_rows.clone());
        saved::write(
            path,
            data,
            config,
            &Parts { metric, radius: *radius, jumps: *jumps, landmark_rows, edges },
        )
    }

    /// Opens a graph that [`save`](Self::save) wrote, bit-identical to the one that [`fit`](Self::fit) would
    /// build. `None` if the file is of another dataset, other settings or another version.
    ///
    /// # Errors
    /// If the file cannot be read, or what it holds is not made of the dataset.
    pub fn open(path: &Path, data: &Dataset, config: &RefinedConfig) -> Result<Option<Self>, DataError> {
        let read = saved::read(path, data, config)?;
        Ok(read.map(|(parts, rows)| Self::of_parts(parts, &rows, config)))
    }

    fn of_parts(parts: Parts, rows: &Rows, config: &RefinedConfig) -> Self {
        let Parts { metric, radius, jumps, landmark_rows, edges } = parts;
        let values = rows.select(&landmark_rows);
        let landmarks = Points::new(&values, rows.width);
        let has_table = landmark_rows.len() <= config.table_landmarks;
        let paths = |edges| Paths {
            graph: Graph::new(values.clone(), edges, rows),
            has_table,
            table: OnceLock::new(),
            to_goals: Mutex::default(),
            first_edges: Mutex::default(),
        };
        let readings = edges.map(paths);
        let map = Map { metric, radius, jumps, landmarks, landmark_rows, readings };
        Self { reading: Reading::Fastest, map: Arc::new(map) }
    }

    /// The same graph, read in another way.
    pub fn with_reading(&self, reading: Reading) -> Self {
        Self { reading, map: Arc::clone(&self.map) }
    }

    /// The hop metric.
    pub fn metric(&self) -> &HopMetric {
        &self.map.metric
    }

    /// The number of landmarks.
    pub fn n_landmarks(&self) -> usize {
        self.map.landmark_rows.len()
    }

    /// The rows of the dataset that are landmarks, all episodes counted one after another.
    pub fn landmark_rows(&self) -> &[u32] {
        &self.map.landmark_rows
    }

    /// The number of edges.
    pub fn n_edges(&self) -> usize {
        self.paths().graph.edges.len()
    }

    /// The number of involuntary jumps in the data.
    pub fn n_jumps(&self) -> usize {
        self.map.jumps
    }

    /// The largest hop from a row that landmarks were chosen from to its landmark, in steps.
    pub fn radius_steps(&self) -> f64 {
        f64::from(self.map.radius)
    }

    /// For every row of `[n, width]`, whether it lies beyond the data, where readings only extrapolate.
    ///
    /// # Errors
    /// If `rows` is not a whole number of rows.
    pub fn extrapolates(&self, rows: &[f32]) -> Result<Vec<bool>, ShapeError> {
        self.check_all_pairs(rows, &[])?;
        let limit = (self.map.radius * FAR_RADII).max(1.0);
        Ok(self.places(rows).iter().map(|place| place.near[0].1 > limit).collect())
    }

    /// A set of goals, `[n, width]`, of which any will do.
    ///
    /// # Errors
    /// If `states` is not a whole number of rows.
    pub fn goal_set(&self, states: &[f32]) -> Result<GoalSet, ShapeError> {
        self.check_all_pairs(states, &[])?;
        let places = self.places(states);
        let ends = places.par_iter().flat_map_iter(|place| self.confirmed_ends(place)).collect();
        Ok(GoalSet::new(places, self.map.metric.projected_width(), ends))
    }

    /// Steps from every row of `from`, `[n, width]`, to the nearest goal of a set; infinite if the set is empty.
    ///
    /// # Errors
    /// If `from` is not a whole number of rows.
    pub fn steps_to_set(&self, from: &[f32], goals: &GoalSet) -> Result<Vec<f64>, ShapeError> {
        self.check_all_pairs(from, &[])?;
        let read = |from: &Place| {
            let mut along = self.shortest(&self.confirmed_starts(from), &goals.ends).0;
            if along.is_infinite() {
                along = self.shortest(&self.starts_beside_dead_end(from), &goals.ends).0;
            }
            // A hop leads to one state of the set, and the graph has to confirm it for that one.
            let near = goals.states.nearest_few(&from.projected, NEAREST_GOALS);
            let hops = near.iter().map(|&(goal, _)| self.reading_of(from, &goals.places[goal as usize]));
            f64::from(hops.fold(along, f32::min))
        };
        Ok(self.places(from).par_iter().map(read).collect())
    }

    /// The path behind a reading: recorded segments, and the hops between them. `None` if no path is known.
    ///
    /// # Errors
    /// If a state does not have [`width`](TemporalDistance::width) numbers.
    pub fn path(&self, from: &[f32], to: &[f32]) -> Result<Option<RecordedPath>, ShapeError> {
        self.check_paired(from, to)?;
        let (from, to) = (&self.places(from)[0], &self.places(to)[0]);
        let (first, last) = match self.route(from, to) {
            Route::Hop(hop) => {
                return Ok(Some(RecordedPath { segments: Vec::new(), hops: vec![f64::from(hop)] }));
            }
            Route::None => return Ok(None),
            Route::Along { first, last } => (first, last),
        };
        let graph = self.graph();
        let first_edges = self.first_edges(last);
        let edges = Graph::path(&first_edges, &graph.edges, first, last);
        let (mut here, mut segments, mut hops) = (from.projected.as_slice(), Vec::new(), Vec::new());
        for edge in edges {
            let Edge { row, lag, .. } = graph.edges[edge];
            hops.push(f64::from(apart(here, graph.end(edge, 0))));
            segments.push(Segment { first_row: u64::from(row), steps: lag });
            here = graph.end(edge, 1);
        }
        hops.push(f64::from(apart(here, &to.projected)));
        Ok(Some(RecordedPath { segments, hops }))
    }

    /// Where the record breaks between two states: the nearest pair of a recorded state that can be reached
    /// and one that leads to the goal, among all rows of the dataset that the graph was built of. `None` if a
    /// path is known.
    ///
    /// # Errors
    /// If a state does not have [`width`](TemporalDistance::width) numbers.
    ///
    /// # Panics
    /// If the states of the dataset do not have as many.
    pub fn gap(&self, data: &Dataset, from: &[f32], to: &[f32]) -> Result<Option<Gap>, ShapeError> {
        self.check_paired(from, to)?;
        assert_eq!(data.spec().observation.width, self.width(), "the dataset has other states");
        let (from, to) = (&self.places(from)[0], &self.places(to)[0]);
        if self.reading_of(from, to).is_finite() {
            return Ok(None);
        }
        let graph = self.graph();
        let starts: Vec<u32> =
            self.confirmed_starts(from).into_iter().map(|(landmark, _)| landmark).collect();
        let ends: Vec<u32> = self.confirmed_ends(to).into_iter().map(|(landmark, _)| landmark).collect();
        let n = graph.n_landmarks();
        let reached = gap::closure(n, &graph.edges, &starts, false);
        let leading = gap::closure(n, &graph.edges, &ends, true);
        let rows = self.map.metric.rows(data);
        let cells = self.map.landmarks.nearest(&rows.values);
        Ok(Gap::between(&rows, &cells, &reached, &leading))
    }

    /// How one gets from one place to another.
    pub(super) fn route(&self, from: &Place, to: &Place) -> Route {
        let hop = apart(&from.projected, &to.projected);
        let (steps, first, last) = self.along(from, to);
        if hop == 0.0 || self.is_shorter(hop, steps) {
            Route::Hop(hop)
        } else if steps.is_infinite() {
            Route::None
        } else {
            Route::Along { first, last }
        }
    }

    pub(super) fn graph(&self) -> &Graph {
        &self.paths().graph
    }

    /// The first edge from each landmark on the path to one of them.
    pub(super) fn first_edges(&self, goal: u32) -> Arc<Vec<u32>> {
        kept(&self.paths().first_edges, goal, || self.graph().search(goal as usize).0)
    }

    fn paths(&self) -> &Paths {
        &self.map.readings[self.reading as usize]
    }

    pub(super) fn places(&self, rows: &[f32]) -> Vec<Place> {
        // Not in the middle of parallel readings: a thread that waits for its part of the table would take up
        // a reading, which waits for the table.
        self.paths().make_table();
        // Without a table every landmark costs a search.
        let near = if self.paths().has_table { NEAR } else { 1 };
        let place = |row: &[f32]| {
            let mut projected = Vec::with_capacity(self.map.metric.projected_width());
            self.map.metric.project(row, &mut projected);
            let near = self.map.landmarks.nearest_few(&projected, near);
            Place { projected, near }
        };
        rows.par_chunks_exact(self.width()).map(place).collect()
    }

    fn reading_of(&self, from: &Place, to: &Place) -> f32 {
        let hop = apart(&from.projected, &to.projected);
        if hop == 0.0 {
            return 0.0;
        }
        self.shorter(hop, self.along(from, to).0)
    }

    /// The hop if it is shorter, and the graph agrees that one can take it.
    fn shorter(&self, hop: f32, along: f32) -> f32 {
        if self.is_shorter(hop, along) { hop } else { along }
    }

    fn is_shorter(&self, hop: f32, along: f32) -> bool {
        hop <= along && self.is_confirmed(hop, along)
    }

    /// Whether the graph agrees that a hop takes no longer than the metric says.
    fn is_confirmed(&self, hop: f32, along: f32) -> bool {
        hop <= MAX_HOP.min(MAX_HOP_RADII * self.map.radius + 2.0)
            && along <= 1.3 * hop + 2.0 * self.map.radius + 1.0
    }

    /// Landmarks near a state that can be reached from it by a confirmed hop.
    fn confirmed_starts(&self, place: &Place) -> Vec<(u32, f32)> {
        let nearest = place.near[0].0;
        let is_start = |(first, _): &(u32, f32)| *first == nearest || self.is_hop(nearest, *first);
        place.near.iter().copied().filter(is_start).collect()
    }

    /// Landmarks near a state from which it can be reached by a confirmed hop.
    fn confirmed_ends(&self, place: &Place) -> Vec<(u32, f32)> {
        let nearest = place.near[0].0;
        let is_end = |(last, _): &(u32, f32)| *last == nearest || self.is_hop(*last, nearest);
        place.near.iter().copied().filter(is_end).collect()
    }

    /// Steps along the graph, from a landmark near the one state to one near the other; and the two.
    fn along(&self, from: &Place, to: &Place) -> (f32, u32, u32) {
        let least = self.shortest(&self.confirmed_starts(from), &self.confirmed_ends(to));
        match least.0.is_finite() {
            true => least,
            false => self.shortest(&self.starts_beside_dead_end(from), &self.ends_beside_dead_end(to)),
        }
    }

    /// Where to begin if nobody went on from the nearest landmark: at those that are up to a cover radius farther away, which the map
    /// cannot tell from it.
    fn starts_beside_dead_end(&self, place: &Place) -> Vec<(u32, f32)> {
        let is_dead_end = !self.graph().has_edge_from(place.near[0].0);
        if is_dead_end { self.within_radii(place, 1.0) } else { self.confirmed_starts(place) }
    }

    /// Where to end if nobody came to the nearest landmark: likewise.
    fn ends_beside_dead_end(&self, place: &Place) -> Vec<(u32, f32)> {
        let is_dead_end = !self.graph().has_edge_to(place.near[0].0);
        if is_dead_end { self.within_radii(place, 1.0) } else { self.confirmed_ends(place) }
    }

    /// A route for who must go somewhere: where none is known, it may begin and end at landmarks farther away.
    pub(super) fn best_route(&self, from: &Place, to: &Place) -> Route {
        match self.route(from, to) {
            Route::None => {
                let (starts, ends) = (self.within_radii(from, PLAN_RADII), self.within_radii(to, PLAN_RADII));
                let (steps, first, last) = self.shortest(&starts, &ends);
                if steps.is_finite() { Route::Along { first, last } } else { Route::None }
            }
            known => known,
        }
    }

    /// Steps from one of the landmarks `starts` to one of `ends`, with the hops to them; and the two.
    fn shortest(&self, starts: &[(u32, f32)], ends: &[(u32, f32)]) -> (f32, u32, u32) {
        let mut least = (f32::INFINITY, 0, 0);
        for &(last, hop_to) in ends {
            self.paths().to_goal(last, |steps| {
                for &(first, hop_from) in starts {
                    let through = hop_from + steps[first as usize] + hop_to;
                    if through < least.0 {
                        least = (through, first, last);
                    }
                }
            });
        }
        least
    }

    /// Landmarks that are at most so many cover radii farther away than the nearest.
    fn within_radii(&self, place: &Place, radii: f32) -> Vec<(u32, f32)> {
        let mut near = self.map.landmarks.nearest_few(&place.projected, NEAR_DEAD_END);
        let farthest = near[0].1 + (radii * self.map.radius).min(MAX_HOP);
        near.retain(|(_, hop)| *hop <= farthest);
        near
    }

    fn is_hop(&self, from: u32, to: u32) -> bool {
        let graph = self.graph();
        let hop = apart(graph.landmark(from as usize), graph.landmark(to as usize));
        self.paths().to_goal(to, |steps| self.is_confirmed(hop, steps[from as usize]))
    }

    fn all_pairs<T: Send>(&self, from: &[f32], to: &[f32], unit: impl Fn(f32) -> T + Sync) -> Vec<T> {
        let (from, to) = (self.places(from), self.places(to));
        let row = |from: &Place| to.iter().map(|to| unit(self.reading_of(from, to))).collect::<Vec<T>>();
        from.par_iter().flat_map_iter(row).collect()
    }

    fn paired<T: Send>(&self, from: &[f32], to: &[f32], unit: impl Fn(f32) -> T + Sync) -> Vec<T> {
        let (from, to) = (self.places(from), self.places(to));
        from.par_iter().zip(&to).map(|(from, to)| unit(self.reading_of(from, to))).collect()
    }
}

impl TemporalDistance for RefinedDistance {
    fn width(&self) -> usize {
        self.map.metric.width()
    }

    fn discount(&self) -> Discount {
        Discount::new(DISCOUNT).expect("it is between 0 and 1")
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

impl Paths {
    fn make_table(&self) {
        if self.has_table {
            self.table.get_or_init(|| self.graph.table());
        }
    }

    /// Gives the steps from all landmarks to one.
    fn to_goal<T>(&self, goal: u32, read: impl FnOnce(&[f32]) -> T) -> T {
        if self.has_table {
            let n = self.graph.n_landmarks();
            return read(&self.table.get_or_init(|| self.graph.table())[goal as usize * n..][..n]);
        }
        let steps = kept(&self.to_goals, goal, || self.graph.to_goal(goal as usize));
        read(&steps)
    }
}

/// What is kept for a goal, or else computed; without the lock, so that threads do not wait for each other.
fn kept<T>(known: &Kept<T>, goal: u32, compute: impl FnOnce() -> Vec<T>) -> Arc<Vec<T>> {
    let lock = || known.lock().expect("no thread panics while holding it");
    if let Some(found) = lock().get(&goal) {
        return Arc::clone(found);
    }
    let found = Arc::new(compute());
    let mut known = lock();
    if known.len() == MAX_CACHED_GOALS {
        known.clear();
    }
    known.insert(goal, Arc::clone(&found));
    found
}

/// How many are set up to each place.
fn running_count(set: &[bool]) -> Vec<u32> {
    let mut count = 0;
    set.iter()
        .map(|set| {
            count += u32::from(*set);
            count
        })
        .collect()
}

/// Numbers below `n`, in order: all of them, or so many drawn at random.
fn sample(n: usize, most: usize, seed: u64) -> Vec<u32> {
    if n <= most {
        return (0..n as u32).collect();
    }
    let mut random = rng::stream(seed, 1);
    let mut drawn: Vec<u32> = (0..most).map(|_| rng::below(&mut random, n) as u32).collect();
    drawn.sort_unstable();
    drawn
}
