//! Linear layers and layer normalization as differentiable operations.

use super::{Operation, contiguous, is_flex, on_cpu, owned, size, slice, tensor};
use crate::kernel::{self, Activation, GELU_CUBIC, GELU_SLOPE, Matrix, NORM_EPSILON, multiply};
use burn::{
    backend::{Flex, flex::FlexTensor},
    tensor::{Tensor, activation},
};
use std::sync::Arc;

/// Returns `act(x w + b)`: `x: [n, inputs]`, `w: [inputs, outputs]`, `b: [outputs]` give `[n,
/// outputs]`.
pub fn linear(x: Tensor<2>, w: Tensor<2>, b: Tensor<1>, act: Activation) -> Tensor<2> {
    if !is_flex(&x.device()) {
        return activate(x.matmul(w) + b.unsqueeze(), act);
    }
    on_cpu(Linear(act), [x.into_dispatch(), w.into_dispatch(), b.into_dispatch()])
}

/// Returns `act(gain * (x - mean) / sqrt(variance + 1e-5) + shift)` over the rows of
/// `x: [n, width]`; `gain, shift: [width]`.
pub fn layer_norm(x: Tensor<2>, gain: Tensor<1>, shift: Tensor<1>, act: Activation) -> Tensor<2> {
    if !is_flex(&x.device()) {
        let centered = x.clone() - x.mean_dim(1);
        let deviation = (centered.clone().square().mean_dim(1) + NORM_EPSILON).sqrt();
        return activate(centered / deviation * gain.unsqueeze() + shift.unsqueeze(), act);
    }
    on_cpu(LayerNorm(act), [x.into_dispatch(), gain.into_dispatch(), shift.into_dispatch()])
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

/// The operation [`linear`].
#[derive(Clone, Copy, Debug)]
struct Linear(Activation);

impl Operation<Flex, 3> for Linear {
    /// Input, weights, and the argument of the activation's derivative: pre-activations, or the
    /// outputs of a `Relu`.
    type Record = (FlexTensor, FlexTensor, Option<FlexTensor>);

    fn forward(self, inputs: [FlexTensor; 3]) -> FlexTensor {
        let [x, w, b] = inputs.map(contiguous);
        let (y, _) = kernel::linear(slice(&x), slice(&w), slice(&b), self.0, false);
        tensor(y, [size(&x, 0), size(&w, 1)])
    }

    fn forward_recorded(self, inputs: [FlexTensor; 3]) -> (FlexTensor, Self::Record) {
        let [x, w, b] = inputs.map(contiguous);
        let shape = [size(&x, 0), size(&w, 1)];
        let (y, z) = kernel::linear(slice(&x), slice(&w), slice(&b), self.0, true);
        let (y, z) = (tensor(y, shape), z.map(|z| tensor(z, shape)));
        let z = if self.0 == Activation::Relu { Some(y.clone()) } else { z };
        (y, (x, w, z))
    }

    fn backward(
        self,
        gradient: FlexTensor,
        (x, w, z): Self::Record,
        [of_x, of_w, of_b]: [bool; 3],
    ) -> [Option<FlexTensor>; 3] {
        let mut gradient = owned(gradient);
        let (n, inputs, outputs) = (size(&x, 0), size(&x, 1), size(&w, 1));
        let db = (z.is_some() || of_b).then(|| {
            let z = z.as_ref().map(slice);
            tensor(kernel::linear_backward_bias(gradient.storage_mut(), z, self.0, outputs), [outputs])
        });
        let gradient = Matrix::new(slice(&gradient), outputs);
        let (x, w) = (Matrix::new(slice(&x), inputs), Matrix::new(slice(&w), outputs));
        let dx = of_x.then(|| tensor(multiply(gradient, w.transposed()), [n, inputs]));
        let dw = of_w.then(|| tensor(multiply(x.transposed(), gradient), [inputs, outputs]));
        [dx, dw, db]
    }
}

/// The operation [`layer_norm`].
#[derive(Clone, Copy, Debug)]
struct LayerNorm(Activation);

impl Operation<Flex, 3> for LayerNorm {
    /// Normalized input, inverse standard deviations, gain, shift.
    type Record = (FlexTensor, Arc<Vec<f32>>, FlexTensor, FlexTensor);

    fn forward_recorded(self, [x, gain, shift]: [FlexTensor; 3]) -> (FlexTensor, Self::Record) {
        let (mut x, gain, shift) = (owned(x), contiguous(gain), contiguous(shift));
        let (y, inverse) = kernel::layer_norm(x.storage_mut(), [slice(&gain), slice(&shift)], self.0);
        (tensor(y, [size(&x, 0), size(&x, 1)]), (x, Arc::new(inverse), gain, shift))
    }

    fn backward(
        self,
        gradient: FlexTensor,
        (normalized, inverse, gain, shift): Self::Record,
        _wanted: [bool; 3],
    ) -> [Option<FlexTensor>; 3] {
        let mut gradient = owned(gradient);
        let (to, affine) = (gradient.storage_mut(), [slice(&gain), slice(&shift)]);
        let (dgain, dshift) = kernel::layer_norm_backward(to, slice(&normalized), &inverse, affine, self.0);
        let width = size(&gain, 0);
        [gradient, tensor(dgain, [width]), tensor(dshift, [width])].map(Some)
    }
}
