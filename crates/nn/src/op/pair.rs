//! All pairs as a differentiable operation.

use super::{Operation, chunked, contiguous, has_pair_kernels, size, slice, tensor, tracked};
use crate::kernel::{self, PairForm, Pairs, Tape};
use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, autodiff::checkpoint::strategy::CheckpointStrategy,
        backend_extension, flex::FlexTensor, tensor::FloatTensor,
    },
    tensor::Tensor,
};
use std::sync::Arc;

/// Values of all pairs: `x: [n, width]`, `y: [m, width]` give `[n, m]`.
///
/// `mix: [1]` is the weight of the longest group of an interval form, in `[0, 1]`; other forms ignore it. Memory is
/// `O((n + m) width + n m)`; nothing of size `n m width` exists.
pub fn all_pairs(form: PairForm, x: Tensor<2>, y: Tensor<2>, mix: Tensor<1>) -> Tensor<2> {
    assert_eq!([x.dims()[1], y.dims()[1]], [form.width(); 2], "latent width of the rows and of {form:?}");
    if let PairForm::InnerProduct { .. } = form {
        return x.matmul(y.transpose());
    }
    if !has_pair_kernels(&x.device()) {
        return chunked::differentiable(form, x, y, mix);
    }
    Tensor::from_dispatch(<Dispatch as PairOps>::pair_values(
        x.into_dispatch(),
        y.into_dispatch(),
        mix.into_dispatch(),
        form,
    ))
}

/// Routed to the backend of the tensors.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "wgpu"))]
pub trait PairOps: Backend {
    /// See [`all_pairs`].
    fn pair_values(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
    ) -> FloatTensor<Self>;
}

/// Tapes above this size are not kept: the backward pass repeats the forward pass block by block.
const LARGEST_TAPE_BYTES: usize = 64 << 20;

impl Operation<Flex, 3> for PairForm {
    type Record = ([FlexTensor; 3], Option<Arc<Tape>>);

    fn forward(self, inputs: [FlexTensor; 3]) -> FlexTensor {
        let [x, y, mix] = inputs.map(contiguous);
        let pairs = Pairs::new(self, slice(&x), slice(&y), slice(&mix)[0]);
        tensor(kernel::all_pairs(&pairs, None), [pairs.n(), pairs.m()])
    }

    fn forward_recorded(self, inputs: [FlexTensor; 3]) -> (FlexTensor, Self::Record) {
        let inputs = inputs.map(contiguous);
        let [x, y, mix] = &inputs;
        let pairs = Pairs::new(self, slice(x), slice(y), slice(mix)[0]);
        let (n, m) = (pairs.n(), pairs.m());
        let mut tape = (Tape::bytes(self, n, m) <= LARGEST_TAPE_BYTES).then(Tape::default);
        let values = tensor(kernel::all_pairs(&pairs, tape.as_mut()), [n, m]);
        (values, (inputs, tape.map(Arc::new)))
    }

    fn backward(
        self,
        gradient: FlexTensor,
        ([x, y, mix], tape): Self::Record,
        _wanted: [bool; 3],
    ) -> [Option<FlexTensor>; 3] {
        let pairs = Pairs::new(self, slice(&x), slice(&y), slice(&mix)[0]);
        let sums = kernel::all_pairs_backward(&pairs, slice(&contiguous(gradient)), tape.as_deref());
        let dx = tensor(sums.dx, [size(&x, 0), self.width()]);
        let dy = tensor(sums.dy, [size(&y, 0), self.width()]);
        [dx, dy, tensor(vec![sums.dmix as f32], [1])].map(Some)
    }
}

impl PairOps for Flex {
    fn pair_values(x: FlexTensor, y: FlexTensor, mix: FlexTensor, form: PairForm) -> FlexTensor {
        Operation::<Self, 3>::forward(form, [x, y, mix])
    }
}

#[cfg(feature = "wgpu")]
mod gpu {
    use super::{super::primitive, FloatTensor, Operation, PairForm, PairOps, Tensor, chunked};
    use burn::backend::Cube;

    impl Operation<Cube, 3> for PairForm {
        type Record = [FloatTensor<Cube>; 3];

        fn forward(self, [x, y, mix]: [FloatTensor<Cube>; 3]) -> FloatTensor<Cube> {
            let [x, y] = [x, y].map(Tensor::<2>::from_primitive::<Cube>);
            primitive(chunked::forward(self, x, y, Tensor::from_primitive::<Cube>(mix)))
        }

        fn forward_recorded(self, inputs: [FloatTensor<Cube>; 3]) -> (FloatTensor<Cube>, Self::Record) {
            (Operation::<Cube, 3>::forward(self, inputs.clone()), inputs)
        }

        fn backward(
            self,
            gradient: FloatTensor<Cube>,
            [x, y, mix]: Self::Record,
            _wanted: [bool; 3],
        ) -> [Option<FloatTensor<Cube>>; 3] {
            let [gradient, x, y] = [gradient, x, y].map(Tensor::<2>::from_primitive::<Cube>);
            let (dx, dy, dmix) = chunked::backward(self, gradient, x, y, Tensor::from_primitive::<Cube>(mix));
            [primitive(dx), primitive(dy), primitive(dmix)].map(Some)
        }
    }

    impl PairOps for Cube {
        fn pair_values(
            x: FloatTensor<Self>,
            y: FloatTensor<Self>,
            mix: FloatTensor<Self>,
            form: PairForm,
        ) -> FloatTensor<Self> {
            Operation::<Self, 3>::forward(form, [x, y, mix])
        }
    }
}

impl<B: PairOps, C: CheckpointStrategy> PairOps for Autodiff<B, C>
where
    PairForm: Operation<B, 3>,
{
    fn pair_values(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
    ) -> FloatTensor<Self> {
        tracked::<B, C, _, 3>(form, [x, y, mix])
    }
}
