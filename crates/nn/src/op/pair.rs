//! All pairs as a differentiable operation.

use super::{chunked, contiguous, has_pair_kernels, size, slice, tensor};
use crate::kernel::{self, PairForm, Pairs, Tape};
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
use std::{fmt::Debug, sync::Arc};

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

/// What a backend supplies: a forward pass that may leave something for the backward pass.
pub trait PairKernels: Backend {
    /// What is left.
    type Record: Clone + Debug + Send + Sync + 'static;

    /// Values `[n, m]`.
    fn forward(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
        record: bool,
    ) -> (FloatTensor<Self>, Self::Record);

    /// Gradients of `x`, `y` and the mix.
    fn backward(
        gradient: FloatTensor<Self>,
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
        record: Self::Record,
    ) -> [FloatTensor<Self>; 3];
}

/// Tapes above this size are not kept: the backward pass repeats the forward pass block by block.
const LARGEST_TAPE_BYTES: usize = 64 << 20;

impl PairKernels for Flex {
    type Record = Option<Arc<Tape>>;

    fn forward(
        x: FlexTensor,
        y: FlexTensor,
        mix: FlexTensor,
        form: PairForm,
        record: bool,
    ) -> (FlexTensor, Self::Record) {
        let (x, y, mix) = (contiguous(x), contiguous(y), contiguous(mix));
        let (n, m) = (size(&x, 0), size(&y, 0));
        let pairs = Pairs::new(form, slice(&x), slice(&y), slice(&mix)[0]);
        let mut tape = (record && Tape::bytes(form, n, m) <= LARGEST_TAPE_BYTES).then(Tape::default);
        let values = kernel::all_pairs(&pairs, tape.as_mut());
        (tensor(values, [n, m]), tape.map(Arc::new))
    }

    fn backward(
        gradient: FlexTensor,
        x: FlexTensor,
        y: FlexTensor,
        mix: FlexTensor,
        form: PairForm,
        record: Self::Record,
    ) -> [FlexTensor; 3] {
        let (gradient, x, y, mix) = (contiguous(gradient), contiguous(x), contiguous(y), contiguous(mix));
        let pairs = Pairs::new(form, slice(&x), slice(&y), slice(&mix)[0]);
        let sums = kernel::all_pairs_backward(&pairs, slice(&gradient), record.as_deref());
        let width = form.width();
        [
            tensor(sums.dx, [size(&x, 0), width]),
            tensor(sums.dy, [size(&y, 0), width]),
            tensor(vec![sums.dmix as f32], [1]),
        ]
    }
}

impl PairOps for Flex {
    fn pair_values(x: FlexTensor, y: FlexTensor, mix: FlexTensor, form: PairForm) -> FlexTensor {
        Self::forward(x, y, mix, form, false).0
    }
}

#[cfg(feature = "wgpu")]
mod gpu {
    use super::{FloatTensor, PairForm, PairKernels, PairOps, Tensor, chunked};
    use burn::backend::Cube;

    impl PairKernels for Cube {
        type Record = ();

        fn forward(
            x: FloatTensor<Self>,
            y: FloatTensor<Self>,
            mix: FloatTensor<Self>,
            form: PairForm,
            _record: bool,
        ) -> (FloatTensor<Self>, ()) {
            let [x, y] = [x, y].map(Tensor::<2>::from_primitive::<Self>);
            let values = chunked::forward(form, x, y, Tensor::from_primitive::<Self>(mix));
            (values.try_into_primitive::<Self>().expect("stays on its device"), ())
        }

        fn backward(
            gradient: FloatTensor<Self>,
            x: FloatTensor<Self>,
            y: FloatTensor<Self>,
            mix: FloatTensor<Self>,
            form: PairForm,
            (): (),
        ) -> [FloatTensor<Self>; 3] {
            let [gradient, x, y] = [gradient, x, y].map(Tensor::<2>::from_primitive::<Self>);
            let (dx, dy, dmix) = chunked::backward(form, gradient, x, y, Tensor::from_primitive::<Self>(mix));
            [
                dx.try_into_primitive::<Self>().expect("stays on its device"),
                dy.try_into_primitive::<Self>().expect("stays on its device"),
                dmix.try_into_primitive::<Self>().expect("stays on its device"),
            ]
        }
    }

    impl PairOps for Cube {
        fn pair_values(
            x: FloatTensor<Self>,
            y: FloatTensor<Self>,
            mix: FloatTensor<Self>,
            form: PairForm,
        ) -> FloatTensor<Self> {
            Self::forward(x, y, mix, form, false).0
        }
    }
}

impl<B: PairOps + PairKernels, C: CheckpointStrategy> PairOps for Autodiff<B, C> {
    fn pair_values(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        form: PairForm,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct PairBackward;

        impl<B: PairKernels> Backward<B, 3> for PairBackward {
            type State = ([FloatTensor<B>; 3], PairForm, B::Record);

            fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<B>(&ops.node);
                let ([x, y, mix], form, record) = ops.state;
                let gradients = B::backward(gradient, x, y, mix, form, record);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let Some(parent) = parent {
                        grads.register::<B>(parent.id, gradient);
                    }
                }
            }
        }

        let prepared = PairBackward.prepare::<C>([x.node(), y.node(), mix.node()]).compute_bound();
        let inputs = [x.into_primitive(), y.into_primitive(), mix.into_primitive()];
        match prepared.stateful() {
            OpsKind::Tracked(prepared) => {
                let [x, y, mix] = inputs.clone();
                let (values, record) = B::forward(x, y, mix, form, true);
                prepared.finish((inputs, form, record), values)
            }
            OpsKind::UnTracked(prepared) => {
                let [x, y, mix] = inputs;
                prepared.finish(B::pair_values(x, y, mix, form))
            }
        }
    }
}
