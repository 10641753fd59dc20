//! What a critic is shown: a state, alone or with what is done there.

use crate::{batch::DeviceBatch, draw, setting::Setting};
use burn::tensor::Tensor;

/// Rows `[s, a, 1]` where something is done, and `[s, 0, 0]` for the state alone.
///
/// One network then knows both `d((s, a), g)`, which a policy is drawn from, and `d(s, g)`, which people ask for: shown a state alone, the
/// contrastive optimum is the behaviour's average over actions. Goals are states alone: the distance to a goal does not depend on what is done there,
/// so that nothing is gained by attaching an action of the data to it, as published code does.
/// Where the data have no actions, a row is just `[s]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    observation_width: usize,
    action_width: usize,
}

impl Rows {
    /// For data of these widths.
    pub fn new(setting: &Setting) -> Self {
        Self { observation_width: setting.observation_width, action_width: setting.action_width }
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        match self.action_width {
            0 => self.observation_width,
            width => self.observation_width + width + 1,
        }
    }

    /// States alone.
    ///
    /// # Shapes
    /// `[n, observation width]` gives `[n, width]`.
    pub fn states(&self, observations: Tensor<2>) -> Tensor<2> {
        let [n, _] = observations.dims();
        if self.action_width == 0 {
            return observations;
        }
        let nothing = Tensor::zeros([n, self.action_width + 1], &observations.device());
        Tensor::cat(vec![observations, nothing], 1)
    }

    /// States and what is done there.
    ///
    /// # Shapes
    /// `[n, observation width]` and `[n, action width]` give `[n, width]`.
    pub fn state_actions(&self, observations: Tensor<2>, actions: Tensor<2>) -> Tensor<2> {
        let [n, _] = observations.dims();
        let done = Tensor::ones([n, 1], &observations.device());
        self.where_kept(observations, actions, done)
    }

    /// The rows of a batch: this share of them, drawn anew at every step, states alone, the others with what was done.
    pub fn of_batch(&self, batch: &DeviceBatch, setting: &Setting, states_alone: f64) -> Tensor<2> {
        let Setting { seed, device, .. } = setting;
        let kept = draw::kept(*seed, batch.step, batch.rows(), 1.0 - states_alone, device);
        self.where_kept(batch.observations.clone(), batch.actions.clone(), kept)
    }

    /// States, with what is done there where `kept: [n, 1]` is 1 and alone where it is 0.
    fn where_kept(&self, observations: Tensor<2>, actions: Tensor<2>, kept: Tensor<2>) -> Tensor<2> {
        if self.action_width == 0 {
            return observations;
        }
        Tensor::cat(vec![observations, actions * kept.clone(), kept], 1)
    }
}
