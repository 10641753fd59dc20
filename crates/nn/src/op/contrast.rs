//! Contrastive losses over all pairs as one differentiable operation.

use super::{chunked_contrast, contiguous, has_pair_kernels, size, slice, tensor};
use crate::kernel::{Contrast, Kept, LogSums, Objective, PairForm, Pairs, Tape};
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

/// Which contrastive problem: the form of the pairs, the factor of the value in a logit (with its sign), the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContrastSpec {
    /// How rows are compared.
    pub form: PairForm,
    /// `f_ij = potential_j + slope * value_ij`
    pub slope: f32,
    /// What is learned from the logits.
    pub objective: Objective,
}

/// The statistics of [`crate::kernel::STATISTICS`] as `[6]`, of which only the first, the loss, is differentiable.
///
/// `x, y: [n, width]`, `potential: [n]`; positives are the pairs `(x_i, y_i)`. The `n x n` matrix is held only while it is
/// small.
pub fn contrast(
    spec: ContrastSpec,
    x: Tensor<2>,
    y: Tensor<2>,
    potential: Tensor<1>,
    mix: Tensor<1>,
) -> Tensor<1> {
    assert_eq!(x.dims(), y.dims(), "positives are the pairs (x_i, y_i)");
    assert_eq!(x.dims()[1], spec.form.width(), "latent width of the rows and of {:?}", spec.form);
    assert_eq!(x.dims()[0], potential.dims()[0], "one potential per goal");
    if !has_pair_kernels(&x.device()) {
        return chunked_contrast::differentiable(spec, x, y, potential, mix);
    }
    Tensor::from_dispatch(<Dispatch as ContrastOps>::contrast_statistics(
        x.into_dispatch(),
        y.into_dispatch(),
        potential.into_dispatch(),
        mix.into_dispatch(),
        spec,
    ))
}

/// Routed to the backend of the tensors.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "wgpu"))]
pub trait ContrastOps: Backend {
    /// The statistics `[6]`.
    fn contrast_statistics(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        potential: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        spec: ContrastSpec,
    ) -> FloatTensor<Self>;
}

/// What a backend supplies.
pub trait ContrastKernels: Backend {
    /// What the forward pass leaves.
    type Record: Clone + Debug + Send + Sync + 'static;

    /// The statistics `[6]` of `[x, y, potential, mix]`.
    fn forward(
        inputs: [FloatTensor<Self>; 4],
        spec: ContrastSpec,
        record: bool,
    ) -> (FloatTensor<Self>, Self::Record);

    /// Gradients of the inputs, given that of the statistics.
    fn backward(
        gradient: FloatTensor<Self>,
        inputs: [FloatTensor<Self>; 4],
        spec: ContrastSpec,
        record: Self::Record,
    ) -> [FloatTensor<Self>; 4];
}

/// The matrix of values and its tape are kept for the backward pass up to this size; above it, both passes work block by
/// block and the forward pass is repeated. Measured: beyond the cache, repeating costs no more than writing and reading.
const LARGEST_KEPT_BYTES: usize = 64 << 20;

impl ContrastKernels for Flex {
    type Record = (LogSums, Option<Arc<Kept>>);

    fn forward(inputs: [FlexTensor; 4], spec: ContrastSpec, record: bool) -> (FlexTensor, Self::Record) {
        let [x, y, potential, mix] = inputs.map(contiguous);
        let n = size(&x, 0);
        let pairs = Pairs::new(spec.form, slice(&x), slice(&y), slice(&mix)[0]);
        let bytes = n * n * size_of::<f32>() + Tape::bytes(spec.form, n, n);
        let mut kept = (record && bytes <= LARGEST_KEPT_BYTES).then(Kept::take);
        let contrast = Contrast {
            pairs: &pairs,
            potential: slice(&potential),
            slope: spec.slope,
            objective: spec.objective,
        };
        let (statistics, sums) = contrast.forward(kept.as_mut());
        (tensor(statistics.to_vec(), [statistics.len()]), (sums, kept.map(Arc::new)))
    }

