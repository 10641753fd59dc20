//! A dataset: episodes as blocks of columns, in memory or in mapped files.

use crate::{
    ContentHasher, DataError, Episode, EpisodeIndex, EpisodeSink, EpisodeView, NotFiniteError, Spec,
    column_buffers::ColumnBuffers, episode::Ending, huge_pages::on_huge_pages, mapping::Mapping,
};
use arrow_buffer::ScalarBuffer;
use isochrone_core::statistics;
use std::{borrow::Borrow, sync::Arc};

/// A dataset of episodes with random access. Clones share the columns.
///
/// The columns are slices, either in memory or in mapped files of the isochrone Arrow format
/// ([`open`](Self::open)), of which the operating system loads pages on demand. The rest of this
/// crate does not distinguish between the two.
///
/// ```
/// use isochrone_data::Dataset;
///
/// // Two episodes on a line: T + 1 observations of width 1 and T actions of width 1.
/// let data = Dataset::from_arrays(1, 1, [(vec![0.0, 1.0, 2.0], vec![1.0, 1.0]), (vec![5.0, 4.0], vec![-1.0])])?;
/// assert_eq!((data.n_episodes(), data.n_transitions()), (2, 3));
/// # Ok::<(), isochrone_data::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    columns: Arc<Columns>,
}

/// The columns that clones share.
#[derive(Debug)]
pub(crate) struct Columns {
    pub spec: Spec,
    pub blocks: Vec<Block>,
    pub index: EpisodeIndex,
    pub content_hash: String,
    pub mapping: Option<Mapping>,
}

/// Consecutive episodes, stored column by column.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The number of the mapped file, if any.
    pub file: usize,
    pub first_episode: usize,
    pub first_state: u64,
    pub observations: ScalarBuffer<f32>,
    pub actions: ScalarBuffer<f32>,
    /// Empty if the dataset has no rewards.
    pub rewards: ScalarBuffer<f32>,
    /// Empty if the dataset has no timestamps.
    pub timestamps: ScalarBuffer<f64>,
    pub extras: Vec<ScalarBuffer<f32>>,
    /// The ending of each episode.
    pub endings: Vec<Ending>,
}

impl Dataset {
    /// Creates a dataset from arrays in memory. Each episode has observations
    /// `[T + 1, observation_width]` and actions `[T, action_width]` in row-major order.
    ///
    /// # Errors
    /// Returns an error if an array does not have this size, an episode has no transition, or a
    /// number is not finite. The error names the episode.
    pub fn from_arrays<O: Into<Vec<f32>>, A: Into<Vec<f32>>>(
        observation_width: usize,
        action_width: usize,
        episodes: impl IntoIterator<Item = (O, A)>,
    ) -> Result<Self, DataError> {
        let episode = |(observations, actions): (O, A)| Episode {
            observations: observations.into(),
            actions: actions.into(),
            ..Episode::default()
        };
        Self::from_episodes(&Spec::new(observation_width, action_width), episodes.into_iter().map(episode))
    }

    /// Creates a dataset from episodes in memory, with all columns that `spec` describes.
    ///
    /// # Errors
    /// Returns an error if the spec is invalid, a column does not match it, an episode has no
    /// transition, or a number is not finite. The error names the episode.
    pub fn from_episodes(
        spec: &Spec,
        episodes: impl IntoIterator<Item = impl Borrow<Episode>>,
    ) -> Result<Self, DataError> {
        spec.check().map_err(|problem| DataError::setting(problem.to_string(), problem.hint()))?;
        let mut builder = DatasetBuilder::default();
        builder.begin(spec)?;
        for (number, episode) in episodes.into_iter().enumerate() {
            let view = episode.borrow().view(spec).and_then(|view| view.require_finite(spec).map(|()| view));
            builder
                .episode(&view.map_err(|problem| DataError::episode(number, problem))?.numbered(number))?;
        }
        Ok(builder.finish())
    }

    pub(crate) fn new(columns: Columns) -> Self {
        Self { columns: Arc::new(columns) }
    }

    /// Returns the columns of a dataset that is not shared yet.
    pub(crate) fn into_columns(self) -> Columns {
        Arc::try_unwrap(self.columns).expect("not shared yet")
    }

    /// Returns the description of the columns.
    pub fn spec(&self) -> &Spec {
        &self.columns.spec
    }

    /// Returns the frame rate of the spec or, without one, that of the median time between the
    /// states of the first episode.
    pub fn frames_per_second(&self) -> Option<f64> {
        let first = (self.n_episodes() > 0).then(|| self.episode(0));
        let gaps =
            first.iter().flat_map(|episode| episode.timestamps.windows(2).map(|pair| pair[1] - pair[0]));
        let gap = statistics::median(gaps.collect());
        self.spec().frames_per_second.or((gap > 0.0).then(|| 1.0 / gap))
    }

    /// Returns the index of the episodes, states and transitions.
    pub fn index(&self) -> &EpisodeIndex {
        &self.columns.index
    }

