//! Gradient clipping by global norm.

use super::ParameterTensors;
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::Tensor,
};

/// Scales the gradients of `network` to a global norm of at most `max_norm`.
pub fn clip_by_norm<M: Module>(gradients: ParameterTensors, network: &M, max_norm: f64) -> ParameterTensors {
    let mut sum = SumOfSquares { gradients: &gradients, sum: 0.0 };
    network.visit(&mut sum);
    let norm = sum.sum.sqrt();
    if norm <= max_norm {
        return gradients;
    }
    let mut scale = Scale { gradients, scaled: ParameterTensors::new(), factor: (max_norm / norm) as f32 };
    network.visit(&mut scale);
    scale.scaled
}

struct SumOfSquares<'a> {
    gradients: &'a ParameterTensors,
    sum: f64,
}

impl ModuleVisitor for SumOfSquares<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<Tensor<D>>(&parameter.id) {
            self.sum += f64::from(gradient.square().sum().into_scalar::<f32>());
        }
    }
}

struct Scale {
    gradients: ParameterTensors,
    scaled: ParameterTensors,
    factor: f32,
}

impl ModuleVisitor for Scale {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<Tensor<D>>(&parameter.id) {
            self.scaled.register(parameter.id, gradient * self.factor);
        }
    }
}
