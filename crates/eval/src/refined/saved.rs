//! The file format of the refined distance, so that a graph is built only once.
//!
//! The file is an archive of arrays that `numpy.load` can read: a key that identifies dataset and
//! settings, the weights of the hop metric, the rows that are landmarks, and the edges of both
//! readings. Everything else is computed from the dataset, against which the file is checked.

use super::{
    HopMetric, RefinedConfig,
    edges::Edge,
    rows::{Rows, apart},
};
use isochrone_data::{DataError, Dataset, arrays, tables::Matrix};
use std::path::Path;

/// The version of the file format and of the algorithm; a change of either increments it.
const FORMAT: f64 = 1.0;
/// The relative tolerance between a saved cost and the sum of its hops and steps, whose order of
/// summation differs.
const COST_TOLERANCE: f32 = 1e-4;
/// The number of values per edge: from, to, lag, row, cost.
const EDGE: usize = 5;
const EDGES: [&str; 2] = ["fastest", "typical"];

/// The saved components of a refined distance.
pub(crate) struct Parts {
    pub metric: HopMetric,
    pub radius: f32,
    pub jumps: usize,
    pub landmark_rows: Vec<u32>,
    /// The edges of every reading, ordered by start and end landmark.
    pub edges: Vec<Vec<Edge>>,
}

/// Returns the key that identifies dataset and settings.
fn key(data: &Dataset, config: &RefinedConfig) -> Vec<f64> {
    let RefinedConfig { landmarks, sampled_rows, hop_pairs, table_landmarks, seed } = config;
    let settings = [*landmarks, *sampled_rows, *hop_pairs, *table_landmarks].map(|value| value as f64);
    // A float64 does not represent all 64-bit seeds exactly, so the halves are stored.
    let seed = [(seed >> 32) as f64, (seed & 0xffff_ffff) as f64];
    let hash = data.content_hash().bytes().map(f64::from);
    [FORMAT].into_iter().chain(settings).chain(seed).chain(hash).collect()
}

/// Writes the components of a refined distance atomically.
pub(crate) fn write(
    path: &Path,
    data: &Dataset,
    config: &RefinedConfig,
    parts: &Parts,
) -> Result<(), DataError> {
    let row = |values: Vec<f64>| Matrix { width: values.len(), values, names: Vec::new() };
    let edges = |edges: &[Edge]| {
        let numbers = |edge: &Edge| [edge.from, edge.to, edge.lag, edge.row].map(f64::from);
        let values =
            edges.iter().flat_map(|edge| numbers(edge).into_iter().chain([f64::from(edge.cost)])).collect();
        Matrix { width: EDGE, values, names: Vec::new() }
    };
    let arrays = [
        ("key", row(key(data, config))),
        ("weights", row(parts.metric.weights())),
        ("radius_and_jumps", row(vec![f64::from(parts.radius), parts.jumps as f64])),
        ("landmark_rows", row(parts.landmark_rows.iter().copied().map(f64::from).collect())),
        (EDGES[0], edges(&parts.edges[0])),
        (EDGES[1], edges(&parts.edges[1])),
    ];
    arrays::write(path, &arrays)
}

/// Reads the components of a refined distance; `None` if the file is of another dataset or other
/// settings. Edges are ordered by start landmark.
pub(crate) fn read(
    path: &Path,
    data: &Dataset,
    config: &RefinedConfig,
) -> Result<Option<(Parts, Rows)>, DataError> {
    let arrays = arrays::read(path)?;
    let values =
        |name: &str| arrays.iter().find(|(other, _)| other == name).map(|(_, matrix)| &matrix.values[..]);
    if values("key") != Some(&key(data, config)[..]) {
        return Ok(None);
    }
    let corrupt = |problem: &'static str| DataError::Malformed {
        path: path.into(),
        problem: problem.into(),
        hint: "the file is corrupt; delete it to build the graph again".into(),
    };
    let array = |name: &'static str| values(name).ok_or_else(|| corrupt("an array is missing"));
    let weights = array("weights")?;
    // The square root of a weight is a finite float32.
    let is_weight = |weight: &f64| (0.0..=f64::from(f32::MAX).powi(2)).contains(weight);
    if weights.len() != data.spec().observation.width || !weights.iter().all(is_weight) {
        return Err(corrupt("the weights of the hop metric do not fit the columns of the dataset"));
    }
    let metric = HopMetric::new(weights);
    if metric.projected_width() == 0 {
        return Err(corrupt("all weights of the hop metric are zero"));
    }
    let &[radius, jumps] = array("radius_and_jumps")? else {
        return Err(corrupt("the cover radius is missing"));
    };
    if !(radius.is_finite() && radius >= 0.0) {
        return Err(corrupt("the cover radius is negative or not finite"));
    }
    let rows = metric.rows(data);
    let below = |value: f64, bound: usize| {
        (value >= 0.0 && value.fract() == 0.0 && value < bound as f64).then_some(value as u32)
    };
    let landmark_rows: Option<Vec<u32>> =
        array("landmark_rows")?.iter().map(|&row| below(row, rows.len())).collect();
    let landmark_rows = landmark_rows.filter(|rows| !rows.is_empty());
    let landmark_rows = landmark_rows.ok_or_else(|| corrupt("a landmark is not a row of the dataset"))?;
    let landmark = |number: u32| rows.row(landmark_rows[number as usize] as usize);
    let edge = |values: &[f64]| -> Option<Edge> {
        let n = landmark_rows.len();
        let (from, to) = (below(values[0], n)?, below(values[1], n)?);
        let (lag, row) = (below(values[2], rows.len())?, below(values[3], rows.len())?);
        let last = row.checked_add(lag).filter(|last| *last <= rows.last_rows[row as usize])?;
        let hops =
            apart(landmark(from), rows.row(row as usize)) + apart(rows.row(last as usize), landmark(to));
        let (cost, expected) = (values[4] as f32, hops + lag as f32);
        // Weights can be so large that hops overflow; any cost would be close to infinity.
        let is_cost = expected.is_finite() && (cost - expected).abs() <= COST_TOLERANCE * (1.0 + expected);
        (lag > 0 && from != to && is_cost).then_some(Edge { from, to, lag, row, cost })
    };
    let read_edges = |name: &'static str| {
        let values = array(name)?;
        let edges: Option<Vec<Edge>> = values.chunks_exact(EDGE).map(edge).collect();
        let mut edges = edges
            .filter(|_| values.len().is_multiple_of(EDGE))
            .ok_or_else(|| corrupt("an edge is not a segment of the dataset"))?;
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
        Ok::<_, DataError>(edges)
    };
    let edges = vec![read_edges(EDGES[0])?, read_edges(EDGES[1])?];
    let parts = Parts { radius: radius as f32, jumps: jumps as usize, metric, landmark_rows, edges };
    Ok(Some((parts, rows)))
}
