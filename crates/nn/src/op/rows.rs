//! Row-wise distances as a differentiable operation.

use super::{Operation, chunked, contiguous, is_flex, size, slice, tensor, tracked};
use crate::kernel::{self, PairForm};
use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, autodiff::checkpoint::strategy::CheckpointStrategy,
        backend_extension, flex::FlexTensor, tensor::FloatTensor,
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

/// The pairs `(x_i, y_i)` of a form.
#[derive(Clone, Copy, Debug)]
struct Rows(PairForm);

impl Operation<Flex, 3> for Rows {
    type Record = [FlexTensor; 3];

    fn forward(self, inputs: [FlexTensor; 3]) -> FlexTensor {
        self.forward_recorded(inputs).0
    }

    fn forward_recorded(self, inputs: [FlexTensor; 3]) -> (FlexTensor, Self::Record) {
        let inputs = inputs.map(contiguous);
        let [x, y, mix] = &inputs;
        let values = kernel::rowwise(self.0, slice(x), slice(y), slice(mix)[0]);
        (tensor(values, [size(x, 0)]), inputs)
    }

    fn backward(
        self,
        gradient: FlexTensor,
        [x, y, mix]: Self::Record,
        _wanted: [bool; 3],
    ) -> [Option<FlexTensor>; 3] {
        let gradient = contiguous(gradient);
        let sums = kernel::rowwise_backward(self.0, slice(&x), slice(&y), slice(&mix)[0], slice(&gradient));
        let shape = [size(&x, 0), self.0.width()];
        [tensor(sums.dx, shape), tensor(sums.dy, shape), tensor(vec![sums.dmix as f32], [1])].map(Some)
    }
}

impl RowOps for Flex {
    fn row_values(x: FlexTensor, y: FlexTensor, mix: FlexTensor, form: PairForm) -> FlexTensor {
        Rows(form).forward([x, y, mix])
    }
}

impl<C: CheckpointStrategy> RowOps for Autodiff<Flex, C> {
    fn row_values(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
    ) -> FloatTensor<Self> {
        tracked::<Flex, C, _, 3>(Rows(form), [x, y, mix])
    }
}
