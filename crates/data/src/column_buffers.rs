//! Column buffers of concatenated episodes.

use crate::{EpisodeView, Spec, episode::Ending};

/// The concatenated columns of some episodes.
#[derive(Debug, Default)]
pub(crate) struct ColumnBuffers {
    /// The number of steps of each episode.
    pub steps: Vec<usize>,
    pub observations: Vec<f32>,
    pub actions: Vec<f32>,
    pub rewards: Vec<f32>,
    pub timestamps: Vec<f64>,
    pub extras: Vec<Vec<f32>>,
    /// The ending of each episode.
    pub endings: Vec<Ending>,
}

impl ColumnBuffers {
    pub fn new(spec: &Spec) -> Self {
        Self { extras: vec![Vec::new(); spec.extras.len()], ..Self::default() }
    }

    pub fn push(&mut self, episode: &EpisodeView<'_>) {
        self.steps.push(episode.steps);
        self.observations.extend(episode.observations);
        self.actions.extend(episode.actions);
        self.rewards.extend(episode.rewards);
        self.timestamps.extend(episode.timestamps);
        for (gathered, rows) in self.extras.iter_mut().zip(&episode.extras) {
            gathered.extend(*rows);
        }
        self.endings.push(episode.ending);
    }
}
