//! Frames at equal intervals, as the nodes of a graph of connections.

use super::Demos;

/// The number of nodes.
const NODES: usize = 3000;

/// A frame of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct FrameId {
    /// The number of the episode.
    pub episode: usize,
    /// The number of the frame in the episode.
    pub frame: usize,
}

/// Frames of all usable episodes, or of episodes at equal intervals if there are many. Those of an
/// episode follow each other, and its last frame is one of them.
pub(super) struct Nodes {
    pub frames: Vec<FrameId>,
    /// The number of frames between the nodes of an episode.
    pub stride: usize,
}

impl Nodes {
    pub fn of(demos: &Demos<'_>, is_usable: &dyn Fn(usize) -> bool) -> Self {
        let index = demos.data.index();
        let usable: Vec<usize> = (0..demos.data.n_episodes()).filter(|one| is_usable(*one)).collect();
        // At least ten nodes per episode.
        let every = usable.len().div_ceil(NODES / 10).max(1);
        let episodes: Vec<usize> = usable.into_iter().step_by(every).collect();
        let frames: usize = episodes.iter().map(|episode| index.steps(*episode) + 1).sum();
        let stride = frames.div_ceil(NODES).max(1);
        let of_episode = |episode: usize| {
            let last = index.steps(episode);
            let inner = (0..last).step_by(stride);
            inner.chain([last]).map(move |frame| FrameId { episode, frame })
        };
        Self { frames: episodes.into_iter().flat_map(of_episode).collect(), stride }
    }

    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn episode(&self, node: usize) -> usize {
        self.frames[node].episode
    }

    /// Returns whether a node is followed by the next one in its episode.
    pub fn is_followed(&self, node: usize) -> bool {
        self.frames.get(node + 1).is_some_and(|next| next.episode == self.episode(node))
    }

    /// Returns the first node of each episode.
    pub fn starts(&self) -> Vec<usize> {
        let is_start = |node: &usize| *node == 0 || self.episode(node - 1) != self.episode(*node);
        (0..self.len()).filter(is_start).collect()
    }

    /// Returns the last node of each episode.
    pub fn ends(&self) -> Vec<usize> {
        (0..self.len()).filter(|node| !self.is_followed(*node)).collect()
    }
}
