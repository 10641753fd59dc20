//! Joins consecutive parts of a dataset under one index.

use crate::{
    ContentHasher, Dataset, EpisodeIndex, Spec,
    dataset::Columns,
    mapping::{MappedFile, Mapping},
};

/// Collects verified parts, such as the shards of a folder. Only positions are kept per episode;
/// the columns stay where they are.
pub(crate) struct Join {
    columns: Columns,
    /// The first state of each episode, followed by the number of all states.
    first_states: Vec<u64>,
    files: Vec<MappedFile>,
    /// The hash of all parts. The caller adds the episodes of a part when it verifies them.
    pub hasher: ContentHasher,
}

impl Join {
    /// Starts a dataset with this spec.
    pub fn new(spec: Spec) -> Self {
        let (index, hasher) = (EpisodeIndex::default(), ContentHasher::of(&spec));
        let columns = Columns { spec, blocks: Vec::new(), index, content_hash: String::new(), mapping: None };
        Self { columns, first_states: vec![0], files: Vec::new(), hasher }
    }

    /// Returns the spec of all parts.
    pub fn spec(&self) -> &Spec {
        &self.columns.spec
    }

    /// Appends a mapped part.
    pub fn push(&mut self, part: Columns) {
        let first_state = self.first_states[self.first_states.len() - 1];
        let (first_episode, first_file) = (self.first_states.len() - 1, self.files.len());
        self.columns.blocks.extend(part.blocks.into_iter().map(|mut block| {
            block.file += first_file;
            block.first_episode += first_episode;
            block.first_state += first_state;
            block
        }));
        self.first_states.extend(part.index.first_states().iter().skip(1).map(|state| first_state + state));
        self.files.extend(part.mapping.iter().flat_map(Mapping::files).cloned());
    }

    /// Returns the dataset of all parts.
    pub fn finish(self) -> Dataset {
        let Self { mut columns, mut first_states, files, hasher } = self;
        first_states.shrink_to_fit();
        columns.index = EpisodeIndex::from_first_states(first_states);
        columns.mapping = Some(Mapping::new(files));
        columns.content_hash = hasher.finish();
        Dataset::new(columns)
    }
}
