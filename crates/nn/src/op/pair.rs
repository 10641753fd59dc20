//! Values of all pairs, or of paired rows, as differentiable operations.

use super::{
    Operation, chunked, contiguous, has_pair_kernels, is_flex, on_cpu, operation::dispatched, size, slice,
    tensor, tracked,
};
use crate::kernel::{self, PairForm, Pairs, Tape};
use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, autodiff::checkpoint::strategy::CheckpointStrategy,
        backend_extension, flex::FlexTensor, tensor::FloatTensor,
    },
    tensor::Tensor,
};
use std::sync::Arc;

/// Returns the values of all pairs: `x: [n, width]`, `y: [m, width]` give `[n, m]`.
///
/// `mix: [1]` is the weight of the longest group of an interval form, in `[0, 1]`; other forms
/// ignore it. The memory is `O((n + m) width + n m)`, not `O(n m width)`.
pub fn all_pairs(form: PairForm, x: Tensor<2>, y: Tensor<2>, mix: Tensor<1>) -> Tensor<2> {
    assert_eq!(
        [x.dims()[1], y.dims()[1]],
        [form.width(); 2],
        "x and y must have the latent width of {form:?}"
    );
    // On the CPU, Burn would use one thread.
    if matches!(form, PairForm::InnerProduct { .. }) && !is_flex(&x.device()) {
        return x.matmul(y.transpose());
    }
    if !has_pair_kernels(&x.device()) {
        return chunked::differentiable(form, x, y, mix);
    }
    Tensor::from_dispatch(<Dispatch as PairOps>::value(
        x.into_dispatch(),
        y.into_dispatch(),
        mix.into_dispatch(),
        form,
    ))
}

/// Returns the inner products of all rows: `x: [n, width]`, `y: [m, width]` give `[n, m]`.
///
/// Unlike Burn's product, it keeps to the [`InstructionSet`](isochrone_core::InstructionSet) in use
/// on the CPU.
pub fn inner_products(x: Tensor<2>, y: Tensor<2>) -> Tensor<2> {
    let (form, mix) = (PairForm::InnerProduct { width: x.dims()[1] }, Tensor::zeros([1], &x.device()));
    all_pairs(form, x, y, mix)
}

dispatched!(PairOps, PairForm, 3, x, y, mix);

/// The maximum size of a stored tape. Above it, the backward pass recomputes the forward pass block
/// by block.
const MAX_TAPE_BYTES: usize = 64 << 20;

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
        let mut tape = (Tape::bytes(self, n, m) <= MAX_TAPE_BYTES).then(Tape::default);
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

#[cfg(feature = "wgpu")]
mod gpu {
    use super::{super::primitive, FloatTensor, Operation, PairForm, Tensor, chunked};
    use burn::backend::Cube;

    impl Operation<Cube, 3> for PairForm {
        type Record = [FloatTensor<Cube>; 3];

        fn forward_recorded(self, inputs: [FloatTensor<Cube>; 3]) -> (FloatTensor<Cube>, Self::Record) {
            let [x, y, mix] = inputs.clone();
            let [x, y] = [x, y].map(Tensor::<2>::from_primitive::<Cube>);
            let values = chunked::forward(self, x, y, Tensor::from_primitive::<Cube>(mix));
            (primitive(values), inputs)
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
}

/// Returns the values of the pairs `(x_i, y_i)`: `x, y: [n, width]` give `[n]`; `mix` as in
/// [`all_pairs`].
pub fn rowwise(form: PairForm, x: Tensor<2>, y: Tensor<2>, mix: Tensor<1>) -> Tensor<1> {
    assert_eq!(x.dims(), y.dims(), "x and y must have the same shape");
    assert_eq!(x.dims()[1], form.width(), "x and y must have the latent width of {form:?}");
    if !is_flex(&x.device()) {
        return chunked::rowwise(form, x, y, mix);
    }
    on_cpu(Rows(form), [x.into_dispatch(), y.into_dispatch(), mix.into_dispatch()])
}

/// The pairs `(x_i, y_i)` of a form.
#[derive(Clone, Copy, Debug)]
struct Rows(PairForm);

impl Operation<Flex, 3> for Rows {
    type Record = [FlexTensor; 3];

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
