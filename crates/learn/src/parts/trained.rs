//! A network and the optimiser that moves it.

use super::moments;
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};
use isochrone_nn::{error::ConfigError, kernel::AdamStep, op, optim::Adam, store::Archive};
use serde::{Deserialize, Serialize};

/// How the learning rate goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// As it is.
    #[default]
    Constant,
    /// Down to zero at the end of the run, along half a cosine: the noise of the last batches averages out.
    Cosine,
}

/// How a network is moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OptimiserConfig {
    /// Length of a step.
    pub learning_rate: f64,
    /// How it goes on.
    pub schedule: Schedule,
    /// Gradients that are longer, over all parameters together, are shortened to this; 0 for never.
    pub largest_gradient: f64,
    /// Decays and the number that keeps it from dividing by zero.
    #[serde(flatten)]
    pub adam: Adam,
}

impl Default for OptimiserConfig {
    fn default() -> Self {
        Self {
            learning_rate: 3e-4,
            schedule: Schedule::Constant,
            largest_gradient: 0.0,
            adam: Adam::default(),
        }
    }
}

impl OptimiserConfig {
    /// Refuses numbers that cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { learning_rate, largest_gradient, adam, .. } = *self;
        let unit = 0.0..1.0;
        let wrong = [
            ("learning_rate", learning_rate, !(learning_rate.is_finite() && learning_rate > 0.0)),
            (
                "largest_gradient",
                largest_gradient,
                !(largest_gradient.is_finite() && largest_gradient >= 0.0),
            ),
            ("beta_1", f64::from(adam.beta_1), !unit.contains(&f64::from(adam.beta_1))),
            ("beta_2", f64::from(adam.beta_2), !unit.contains(&f64::from(adam.beta_2))),
            ("epsilon", f64::from(adam.epsilon), !(adam.epsilon.is_finite() && adam.epsilon > 0.0)),
        ];
        match wrong.into_iter().find(|(.., is_wrong)| *is_wrong) {
            Some((field, value, _)) => Err(ConfigError::new(
                field,
                value,
                "is out of range",
                "learning_rate and epsilon are positive, betas in 0..1; 3e-4, 1e-8, 0.9 and 0.999 are usual",
            )),
            None => Ok(()),
        }
    }
}

/// A network with its Adam (Kingma and Ba, 2015).
///
/// The moments are kept by the identity of parameters and saved under their names: unlike Burn's own record, a moment that is missing from a file is an error.
pub struct Trained<M> {
    /// There, except while it is being moved.
    network: Option<M>,
    config: OptimiserConfig,
    /// Updates of the whole run.
    total: u64,
    updates: u64,
    first: GradientsParams,
    second: GradientsParams,
}

impl<M: Module> Trained<M> {
    /// A network at its start.
    pub fn new(network: M, config: OptimiserConfig, total_updates: u64) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            network: Some(network),
            config,
            total: total_updates.max(1),
            updates: 0,
            first: GradientsParams::new(),
            second: GradientsParams::new(),
        })
    }

    /// The network as it is.
    pub fn network(&self) -> &M {
        self.network.as_ref().expect("only absent while it is moved")
    }

    /// The network for others to differentiate through: its own parameters get no gradient.
    pub fn frozen(&self) -> M {
        self.network().clone().no_grad()
    }

    /// How often it was moved.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// One step down the gradient of `loss: [1]`.
    pub fn descend(&mut self, loss: Tensor<1>) {
        let network = self.network.take().expect("only absent while it is moved");
        let mut gradients = GradientsParams::from_grads(loss.backward(), &network);
        if self.config.largest_gradient > 0.0 {
            gradients = shortened(gradients, &network, self.config.largest_gradient);
        }
        let Adam { beta_1, beta_2, epsilon } = self.config.adam;
        let learning_rate = self.learning_rate() as f32;
        self.updates += 1;
        let time = u32::try_from(self.updates).unwrap_or(u32::MAX);
        let step = AdamStep { learning_rate, beta_1, beta_2, epsilon, time };
        let mut mover = Mover { step, gradients, first: &mut self.first, second: &mut self.second };
        self.network = Some(network.map(&mut mover));
    }

    fn learning_rate(&self) -> f64 {
        let progress = self.updates.min(self.total) as f64 / self.total as f64;
        match self.config.schedule {
            Schedule::Constant => self.config.learning_rate,
            Schedule::Cosine => {
                self.config.learning_rate * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
            }
        }
    }

    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut M) -> Result<(), String>) -> Result<(), String> {
        edit(self.network.as_mut().expect("only absent while it is moved"))
    }

    pub(crate) fn insert_moments(&self, name: &str, archive: &mut Archive) {
        moments::insert(self.network(), &format!("{name}.first"), &self.first, archive);
        moments::insert(self.network(), &format!("{name}.second"), &self.second, archive);
    }

    pub(crate) fn take_moments(
        &mut self,
        name: &str,
        archive: &mut Archive,
        updates: u64,
    ) -> Result<(), String> {
        if updates > 0 {
            self.first = moments::take(self.network(), &format!("{name}.first"), archive)?;
            self.second = moments::take(self.network(), &format!("{name}.second"), archive)?;
        }
        self.updates = updates;
        Ok(())
    }
}

/// Gradients of `network` with a length of at most `largest`.
fn shortened<M: Module>(gradients: GradientsParams, network: &M, largest: f64) -> GradientsParams {
    let mut sum = SumOfSquares { gradients: &gradients, sum: 0.0 };
    network.visit(&mut sum);
    let length = sum.sum.sqrt();
    if length <= largest {
        return gradients;
    }
    let mut shorter =
        Shorten { gradients, shorter: GradientsParams::new(), factor: (largest / length) as f32 };
    network.visit(&mut shorter);
    shorter.shorter
}

struct SumOfSquares<'a> {
    gradients: &'a GradientsParams,
    sum: f64,
}

impl ModuleVisitor for SumOfSquares<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(parameter.id) {
            self.sum += f64::from(gradient.square().sum().into_scalar::<f32>());
        }
    }
}

struct Shorten {
    gradients: GradientsParams,
    shorter: GradientsParams,
    factor: f32,
}

impl ModuleVisitor for Shorten {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(parameter.id) {
            self.shorter.register(parameter.id, gradient * self.factor);
        }
    }
}

/// Moves every parameter that has a gradient.
struct Mover<'a> {
    step: AdamStep,
    gradients: GradientsParams,
    first: &'a mut GradientsParams,
    second: &'a mut GradientsParams,
}

impl ModuleMapper for Mover<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, value, mapper) = parameter.consume();
        let Some(gradient) = self.gradients.remove::<D>(id) else {
            return Param::from_mapped_value(id, value, mapper);
        };
        let first = self.first.remove(id).unwrap_or_else(|| gradient.zeros_like());
        let second = self.second.remove(id).unwrap_or_else(|| gradient.zeros_like());
        let (value, first, second) = op::adam(self.step, value.inner(), gradient, first, second);
        self.first.register(id, first);
        self.second.register(id, second);
        Param::from_mapped_value(id, Tensor::from_inner(value).require_grad(), mapper)
    }
}
