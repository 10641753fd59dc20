//! A data set: episodes as blocks of columns, in memory or in a mapped file.

use crate::{
    ContentHasher, DataError, EpisodeIndex, EpisodeSink, EpisodeView, Spec, episode::Ending,
    gathered::Gathered, mapping::Mapping, resident::on_large_pages,
};
use arrow_buffer::ScalarBuffer;
use std::sync::Arc;

/// Episodes that can be looked at in any order.
///
/// The columns are the same slices whether they lie in memory ([`TrajectoriesBuilder`]) or in a file of our own layout
/// ([`open`](Self::open)), where the system brings pages in when they are touched: nothing else in this package knows the difference.
#[derive(Debug, Clone)]
pub struct Trajectories {
    pub(crate) spec: Spec,
    pub(crate) blocks: Vec<Block>,
    pub(crate) index: EpisodeIndex,
    pub(crate) content_hash: String,
    pub(crate) mapping: Option<Arc<Mapping>>,
}

/// Episodes that lie together, column by column.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub first_episode: usize,
    pub first_state: u64,
    pub observations: ScalarBuffer<f32>,
    pub actions: ScalarBuffer<f32>,
    /// Empty if there are none.
    pub rewards: ScalarBuffer<f32>,
    /// Empty if there are none.
    pub timestamps: ScalarBuffer<f64>,
    pub extras: Vec<ScalarBuffer<f32>>,
    /// One for each episode.
    pub endings: Vec<Ending>,
}

impl Trajectories {
    /// What the columns are.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Where each episode lies.
    pub fn index(&self) -> &EpisodeIndex {
        &self.index
    }

    /// The number of episodes.
    pub fn n_episodes(&self) -> usize {
        self.index.n_episodes()
    }

    /// The number of transitions, T for each episode.
    pub fn n_transitions(&self) -> u64 {
        self.index.n_transitions()
    }

    /// What the data set contains; see [`ContentHasher`]. It is always computed from the episodes: a file's own word is only compared with it.
    pub fn content_hash(&self) -> &str {
        &self.content_hash
    }

    /// Whether the columns lie in a file.
    pub fn is_mapped(&self) -> bool {
        self.mapping.is_some()
    }

    /// The episode of this number.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn episode(&self, episode: usize) -> EpisodeView<'_> {
        let block = &self.blocks[self.block_of_episode(episode)];
        let states = self.index.states(episode);
        let (from, to) =
            ((states.start - block.first_state) as usize, (states.end - block.first_state) as usize);
        let before = episode - block.first_episode;
        let (first_action, last_action) = (from - before, to - before - 1);
        let rows = |width: usize| from * width..to * width;
        let spec = &self.spec;
        EpisodeView {
            number: episode,
            steps: to - from - 1,
            observations: &block.observations[rows(spec.observation.width)],
            actions: &block.actions[first_action * spec.action.width..last_action * spec.action.width],
            rewards: if spec.has_rewards { &block.rewards[first_action..last_action] } else { &[] },
            timestamps: if spec.has_timestamps { &block.timestamps[from..to] } else { &[] },
            extras: block
                .extras
                .iter()
                .zip(&spec.extras)
                .map(|(values, extra)| &values[rows(extra.width)])
                .collect(),
            ending: block.endings[before],
        }
    }

    /// Gives every episode to a sink, in order.
    pub fn send(&self, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
        sink.begin(&self.spec)?;
        for episode in 0..self.n_episodes() {
            sink.episode(&self.episode(episode))?;
            self.touched(episode);
        }
        Ok(())
    }

    /// Says that an episode was read: pages of a mapped file are given back now and then.
    pub(crate) fn touched(&self, episode: usize) {
        if let Some(mapping) = &self.mapping {
            mapping.touched(self.spec.episode_bytes(self.index.steps(episode)));
        }
    }

    pub(crate) fn block_of_episode(&self, episode: usize) -> usize {
        match self.blocks.as_slice() {
            [_] => 0,
            blocks => blocks.partition_point(|block| block.first_episode <= episode) - 1,
        }
    }
}

/// Gathers episodes in memory.
#[derive(Debug, Default)]
pub struct TrajectoriesBuilder {
    spec: Option<Spec>,
    gathered: Gathered,
    hasher: ContentHasher,
}

impl TrajectoriesBuilder {
    /// The data set of everything gathered.
    ///
    /// # Panics
    /// If no reader ever said what the columns are.
    pub fn finish(self) -> Trajectories {
        let Gathered { steps, observations, actions, rewards, timestamps, extras, endings } = self.gathered;
        let block = Block {
            first_episode: 0,
            first_state: 0,
            observations: on_large_pages(observations),
            actions: on_large_pages(actions),
            rewards: on_large_pages(rewards),
            timestamps: timestamps.into(),
            extras: extras.into_iter().map(Into::into).collect(),
            endings,
        };
        Trajectories {
            spec: self.spec.expect("a reader begins with the spec"),
            blocks: vec![block],
            index: EpisodeIndex::new(steps.into_iter()),
            content_hash: self.hasher.finish(),
            mapping: None,
        }
    }
}

impl EpisodeSink for TrajectoriesBuilder {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.gathered = Gathered::new(spec);
        self.spec = Some(spec.clone());
        self.hasher.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        episode.require_transition()?;
        self.gathered.push(episode);
        self.hasher.episode(episode)
    }
}
