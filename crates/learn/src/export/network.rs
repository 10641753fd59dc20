//! Multilayer perceptrons and policies.

use super::graph::{Attribute, Graph, Value};
use burn::{module::Param, tensor::Tensor};
use isochrone_nn::{
    kernel::NORM_EPSILON,
    module::{Activation, Actor, Dense, Encoder, Norm, PolicyDistribution},
};

impl Graph {
    /// Adds a parameter of a network as a constant.
    pub fn parameter<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) -> Value {
        let value = parameter.val();
        let shape = value.dims();
        let values: Vec<f32> = value.into_data().try_into_vec().expect("single precision");
        self.floats(&shape, &values)
    }

    /// Adds a multilayer perceptron: `[n, inputs]` gives `[n, outputs]`.
    pub fn encoder(&mut self, encoder: &Encoder, rows: &Value) -> Value {
        let mut x = rows.clone();
        for (layer, norm) in encoder.hidden() {
            x = self.dense(layer, &x);
            if let Some(norm) = norm {
                x = self.norm(norm, &x);
            }
            x = self.activation(encoder.activation(), &x);
        }
        self.dense(encoder.out(), &x)
    }

    /// Adds the mode of a policy, in `[-1, 1]`: `[n, observation]` and `[n, goal]` give `[n,
    /// actions]`.
    pub fn policy_mode(&mut self, actor: &Actor, observations: &Value, goals: &Value) -> Value {
        let inputs = self.concat(1, &[observations, goals]);
        let outputs = self.encoder(actor.network(), &inputs);
        if let PolicyDistribution::Mixture { components, .. } = actor.distribution() {
            let mean = self.heaviest_mean(&outputs, components, actor.actions());
            return self.op("Tanh", &[&mean]);
        }
        // A distribution with learned deviations has them in further columns.
        let mean = self.slice(&outputs, 1, 0..actor.actions());
        self.op("Tanh", &[&mean])
    }

    /// Adds the mean of the heaviest component of a mixture: `[n, outputs]` gives `[n, actions]`.
    fn heaviest_mean(&mut self, outputs: &Value, components: usize, actions: usize) -> Value {
        let width = components * actions;
        let (means, logits) =
            (self.slice(outputs, 1, 0..width), self.slice(outputs, 1, 2 * width..2 * width + components));
        let shape = self.integers(&[0, components as i64, actions as i64]);
        let means = self.op("Reshape", &[&means, &shape]);
        let index = self.op_with("ArgMax", &[&logits], &[("axis", Attribute::Int(1))]);
        let (depth, values) = (self.integers(&[components as i64]), self.floats(&[2], &[0.0, 1.0]));
        // `[n, 1, components]` times `[n, components, actions]`.
        let chosen = self.op("OneHot", &[&index, &depth, &values]);
        let mean = self.op("MatMul", &[&chosen, &means]);
        let axis = self.integers(&[1]);
        self.op("Squeeze", &[&mean, &axis])
    }

    fn dense(&mut self, layer: &Dense, x: &Value) -> Value {
        let (weight, bias) = (self.parameter(&layer.weight), self.parameter(&layer.bias));
        self.op("Gemm", &[x, &weight, &bias])
    }

    fn norm(&mut self, norm: &Norm, x: &Value) -> Value {
        let (gain, shift) = (self.parameter(&norm.gain), self.parameter(&norm.shift));
        let attributes = [("axis", Attribute::Int(-1)), ("epsilon", Attribute::Float(NORM_EPSILON))];
        self.op_with("LayerNormalization", &[x, &gain, &shift], &attributes)
    }

    fn activation(&mut self, activation: Activation, x: &Value) -> Value {
        match activation {
            Activation::Identity => x.clone(),
            Activation::Relu => self.op("Relu", &[x]),
            Activation::Gelu => self.op_with("Gelu", &[x], &[("approximate", Attribute::Text("tanh"))]),
            Activation::Silu => {
                let gate = self.op("Sigmoid", &[x]);
                self.op("Mul", &[x, &gate])
            }
        }
    }
}
