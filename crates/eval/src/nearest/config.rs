//! Settings of an index.

/// Settings of a [`NearestIndex`](super::NearestIndex): a hierarchical navigable graph
/// (Malkov and Yashunin, 2018) per shard of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexConfig {
    /// The number of rows of a shard. Shards are built in parallel, each by one thread, so that the
    /// index does not depend on the number of threads; a query searches all of them.
    pub shard_rows: usize,
    /// The number of edges per row and layer; twice as many in the lowest layer.
    pub connectivity: usize,
    /// The number of candidates that are kept while a row is added.
    pub expansion_add: usize,
    /// The number of candidates that are kept while a shard is searched.
    pub expansion_search: usize,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self { shard_rows: 1 << 18, connectivity: 16, expansion_add: 128, expansion_search: 64 }
    }
}
