//! Gradients by parameter.

use burn::{
    module::{Module, ModuleVisitor, Param, ParamId},
    tensor::{Gradients, Tensor, container::TensorContainer},
};

/// A tensor for each of several parameters: gradients or moments.
pub type ParameterTensors = TensorContainer<ParamId>;

/// Returns the gradients of the parameters of `network`; frozen parameters have none.
pub fn of_parameters<M: Module>(gradients: Gradients, network: &M) -> ParameterTensors {
    let mut collect = Collect { gradients, found: ParameterTensors::new() };
    network.visit(&mut collect);
    collect.found
}

struct Collect {
    gradients: Gradients,
    found: ParameterTensors,
}

impl ModuleVisitor for Collect {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        // The gradient of a tensor that is not differentiated must not be requested.
        if parameter.is_require_grad()
            && let Some(gradient) = parameter.val().grad_remove(&mut self.gradients)
        {
            self.found.register(parameter.id, gradient);
        }
    }
}
