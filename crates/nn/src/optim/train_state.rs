//! A network and its optimizer state.

use super::{
    Adam, OptimizerConfig,
    clip::clip_by_norm,
    gradients::{self, ParameterTensors},
    mean::mean_over,
};
use crate::{
    error::{ConfigError, StateError},
    group::ProcessGroup,
    kernel::AdamStep,
    op,
    state_dict::{Mode, StateDict},
};
use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::Tensor,
};

/// A network with its Adam state.
///
/// The moments are stored by parameter id and saved under the names of the parameters. Unlike in
/// Burn's own records, a moment that is missing from a file is an error.
pub struct TrainState<M> {
    /// `None` only during an update.
    network: Option<M>,
    config: OptimizerConfig,
    /// The number of updates of the run.
    total: u64,
    updates: u64,
    first: ParameterTensors,
    second: ParameterTensors,
    /// The processes over which gradients are averaged.
    group: Option<ProcessGroup>,
}

impl<M: Module> TrainState<M> {
    /// Creates the state before the first of `total_updates` updates, at the end of which the
    /// learning-rate schedule ends.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(network: M, config: OptimizerConfig, total_updates: u64) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            network: Some(network),
            config,
            total: total_updates.max(1),
            updates: 0,
            first: ParameterTensors::new(),
            second: ParameterTensors::new(),
            group: None,
        })
    }

    /// Averages gradients over the processes of a group.
    #[must_use]
    pub fn among(self, group: Option<ProcessGroup>) -> Self {
        Self { group, ..self }
    }

    /// Returns the network.
    pub fn network(&self) -> &M {
        self.network.as_ref().expect("`None` only during an update")
    }

    /// Returns a copy of the network with frozen parameters, through which other losses can be
    /// differentiated.
    pub fn frozen(&self) -> M {
        self.network().clone().no_grad()
    }

    /// Takes one Adam step on `loss: [1]`.
    pub fn step(&mut self, loss: Tensor<1>) {
        let network = self.network.take().expect("`None` only during an update");
        let mut gradients = gradients::of_parameters(loss.backward(), &network);
        if let Some(group) = &self.group {
            gradients = mean_over(group, gradients, &network);
        }
        if self.config.max_grad_norm > 0.0 {
            gradients = clip_by_norm(gradients, &network, self.config.max_grad_norm);
        }
        let Adam { beta_1, beta_2, epsilon } = self.config.adam;
        let learning_rate = self.config.learning_rate_at(self.updates, self.total) as f32;
        self.updates += 1;
        let time = u32::try_from(self.updates).unwrap_or(u32::MAX);
        let step = AdamStep { learning_rate, beta_1, beta_2, epsilon, time };
        let mut mapper = AdamMapper { step, gradients, first: &mut self.first, second: &mut self.second };
        self.network = Some(network.map(&mut mapper));
    }

    /// Saves, resumes or loads the network as `name`. The optimizer state is included unless the
    /// mode is [`Mode::Load`].
    ///
    /// # Errors
    /// If a tensor or number is missing, or a tensor has a different shape.
    pub fn visit_state(&mut self, name: &str, state: &mut StateDict) -> Result<(), StateError> {
        let network = self.network.as_mut().expect("`None` only during an update");
        state.network(name, network)?;
        let mut updates = self.updates as f64;
        state.number(&format!("{name}.updates"), &mut updates)?;
        self.updates = updates as u64;
        for (moment, values) in [("first", &mut self.first), ("second", &mut self.second)] {
            let name = format!("{name}.{moment}");
            match state.mode() {
                Mode::Save => state.training().insert_moments(&name, network, values),
                Mode::Resume if self.updates > 0 => {
                    *values = state.training().take_moments(&name, network)?;
                }
                Mode::Resume | Mode::Load => {}
            }
        }
        Ok(())
    }
}

/// Updates every parameter that has a gradient.
struct AdamMapper<'a> {
    step: AdamStep,
    gradients: ParameterTensors,
    first: &'a mut ParameterTensors,
    second: &'a mut ParameterTensors,
}

impl ModuleMapper for AdamMapper<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, value, mapper) = parameter.consume();
        let Some(gradient) = self.gradients.remove::<Tensor<D>>(&id) else {
            return Param::from_mapped_value(id, value, mapper);
        };
        let first = self.first.remove(&id).unwrap_or_else(|| gradient.zeros_like());
        let second = self.second.remove(&id).unwrap_or_else(|| gradient.zeros_like());
        let (value, first, second) = op::adam(self.step, value.inner(), gradient, first, second);
        self.first.register(id, first);
        self.second.register(id, second);
        Param::from_mapped_value(id, Tensor::from_inner(value).require_grad(), mapper)
    }
}
