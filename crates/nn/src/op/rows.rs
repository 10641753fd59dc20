//! Row-wise distances as a differentiable operation.

use super::{chunked, contiguous, is_flex, size, slice, tensor};
use crate::kernel::{self, PairForm};
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
    tensor::Tensor,
};

/// Values of the pairs `(x_i, y_i)`: `x, y: [n, width]` give `[n]`; `mix` as in [`super::all_pairs`].
pub fn rowwise(form: PairForm, x: Tensor<2>, y: Tensor<2>, mix: Tensor<1>) -> Tensor<1> {
    assert_eq!(x.dims(), y.dims(), "row by row wants as many rows of x as of y");
    assert_eq!(x.dims()[1], form.width(), "latent width of the rows and of {form:?}");
    if !is_flex(&x.device()) {
        return chunked::rowwise(form, x, y, mix);
    }
    Tensor::from_dispatch(<Dispatch as RowOps>::row_values(
        x.into_dispatch(),
        y.into_dispatch(),
        mix.into_dispatch(),
        form,
    ))
}

/// Routed to the CPU backend.
#[backend_extension(Autodiff, Flex)]
pub trait RowOps: Backend {
    /// See [`rowwise`].
    fn row_values(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
    ) -> FloatTensor<Self>;
}

impl RowOps for Flex {
    fn row_values(x: FlexTensor, y: FlexTensor, mix: FlexTensor, form: PairForm) -> FlexTensor {
        let (x, y, mix) = (contiguous(x), contiguous(y), contiguous(mix));
        let n = size(&x, 0);
        tensor(kernel::rowwise(form, slice(&x), slice(&y), slice(&mix)[0]), [n])
    }
}

impl<C: CheckpointStrategy> RowOps for Autodiff<Flex, C> {
    fn row_values(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct RowBackward;

        impl Backward<Flex, 3> for RowBackward {
            type State = ([FlexTensor; 3], PairForm);

            fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = contiguous(grads.consume::<Flex>(&ops.node));
                let ([x, y, mix], form) = ops.state;
                let sums =
                    kernel::rowwise_backward(form, slice(&x), slice(&y), slice(&mix)[0], slice(&gradient));
                let shape = [size(&x, 0), form.width()];
                let [of_x, of_y, of_mix] = ops.parents;
                if let Some(parent) = of_x {
                    grads.register::<Flex>(parent.id, tensor(sums.dx, shape));
                }
                if let Some(parent) = of_y {
                    grads.register::<Flex>(parent.id, tensor(sums.dy, shape));
                }
                if let Some(parent) = of_mix {
                    grads.register::<Flex>(parent.id, tensor(vec![sums.dmix as f32], [1]));
                }
            }
        }

        let prepared = RowBackward.prepare::<C>([x.node(), y.node(), mix.node()]).compute_bound();
        let inputs = [x, y, mix].map(|input| contiguous(input.into_primitive()));
        let [x, y, mix] = inputs.clone();
        let values = Flex::row_values(x, y, mix, form);
        match prepared.stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((inputs, form), values),
            OpsKind::UnTracked(prepared) => prepared.finish(values),
        }
    }
}
