//! Contrastive losses over all pairs as one differentiable operation.

use super::{
    ContrastSpec, Operation, chunked_contrast, contiguous, has_pair_kernels, operation::routed, size, slice,
    tensor, tracked,
};
use crate::kernel::{Contrast, Kept, LogSums, Pairs, Tape};
use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, autodiff::checkpoint::strategy::CheckpointStrategy,
        backend_extension, flex::FlexTensor, tensor::FloatTensor,
    },
    tensor::Tensor,
};
use std::sync::Arc;

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
    Tensor::from_dispatch(<Dispatch as ContrastOps>::value(
        x.into_dispatch(),
        y.into_dispatch(),
        potential.into_dispatch(),
        mix.into_dispatch(),
        spec,
    ))
}

routed!(ContrastOps, ContrastSpec, 4, x, y, potential, mix);

/// The matrix of values and its tape are kept for the backward pass up to this size; above it, both passes work block by
/// block and the forward pass is repeated. Measured: beyond the cache, repeating costs no more than writing and reading.
const LARGEST_KEPT_BYTES: usize = 64 << 20;

impl ContrastSpec {
    /// The loss and its log-sum-exps on plain slices.
    fn on<'a>(&self, pairs: &'a Pairs<'a>, potential: &'a FlexTensor) -> Contrast<'a> {
        Contrast { pairs, potential: slice(potential), slope: self.slope, objective: self.objective }
    }
}

impl Operation<Flex, 4> for ContrastSpec {
    type Record = ([FlexTensor; 4], LogSums, Option<Arc<Kept>>);

    fn forward(self, inputs: [FlexTensor; 4]) -> FlexTensor {
        let [x, y, potential, mix] = inputs.map(contiguous);
        let pairs = Pairs::new(self.form, slice(&x), slice(&y), slice(&mix)[0]);
        let (statistics, _) = self.on(&pairs, &potential).forward(None);
        tensor(statistics.to_vec(), [statistics.len()])
    }

    fn forward_recorded(self, inputs: [FlexTensor; 4]) -> (FlexTensor, Self::Record) {
        let inputs = inputs.map(contiguous);
        let [x, y, potential, mix] = &inputs;
        let pairs = Pairs::new(self.form, slice(x), slice(y), slice(mix)[0]);
        let n = pairs.n();
        let bytes = n * n * size_of::<f32>() + Tape::bytes(self.form, n, n);
        let mut kept = (bytes <= LARGEST_KEPT_BYTES).then(Kept::take);
        let (statistics, sums) = self.on(&pairs, potential).forward(kept.as_mut());
        (tensor(statistics.to_vec(), [statistics.len()]), (inputs, sums, kept.map(Arc::new)))
    }

    fn backward(
        self,
        gradient: FlexTensor,
        ([x, y, potential, mix], sums, kept): Self::Record,
        _wanted: [bool; 4],
    ) -> [Option<FlexTensor>; 4] {
        let upstream = slice(&contiguous(gradient))[0];
        let pairs = Pairs::new(self.form, slice(&x), slice(&y), slice(&mix)[0]);
        let mut kept = kept.map(Arc::unwrap_or_clone);
        let (gradients, dpotential) = self.on(&pairs, &potential).backward(&sums, kept.as_mut(), upstream);
        if let Some(kept) = kept {
            kept.give_back();
        }
        let n = size(&x, 0);
        let [dx, dy] = [gradients.dx, gradients.dy].map(|rows| tensor(rows, [n, self.form.width()]));
        [dx, dy, tensor(dpotential, [n]), tensor(vec![gradients.dmix as f32], [1])].map(Some)
    }
}

#[cfg(feature = "wgpu")]
mod gpu {
    use super::{super::primitive, ContrastSpec, FloatTensor, Operation, Tensor, chunked_contrast};
    use burn::backend::Cube;

    impl Operation<Cube, 4> for ContrastSpec {
        /// The inputs, and the log-sum-exps of rows and columns.
        type Record = ([FloatTensor<Cube>; 4], [FloatTensor<Cube>; 2]);

        fn forward_recorded(self, inputs: [FloatTensor<Cube>; 4]) -> (FloatTensor<Cube>, Self::Record) {
            let [x, y, potential, mix] = inputs.clone();
            let [x, y] = [x, y].map(Tensor::<2>::from_primitive::<Cube>);
            let [potential, mix] = [potential, mix].map(Tensor::<1>::from_primitive::<Cube>);
            let (statistics, rows, columns) = chunked_contrast::forward(self, x, y, potential, mix);
            (primitive(statistics), (inputs, [rows, columns].map(primitive)))
        }

        fn backward(
            self,
            gradient: FloatTensor<Cube>,
            ([x, y, potential, mix], [rows, columns]): Self::Record,
            _wanted: [bool; 4],
        ) -> [Option<FloatTensor<Cube>>; 4] {
            let [x, y] = [x, y].map(Tensor::<2>::from_primitive::<Cube>);
            let [gradient, potential, mix, rows, columns] =
                [gradient, potential, mix, rows, columns].map(Tensor::<1>::from_primitive::<Cube>);
            let (dx, dy, dpotential, dmix) =
                chunked_contrast::backward(self, gradient, x, y, potential, mix, rows, columns);
            [primitive(dx), primitive(dy), primitive(dpotential), primitive(dmix)].map(Some)
        }
    }
}
