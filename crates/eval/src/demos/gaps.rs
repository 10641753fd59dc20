//! Gaps: what is not connected, and what to record.

use super::{
    Demos, Diagnosis,
    connections::{Bridge, Connection, ConnectionGraph, is_unusable},
    starts::StartRegion,
};

/// What demonstrations lack.
pub struct Gaps {
    /// The largest hop of connected data, in frames.
    pub connected_frames: f64,
    /// The connections of the starts of each task with the ends of each task.
    pub connections: Vec<Connection>,
    /// The bridges to record, the most useful first.
    pub bridges: Vec<Bridge>,
    /// The starts to record, for each task that has any.
    pub starts: Vec<StartRegion>,
}

impl Gaps {
    /// Returns whether every start is connected with its own task.
    pub fn is_connected(&self) -> bool {
        let own = self.connections.iter().filter(|one| one.from_task == one.to_task);
        own.into_iter().all(|one| one.connected == one.starts)
    }

    /// Searches at most `n_bridges` bridges, and `n_starts` starts for each task. Episodes that are
    /// found to be defective do not connect anything.
    pub fn of(demos: &Demos<'_>, diagnosis: &Diagnosis, n_bridges: usize, n_starts: usize) -> Self {
        let findings = |episode: usize| diagnosis.episodes[episode].findings.as_slice();
        let mut graph = ConnectionGraph::of(demos, &findings);
        let connected_frames = graph.connected_frames(demos);
        let connections = graph.connections(demos, connected_frames);
        let mut bridges = Vec::new();
        while bridges.len() < n_bridges
            && let Some(bridge) = graph.best_bridge(demos, connected_frames)
        {
            bridges.push(bridge);
        }
        let is_usable = |episode: usize| !is_unusable(findings(episode));
        let starts = (0..demos.labels.tasks.len() as u32)
            .filter_map(|task| StartRegion::of(demos, &is_usable, task, n_starts));
        Self { connected_frames, connections, bridges, starts: starts.collect() }
    }
}
