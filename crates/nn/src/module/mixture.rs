//! Mixtures of Gaussians as distributions of actions.

use burn::tensor::{Tensor, activation::log_softmax};

/// `ln sqrt(2 pi)`
const LOG_SQRT_TAU: f32 = 0.918_938_5;

/// A mixture of `k` Gaussians for each of `n` rows: where the data take two paths around an
/// obstacle, the mean of both leads into it, and the mode of the heavier component does not.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// The means in `[-1, 1]`, `[n, k, actions]`.
    means: Tensor<3>,
    /// The logarithms of the standard deviations, `[n, k, actions]`.
    log_stds: Tensor<3>,
    /// The logarithms of the weights up to a constant, `[n, k]`.
    logits: Tensor<2>,
}

impl Mixture {
    /// Returns the number of network outputs of a mixture.
    pub fn outputs(components: usize, actions: usize) -> usize {
        components * (2 * actions + 1)
    }

    /// Creates a mixture from network outputs `[n, outputs]`: means before `tanh`, logarithms of
    /// standard deviations, logits.
    pub fn new(outputs: Tensor<2>, components: usize, actions: usize, log_std: (f32, f32)) -> Self {
        let ([n, _], width) = (outputs.dims(), components * actions);
        let part = |start: usize| outputs.clone().narrow(1, start, width).reshape([n, components, actions]);
        Self {
            means: part(0).tanh(),
            log_stds: part(width).clamp(log_std.0, log_std.1),
            logits: outputs.clone().narrow(1, 2 * width, components),
        }
    }

    /// Returns the mean of the heaviest component, `[n, actions]`.
    pub fn mode(&self) -> Tensor<2> {
        self.heaviest(self.means.clone())
    }

    /// Returns actions of the heaviest component for standard normal `noise: [n, actions]`.
    pub fn sample(&self, noise: Tensor<2>) -> Tensor<2> {
        (self.mode() + self.heaviest(self.log_stds.clone()).exp() * noise).clamp(-1.0, 1.0)
    }

    /// Returns the log-density `[n]` of `actions: [n, actions]`.
    pub fn log_prob(&self, actions: Tensor<2>) -> Tensor<1> {
        let [n, width] = actions.dims();
        let [_, components, _] = self.means.dims();
        let standard =
            (actions.reshape([n, 1, width]) - self.means.clone()) * self.log_stds.clone().neg().exp();
        let terms = standard.square() * -0.5 - self.log_stds.clone() - LOG_SQRT_TAU;
        let log_probs = terms.sum_dim(2).reshape([n, components]) + log_softmax(self.logits.clone(), 1);
        // Relative to the largest, so that no exponential overflows.
        let largest = log_probs.clone().detach().max_dim(1);
        ((log_probs - largest.clone()).exp().sum_dim(1).log() + largest).reshape([n])
    }

    /// Returns the rows of the heaviest component, `[n, k, actions]` gives `[n, actions]`.
    fn heaviest(&self, rows: Tensor<3>) -> Tensor<2> {
        let [n, _, actions] = rows.dims();
        let index = self.logits.clone().detach().argmax(1);
        let index = index.reshape([n, 1, 1]).repeat_dim(2, actions);
        rows.gather(1, index).reshape([n, actions])
    }
}