    /// Returns the number of episodes.
    pub fn n_episodes(&self) -> usize {
        self.index().n_episodes()
    }

    /// Returns the number of transitions, T for each episode.
    pub fn n_transitions(&self) -> u64 {
        self.index().n_transitions()
    }

    /// Checks that all observations are finite: files are read with the values that they have.
    ///
    /// # Errors
    /// The first observation that is not.
    pub fn check_finite(&self) -> Result<(), NotFiniteError> {
        let observation = &self.spec().observation;
        for episode in 0..self.n_episodes() {
            let values = self.episode(episode).observations;
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let (row, dimension) = (at / observation.width, at % observation.width);
                let column = observation.dimension(dimension);
                return Err(NotFiniteError { episode, row, column, value: values[at] });
            }
        }
        Ok(())
    }

    /// Returns the content hash; see [`ContentHasher`]. It is always computed from the episodes;
    /// the hash that a file declares is only compared with it.
    pub fn content_hash(&self) -> &str {
        &self.columns.content_hash
    }

    /// Returns whether the columns are in mapped files.
    pub fn is_mapped(&self) -> bool {
        self.mapping().is_some()
    }

    /// Returns the episode with this number.
    ///
    /// # Panics
    /// Panics if there is no such episode.
    pub fn episode(&self, episode: usize) -> EpisodeView<'_> {
        let block = &self.blocks()[self.block_of_episode(episode)];
        let states = self.index().states(episode);
        let (from, to) =
            ((states.start - block.first_state) as usize, (states.end - block.first_state) as usize);
        let before = episode - block.first_episode;
        let (first_action, last_action) = (from - before, to - before - 1);
        let rows = |width: usize| from * width..to * width;
        let spec = self.spec();
        let extras = block.extras.iter().zip(&spec.extras);
        EpisodeView {
            number: episode,
            steps: to - from - 1,
            observations: &block.observations[rows(spec.observation.width)],
            actions: &block.actions[first_action * spec.action.width..last_action * spec.action.width],
            rewards: if spec.has_rewards { &block.rewards[first_action..last_action] } else { &[] },
            timestamps: if spec.has_timestamps { &block.timestamps[from..to] } else { &[] },
            extras: extras.map(|(values, extra)| &values[rows(extra.width)]).collect(),
            ending: block.endings[before],
        }
    }

    /// Returns the observation of a state; states are numbered across all episodes.
    ///
    /// # Panics
    /// Panics if there is no such state.
    pub fn state(&self, state: u64) -> &[f32] {
        let (episode, row) = self.index().row_of_state(state);
        let width = self.spec().observation.width;
        &self.episode(episode).observations[row * width..][..width]
    }

    /// Sends every episode to a sink, in order.
    pub fn send(&self, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
        sink.begin(self.spec())?;
        for episode in 0..self.n_episodes() {
            sink.episode(&self.episode(episode))?;
            self.touched(episode);
        }
        Ok(())
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.columns.blocks
    }

    pub(crate) fn mapping(&self) -> Option<&Mapping> {
        self.columns.mapping.as_ref()
    }

    /// Notes that an episode was read, so that pages of a mapped file are released from time to
    /// time.
    pub(crate) fn touched(&self, episode: usize) {
        if let Some(mapping) = self.mapping() {
            mapping.touched(self.spec().episode_bytes(self.index().steps(episode)));
        }
    }

    pub(crate) fn block_of_episode(&self, episode: usize) -> usize {
        match self.blocks() {
            [_] => 0,
            blocks => blocks.partition_point(|block| block.first_episode <= episode) - 1,
        }
    }
}

/// A sink that collects episodes in memory.
#[derive(Debug, Default)]
pub struct DatasetBuilder {
    spec: Option<Spec>,
    buffers: ColumnBuffers,
    hasher: ContentHasher,
}

impl DatasetBuilder {
    /// Returns the dataset of all episodes so far.
    ///
    /// # Panics
    /// Panics if `begin` was never called.
    pub fn finish(self) -> Dataset {
        let ColumnBuffers { steps, observations, actions, rewards, timestamps, extras, endings } =
            self.buffers;
        let block = Block {
            file: 0,
            first_episode: 0,
            first_state: 0,
            observations: on_huge_pages(observations),
            actions: on_huge_pages(actions),
            rewards: on_huge_pages(rewards),
            timestamps: timestamps.into(),
            extras: extras.into_iter().map(Into::into).collect(),
            endings,
        };
        Dataset::new(Columns {
            spec: self.spec.expect("begin is called first"),
            blocks: vec![block],
            index: EpisodeIndex::new(steps.into_iter()),
            content_hash: self.hasher.finish(),
            mapping: None,
        })
    }
}

impl EpisodeSink for DatasetBuilder {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.buffers = ColumnBuffers::new(spec);
        self.spec = Some(spec.clone());
        self.hasher.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        episode.require_transition()?;
        self.buffers.push(episode);
        self.hasher.episode(episode)
    }
}
