//! Contrastive losses over all pairs as a single differentiable operation.

use super::{
    ContrastSpec, Operation, chunked_contrast, contiguous, has_pair_kernels, operation::dispatched, size,
    slice, tensor, tracked,
};
use crate::kernel::{Contrast, ForwardCache, LogSums, Pairs, Tape};
use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, autodiff::checkpoint::strategy::CheckpointStrategy,
        backend_extension, flex::FlexTensor, tensor::FloatTensor,
    },
    tensor::Tensor,
};
use std::sync::Arc;

/// Returns the statistics of [`crate::kernel::STATISTICS`] as `[6]`. Only the first, the loss, is
/// differentiable.
///
/// `x, y: [n, width]`, `potential: [n]`; the positives are the pairs `(x_i, y_i)`. The `n x n`
/// matrix is stored only if it is small.
pub fn contrast(
    spec: ContrastSpec,
    x: Tensor<2>,
    y: Tensor<2>,
    potential: Tensor<1>,
    mix: Tensor<1>,
) -> Tensor<1> {
    assert_eq!(x.dims(), y.dims(), "the positives are the pairs (x_i, y_i)");
    assert_eq!(x.dims()[1], spec.form.width(), "x and y must have the latent width of {:?}", spec.form);
    assert_eq!(x.dims()[0], potential.dims()[0], "there must be one potential per goal");
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

dispatched!(ContrastOps, ContrastSpec, 4, x, y, potential, mix);

/// The maximum size of the matrix of values and its tape that are cached for the backward pass.
/// Above it, both passes work in blocks and the forward pass is recomputed. Measured: beyond the
/// processor cache, recomputing costs no more than writing and reading.
const MAX_CACHED_BYTES: usize = 64 << 20;

impl ContrastSpec {
    /// Returns the problem on plain slices.
    fn on<'a>(&self, pairs: &'a Pairs<'a>, potential: &'a FlexTensor) -> Contrast<'a> {
        Contrast { pairs, potential: slice(potential), slope: self.slope, objective: self.objective }
    }
}

impl Operation<Flex, 4> for ContrastSpec {
    type Record = ([FlexTensor; 4], LogSums, Option<Arc<ForwardCache>>);

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
        let mut cache = (bytes <= MAX_CACHED_BYTES).then(ForwardCache::acquire);
        let (statistics, sums) = self.on(&pairs, potential).forward(cache.as_mut());
        (tensor(statistics.to_vec(), [statistics.len()]), (inputs, sums, cache.map(Arc::new)))
    }

    fn backward(
        self,
        gradient: FlexTensor,
        ([x, y, potential, mix], sums, cache): Self::Record,
        _wanted: [bool; 4],
    ) -> [Option<FlexTensor>; 4] {
        let upstream = slice(&contiguous(gradient))[0];
        let pairs = Pairs::new(self.form, slice(&x), slice(&y), slice(&mix)[0]);
        let mut cache = cache.map(Arc::unwrap_or_clone);
        let (gradients, dpotential) = self.on(&pairs, &potential).backward(&sums, cache.as_mut(), upstream);
        if let Some(cache) = cache {
            cache.release();
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
