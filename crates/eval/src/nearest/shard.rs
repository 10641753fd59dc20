//! One graph of an index, with the directed distance as its metric.
//!
//! The search library compares rows by one function. Here every row has one more number, its role:
//! 0 for stored rows, 1 for queries that start at the row, -1 for queries that end there. The
//! function compares two stored rows by the sum of both directions, which links a row with its
//! neighbors in either direction, and a query by the direction of the query. One graph therefore
//! answers both, from several threads.

use super::{Direction, IndexConfig, NearestError, Neighbor, graph_file};
use isochrone_core::LatentMetric;
use std::{path::Path, sync::Arc};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

/// The number of concurrent queries of a shard, unless the machine has more threads.
const MIN_QUERIES: usize = 512;

pub(super) struct Shard {
    index: Index,
}

impl Shard {
    /// Creates a shard for `rows` rows.
    pub fn new(
        metric: Arc<dyn LatentMetric>,
        config: &IndexConfig,
        rows: usize,
    ) -> Result<Self, NearestError> {
        let mut shard = Self::empty(metric.width(), config)?;
        shard.set_metric(metric);
        // One thread, whose random stream decides the layers of rows: the graph is deterministic.
        let reserved = shard.index.reserve_capacity_and_threads(rows, 1);
        reserved.map_err(|error| engine("allocated", &error))?;
        Ok(shard)
    }

    /// Maps the file of a shard.
    pub fn open(
        metric: Arc<dyn LatentMetric>,
        config: &IndexConfig,
        path: &Path,
    ) -> Result<Self, NearestError> {
        let corrupt = |problem: String| NearestError::Corrupt { path: path.into(), problem };
        let width = metric.width();
        graph_file::check(path, width + 1).map_err(|error| corrupt(error.to_string()))?;
        let mut shard = Self::empty(width, config)?;
        let text = path.to_str().ok_or_else(|| corrupt("the path is not Unicode".to_owned()))?;
        shard.index.view(text).map_err(|error| corrupt(error.what().to_owned()))?;
        if shard.index.dimensions() != width + 1 {
            return Err(corrupt(format!("it has rows of {} numbers", shard.index.dimensions())));
        }
        shard.index.change_expansion_search(config.expansion_search);
        // Reading resets the metric.
        shard.set_metric(metric);
        shard.ready()?;
        Ok(shard)
    }

    fn empty(width: usize, config: &IndexConfig) -> Result<Self, NearestError> {
        let options = IndexOptions {
            dimensions: width + 1,
            metric: MetricKind::L2sq,
            quantization: ScalarKind::F32,
            connectivity: config.connectivity,
            expansion_add: config.expansion_add,
            expansion_search: config.expansion_search,
            multi: false,
        };
        Ok(Self { index: Index::new(&options).map_err(|error| engine("created", &error))? })
    }

    fn set_metric(&mut self, metric: Arc<dyn LatentMetric>) {
        let width = metric.width();
        let compare = move |first: *const f32, second: *const f32| {
            // SAFETY: both point to rows of the index or of a query, which have `width + 1`
            // numbers: the library rejects others, and `open` checks those of a file.
            #[expect(unsafe_code)]
            let (first, second) = unsafe {
                (std::slice::from_raw_parts(first, width + 1), std::slice::from_raw_parts(second, width + 1))
            };
            compared(&*metric, first, second)
        };
        self.index.change_metric::<f32>(Box::new(compare));
    }

    /// Allows concurrent queries, after all rows are added.
    pub fn ready(&self) -> Result<(), NearestError> {
        let queries = rayon::current_num_threads().max(MIN_QUERIES);
        let reserved = self.index.reserve_capacity_and_threads(self.index.size(), queries);
        reserved.map_err(|error| engine("allocated", &error))
    }

    pub fn len(&self) -> usize {
        self.index.size()
    }

    /// Adds a latent row, which must have the width of the metric. `row` is its number in the
    /// shard.
    pub fn add(&self, row: u64, latent: &[f32]) -> Result<(), NearestError> {
        self.index.add(row, &with_role(latent, 0.0)).map_err(|error| engine("built", &error))
    }

    /// Returns at least `k` rows near a latent row, if the shard has as many.
    pub fn candidates(
        &self,
        query: &[f32],
        direction: Direction,
        k: usize,
    ) -> Result<Vec<Neighbor>, NearestError> {
        let role = match direction {
            Direction::From => 1.0,
            Direction::To => -1.0,
        };
        let k = k.max(self.index.expansion_search()).min(self.index.size());
        let found =
            self.index.search(&with_role(query, role), k).map_err(|error| engine("searched", &error))?;
        Ok(found.keys.into_iter().zip(found.distances).map(|(row, nats)| Neighbor { row, nats }).collect())
    }

    pub fn save(&self, path: &Path) -> Result<(), NearestError> {
        let text = path.to_str().ok_or_else(|| NearestError::Io {
            path: path.into(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidInput, "the path is not Unicode"),
        })?;
        self.index.save(text).map_err(|error| engine("saved", &error))
    }
}

fn with_role(latent: &[f32], role: f32) -> Vec<f32> {
    let mut row = Vec::with_capacity(latent.len() + 1);
    row.extend_from_slice(latent);
    row.push(role);
    row
}

/// Compares two rows with roles.
fn compared(metric: &dyn LatentMetric, first: &[f32], second: &[f32]) -> f32 {
    let width = metric.width();
    let ((first, one), (second, two)) = (first.split_at(width), second.split_at(width));
    // The library does not promise which of the two is the query.
    let (query, stored, role) = if one[0] != 0.0 { (first, second, one[0]) } else { (second, first, two[0]) };
    let nats = if role > 0.0 {
        metric.nats(query, stored)
    } else if role < 0.0 {
        metric.nats(stored, query)
    } else {
        metric.nats(first, second) + metric.nats(second, first)
    };
    // The library is compiled for finite numbers.
    if nats.is_finite() { nats } else { f32::MAX }
}

fn engine(action: &'static str, error: &impl std::fmt::Display) -> NearestError {
    NearestError::Engine { action, problem: error.to_string() }
}
