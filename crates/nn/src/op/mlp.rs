//! Multilayer perceptrons as differentiable operations.

use super::{Operation, contiguous, is_flex, operation::apply_on_cpu, owned, size, slice, tensor};
use crate::kernel::{self, Activation, GELU_CUBIC, GELU_SLOPE, Mlp, MlpTape, NORM_EPSILON};
use burn::{
    backend::{Dispatch, Flex, flex::FlexTensor, tensor::FloatTensor},
    tensor::{Tensor, activation},
};
use std::sync::Arc;

/// The parameters of one layer, `act(norm(x w + b))`.
#[derive(Clone, Debug)]
pub struct Layer {
    /// `[inputs, outputs]`
    pub weight: Tensor<2>,
    /// `[outputs]`
    pub bias: Tensor<1>,
    /// Gain and shift of a layer normalization, each `[outputs]`.
    pub norm: Option<[Tensor<1>; 2]>,
    /// The activation after it.
    pub activation: Activation,
}

/// Applies layers in order: `x: [n, inputs of the first]` gives `[n, outputs of the last]`.
///
/// On the CPU, up to nine layers, or four with normalization and an output layer, are one
/// operation.
pub fn mlp(x: Tensor<2>, layers: Vec<Layer>) -> Tensor<2> {
    if !is_flex(&x.device()) {
        return layers.into_iter().fold(x, plain);
    }
    let mut value = x.into_dispatch();
    let mut group: Vec<Layer> = Vec::new();
    for layer in layers {
        let tensors = 1 + group.iter().chain([&layer]).map(Layer::tensors).sum::<usize>();
        if tensors > super::operation::MAX_INPUTS {
            value = apply(value, std::mem::take(&mut group));
        }
        group.push(layer);
    }
    if !group.is_empty() {
        value = apply(value, group);
    }
    Tensor::from_dispatch(value)
}

impl Layer {
    /// The number of parameter tensors.
    fn tensors(&self) -> usize {
        if self.norm.is_some() { 4 } else { 2 }
    }
}

/// Applies one layer by tensor operations.
fn plain(x: Tensor<2>, Layer { weight, bias, norm, activation }: Layer) -> Tensor<2> {
    let z = x.matmul(weight) + bias.unsqueeze();
    let Some([gain, shift]) = norm else { return activate(z, activation) };
    let centered = z.clone() - z.mean_dim(1);
    let deviation = (centered.clone().square().mean_dim(1) + NORM_EPSILON).sqrt();
    activate(centered / deviation * gain.unsqueeze() + shift.unsqueeze(), activation)
}

fn activate(z: Tensor<2>, act: Activation) -> Tensor<2> {
    match act {
        Activation::Identity => z,
        Activation::Relu => activation::relu(z),
        Activation::Gelu => {
            let cube = z.clone() * z.clone() * z.clone();
            let gate = activation::sigmoid((z.clone() + cube * GELU_CUBIC) * GELU_SLOPE);
            z * gate
        }
        Activation::Silu => activation::silu(z),
    }
}

/// Applies layers as one operation.
fn apply(x: FloatTensor<Dispatch>, layers: Vec<Layer>) -> FloatTensor<Dispatch> {
    let shape = layers.iter().map(|layer| (layer.norm.is_some(), layer.activation)).collect();
    let mut inputs = vec![x];
    for Layer { weight, bias, norm, .. } in layers {
        inputs.extend([weight.into_dispatch(), bias.into_dispatch()]);
        inputs.extend(norm.into_iter().flatten().map(Tensor::into_dispatch));
    }
    apply_on_cpu(Layers(shape), inputs)
}

/// Layers from first to last: whether there is a normalization, and the activation.
///
/// The inputs of the operation are the rows and, for each layer, weight, bias and, with a
/// normalization, gain and shift.
#[derive(Clone, Debug)]
struct Layers(Arc<[(bool, Activation)]>);

impl Layers {
    /// Calls `f` with the layers on plain slices.
    fn with<T>(&self, parameters: &[FlexTensor], f: impl FnOnce(Mlp) -> T) -> T {
        let mut parameters = parameters.iter().map(slice);
        let mut next = || parameters.next().expect("the inputs are those of `apply`");
        let layers = self.0.iter().map(|&(has_norm, activation)| {
            let (weight, bias) = (next(), next());
            let norm = has_norm.then(|| [next(), next()]);
            kernel::Layer { weight, bias, norm, activation }
        });
        f(Mlp(&layers.collect::<Vec<_>>()))
    }
}

impl<const N: usize> Operation<Flex, N> for Layers {
    /// The inputs and what the kernel stores.
    type Record = (Vec<FlexTensor>, Arc<MlpTape>);

    fn forward_recorded(self, inputs: [FlexTensor; N]) -> (FlexTensor, Self::Record) {
        let inputs: Vec<FlexTensor> = inputs.into_iter().map(contiguous).collect();
        let rows = size(&inputs[0], 0);
        let (out, tape) = self.with(&inputs[1..], |mlp| mlp.forward(slice(&inputs[0])));
        let outputs = out.len().checked_div(rows).unwrap_or_default();
        (tensor(out, [rows, outputs]), (inputs, Arc::new(tape)))
    }

    fn backward(
        self,
        gradient: FlexTensor,
        (inputs, tape): Self::Record,
        wanted: [bool; N],
    ) -> [Option<FlexTensor>; N] {
        let mut gradient = owned(gradient);
        let of_parameters = wanted[1..].contains(&true);
        let gradients = self.with(&inputs[1..], |mlp| {
            mlp.backward(slice(&inputs[0]), &tape, gradient.storage_mut(), wanted[0], of_parameters)
        });
        let mut values = vec![gradients.x];
        for layer in gradients.layers.into_iter().flatten() {
            values.extend([Some(layer.weight), Some(layer.bias)]);
            values.extend(layer.norm.into_iter().flatten().map(Some));
        }
        values.resize(N, None);
        let mut tensors = inputs.iter().zip(values).map(|(input, values)| {
            let values = values?;
            Some(FlexTensor::from_data(burn::tensor::TensorData::new(values, input.layout().shape().clone())))
        });
        std::array::from_fn(|_| tensors.next().flatten())
    }
}
