//! Gradients averaged over processes.

use super::ParameterTensors;
use crate::group::ProcessGroup;
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Tensor, TensorData},
};

/// Returns the means over a group of the gradients of `network`, which are sent in one message.
pub fn mean_over<M: Module>(
    group: &ProcessGroup,
    gradients: ParameterTensors,
    network: &M,
) -> ParameterTensors {
    let mut flat = Flatten { gradients, values: Vec::new() };
    network.visit(&mut flat);
    group.mean("gradients", &mut flat.values);
    let mut means =
        Restore { gradients: flat.gradients, values: &flat.values, means: ParameterTensors::new() };
    network.visit(&mut means);
    means.means
}

struct Flatten {
    gradients: ParameterTensors,
    values: Vec<f32>,
}

impl ModuleVisitor for Flatten {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<Tensor<D>>(&parameter.id) {
            let data = gradient.into_data();
            self.values.extend_from_slice(data.as_slice::<f32>().expect("single precision"));
        }
    }
}

struct Restore<'a> {
    gradients: ParameterTensors,
    /// The values that have not been restored yet.
    values: &'a [f32],
    means: ParameterTensors,
}

impl ModuleVisitor for Restore<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<Tensor<D>>(&parameter.id) {
            let (values, rest) = self.values.split_at(gradient.shape().num_elements());
            self.values = rest;
            let data = TensorData::new(values.to_vec(), gradient.shape());
            self.means.register(parameter.id, Tensor::<D>::from_data(data, &gradient.device()));
        }
    }
}
