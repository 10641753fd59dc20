//! Linear layers and layer normalisation as differentiable operations.

use super::{contiguous, is_flex, owned, size, slice, tensor};
use crate::kernel::{self, Activation, GELU_CUBIC, GELU_SLOPE, NORM_EPSILON};
use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        backend_extension,
        flex::FlexTensor,
        tensor::FloatTensor,
    },
    tensor::{Tensor, activation},
};
use std::sync::Arc;

/// `act(x w + b)`: `x: [n, inputs]`, `w: [inputs, outputs]`, `b: [outputs]` give `[n, outputs]`.
pub fn linear(x: Tensor<2>, w: Tensor<2>, b: Tensor<1>, act: Activation) -> Tensor<2> {
    if !is_flex(&x.device()) {
        return activate(x.matmul(w) + b.unsqueeze(), act);
    }
    Tensor::from_dispatch(<Dispatch as DenseOps>::dense_linear(
        x.into_dispatch(),
        w.into_dispatch(),
        b.into_dispatch(),
        act,
    ))
}

/// `act(gain * (x - mean) / sqrt(variance + 1e-5) + shift)` over the rows of `x: [n, width]`; `gain, shift: [width]`.
pub fn layer_norm(x: Tensor<2>, gain: Tensor<1>, shift: Tensor<1>, act: Activation) -> Tensor<2> {
    if !is_flex(&x.device()) {
        let centred = x.clone() - x.mean_dim(1);
        let deviation = (centred.clone().square().mean_dim(1) + NORM_EPSILON).sqrt();
        return activate(centred / deviation * gain.unsqueeze() + shift.unsqueeze(), act);
    }
    Tensor::from_dispatch(<Dispatch as DenseOps>::dense_layer_norm(
        x.into_dispatch(),
        gain.into_dispatch(),
        shift.into_dispatch(),
        act,
    ))
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

/// Routed to the CPU backend.
#[backend_extension(Autodiff, Flex)]
pub trait DenseOps: Backend {
    /// See [`linear`].
    fn dense_linear(
        x: FloatTensor<Self>,
        w: FloatTensor<Self>,
        b: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self>;

    /// See [`layer_norm`].
    fn dense_layer_norm(
        x: FloatTensor<Self>,
        gain: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self>;
}

impl DenseOps for Flex {
    fn dense_linear(x: FlexTensor, w: FlexTensor, b: FlexTensor, act: Activation) -> FlexTensor {
        let (x, w, b) = (contiguous(x), contiguous(w), contiguous(b));
        let y = kernel::linear(slice(&x), slice(&w), slice(&b), act, false).y;
        tensor(y, [size(&x, 0), size(&w, 1)])
    }

    fn dense_layer_norm(x: FlexTensor, gain: FlexTensor, shift: FlexTensor, act: Activation) -> FlexTensor {
        let (mut x, gain, shift) = (owned(x), contiguous(gain), contiguous(shift));
        let (y, _) = kernel::layer_norm(x.storage_mut(), slice(&gain), slice(&shift), act);
        tensor(y, [size(&x, 0), size(&x, 1)])
    }
}

impl<C: CheckpointStrategy> DenseOps for Autodiff<Flex, C> {
    fn dense_linear(
        x: FloatTensor<Self>,
        w: FloatTensor<Self>,
        b: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct LinearBackward;

        impl Backward<Flex, 3> for LinearBackward {
            /// Input, weights, activation, and what its derivative needs: pre-activations, or the outputs of a `Relu`.
            type State = (FlexTensor, FlexTensor, Activation, Option<FlexTensor>);

            fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
                let [of_x, of_w, of_b] = ops.parents;
                let mut gradient = owned(grads.consume::<Flex>(&ops.node));
                let (x, w, act, z) = ops.state;
                let (n, inputs, outputs) = (size(&x, 0), size(&x, 1), size(&w, 1));
                if z.is_some() || of_b.is_some() {
                    let z = z.as_ref().map(slice);
                    let db = kernel::linear_backward_bias(gradient.storage_mut(), z, act, outputs);
                    if let Some(parent) = of_b {
                        grads.register::<Flex>(parent.id, tensor(db, [outputs]));
                    }
                }
                let gradient = slice(&gradient);
                if let Some(parent) = of_x {
                    let dx = kernel::linear_backward_input(gradient, slice(&w), outputs);
                    grads.register::<Flex>(parent.id, tensor(dx, [n, inputs]));
                }
                if let Some(parent) = of_w {
                    let dw = kernel::linear_backward_weight(slice(&x), gradient, inputs, outputs);
                    grads.register::<Flex>(parent.id, tensor(dw, [inputs, outputs]));
                }
            }
        }

        let prepared = LinearBackward.prepare::<C>([x.node(), w.node(), b.node()]).compute_bound();
        let [x, w, b] = [x, w, b].map(|input| contiguous(input.into_primitive()));
        match prepared.stateful() {
            OpsKind::Tracked(prepared) => {
                let shape = [size(&x, 0), size(&w, 1)];
                let output = kernel::linear(slice(&x), slice(&w), slice(&b), act, true);
                let y = tensor(output.y, shape);
                let z = match act {
                    Activation::Identity => None,
                    Activation::Relu => Some(y.clone()),
                    Activation::Gelu | Activation::Silu => output.z.map(|z| tensor(z, shape)),
                };
                prepared.finish((x, w, act, z), y)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::dense_linear(x, w, b, act)),
        }
    }

    fn dense_layer_norm(
        x: FloatTensor<Self>,
        gain: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        act: Activation,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct NormBackward;

        impl Backward<Flex, 3> for NormBackward {
            /// Normalised input, inverse deviations, gain, shift, activation.
            type State = (FlexTensor, Arc<Vec<f32>>, FlexTensor, FlexTensor, Activation);

            fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
                let [of_x, of_gain, of_shift] = ops.parents;
                let mut gradient = owned(grads.consume::<Flex>(&ops.node));
                let (normalised, inverse, gain, shift, act) = ops.state;
                let (dgain, dshift) = kernel::layer_norm_backward(
                    gradient.storage_mut(),
                    slice(&normalised),
                    &inverse,
                    slice(&gain),
                    slice(&shift),
                    act,
                );
                let width = size(&gain, 0);
                if let Some(parent) = of_gain {
                    grads.register::<Flex>(parent.id, tensor(dgain, [width]));
                }
                if let Some(parent) = of_shift {
                    grads.register::<Flex>(parent.id, tensor(dshift, [width]));
                }
                if let Some(parent) = of_x {
                    grads.register::<Flex>(parent.id, gradient);
                }
            }
        }

        let prepared = NormBackward.prepare::<C>([x.node(), gain.node(), shift.node()]).compute_bound();
        let mut x = owned(x.into_primitive());
        let [gain, shift] = [gain, shift].map(|input| contiguous(input.into_primitive()));
        match prepared.stateful() {
            OpsKind::Tracked(prepared) => {
                let (y, inverse) = kernel::layer_norm(x.storage_mut(), slice(&gain), slice(&shift), act);
                let y = tensor(y, [size(&x, 0), size(&x, 1)]);
                prepared.finish((x, Arc::new(inverse), gain, shift, act), y)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::dense_layer_norm(x, gain, shift, act)),
        }
    }
}