    fn backward(
        gradient: FlexTensor,
        inputs: [FlexTensor; 4],
        spec: ContrastSpec,
        (sums, kept): Self::Record,
    ) -> [FlexTensor; 4] {
        let upstream = slice(&contiguous(gradient))[0];
        let [x, y, potential, mix] = inputs.map(contiguous);
        let pairs = Pairs::new(spec.form, slice(&x), slice(&y), slice(&mix)[0]);
        let contrast = Contrast {
            pairs: &pairs,
            potential: slice(&potential),
            slope: spec.slope,
            objective: spec.objective,
        };
        let mut kept = kept.map(Arc::unwrap_or_clone);
        let (pairs, dpotential) = contrast.backward(&sums, kept.as_mut(), upstream);
        if let Some(kept) = kept {
            kept.give_back();
        }
        let (n, width) = (size(&x, 0), spec.form.width());
        [
            tensor(pairs.dx, [n, width]),
            tensor(pairs.dy, [n, width]),
            tensor(dpotential, [n]),
            tensor(vec![pairs.dmix as f32], [1]),
        ]
    }
}

impl ContrastOps for Flex {
    fn contrast_statistics(
        x: FlexTensor,
        y: FlexTensor,
        potential: FlexTensor,
        mix: FlexTensor,
        spec: ContrastSpec,
    ) -> FlexTensor {
        <Self as ContrastKernels>::forward([x, y, potential, mix], spec, false).0
    }
}

impl<B: ContrastOps + ContrastKernels, C: CheckpointStrategy> ContrastOps for Autodiff<B, C> {
    fn contrast_statistics(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        potential: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        spec: ContrastSpec,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct ContrastBackward;

        impl<B: ContrastKernels> Backward<B, 4> for ContrastBackward {
            type State = ([FloatTensor<B>; 4], ContrastSpec, B::Record);

            fn backward(self, ops: Ops<Self::State, 4>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<B>(&ops.node);
                let (inputs, spec, record) = ops.state;
                let gradients = B::backward(gradient, inputs, spec, record);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let Some(parent) = parent {
                        grads.register::<B>(parent.id, gradient);
                    }
                }
            }
        }

        let nodes = [x.node(), y.node(), potential.node(), mix.node()];
        let prepared = ContrastBackward.prepare::<C>(nodes).compute_bound();
        let inputs =
            [x.into_primitive(), y.into_primitive(), potential.into_primitive(), mix.into_primitive()];
        match prepared.stateful() {
            OpsKind::Tracked(prepared) => {
                let (statistics, record) = B::forward(inputs.clone(), spec, true);
                prepared.finish((inputs, spec, record), statistics)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(B::forward(inputs, spec, false).0),
        }
    }
}

#[cfg(feature = "wgpu")]
mod gpu {
    use super::{ContrastKernels, ContrastOps, ContrastSpec, FloatTensor, Tensor};
    use crate::op::chunked_contrast;
    use burn::backend::Cube;

    impl ContrastKernels for Cube {
        /// Log-sum-exps of rows and columns.
        type Record = (FloatTensor<Self>, FloatTensor<Self>);

        fn forward(
            [x, y, potential, mix]: [FloatTensor<Self>; 4],
            spec: ContrastSpec,
            _record: bool,
        ) -> (FloatTensor<Self>, Self::Record) {
            let [x, y] = [x, y].map(Tensor::<2>::from_primitive::<Self>);
            let [potential, mix] = [potential, mix].map(Tensor::<1>::from_primitive::<Self>);
            let (statistics, rows, columns) = chunked_contrast::forward(spec, x, y, potential, mix);
            let [statistics, rows, columns] = [statistics, rows, columns].map(primitive);
            (statistics, (rows, columns))
        }

        fn backward(
            gradient: FloatTensor<Self>,
            [x, y, potential, mix]: [FloatTensor<Self>; 4],
            spec: ContrastSpec,
            (rows, columns): Self::Record,
        ) -> [FloatTensor<Self>; 4] {
            let [x, y] = [x, y].map(Tensor::<2>::from_primitive::<Self>);
            let [gradient, potential, mix, rows, columns] =
                [gradient, potential, mix, rows, columns].map(Tensor::<1>::from_primitive::<Self>);
            let (dx, dy, dpotential, dmix) =
                chunked_contrast::backward(spec, gradient, x, y, potential, mix, rows, columns);
            [primitive(dx), primitive(dy), primitive(dpotential), primitive(dmix)]
        }
    }

    fn primitive<const D: usize>(tensor: Tensor<D>) -> FloatTensor<Cube> {
        tensor.try_into_primitive::<Cube>().expect("stays on its device")
    }

    impl ContrastOps for Cube {
        fn contrast_statistics(
            x: FloatTensor<Self>,
            y: FloatTensor<Self>,
            potential: FloatTensor<Self>,
            mix: FloatTensor<Self>,
            spec: ContrastSpec,
        ) -> FloatTensor<Self> {
            <Self as ContrastKernels>::forward([x, y, potential, mix], spec, false).0
        }
    }
}
