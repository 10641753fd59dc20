//! Contrastive losses over all pairs as a single differentiable operation.

use super::{
    ContrastSpec, Operation, chunked_contrast, contiguous, has_pair_kernels, operation::dispatched, size,
    slice, tensor, tracked,
};
use crate::{
    group::ProcessGroup,
    kernel::{Contrast, ForwardCache, LogSums, Pairs, PartialSum, Tape},
};
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

/// Returns the statistics of the rows of this process, whose mean over the group is that of all:
/// `x: [n, width]` are its rows, `y: [size * n, width]` and `potential: [size * n]` the columns of
/// all processes in the order of ranks ([`gather_rows`](super::gather_rows)).
///
/// The gradients are those of the sum over processes of their losses. On the CPU only.
pub fn contrast_among(
    spec: ContrastSpec,
    group: &ProcessGroup,
    x: Tensor<2>,
    y: Tensor<2>,
    potential: Tensor<1>,
    mix: Tensor<1>,
) -> Tensor<1> {
    assert_eq!(y.dims(), [x.dims()[0] * group.size(), spec.form.width()], "the columns of all processes");
    Tensor::from_dispatch(<Dispatch as ContrastAmongOps>::contrast_among(
        x.into_dispatch(),
        y.into_dispatch(),
        potential.into_dispatch(),
        mix.into_dispatch(),
        Among { spec, group: group.clone() },
    ))
}

dispatched!(ContrastOps, ContrastSpec, 4, x, y, potential, mix);

/// Dispatch of [`contrast_among`] to the CPU backend.
#[backend_extension(Autodiff, Flex)]
pub trait ContrastAmongOps: Backend {
    /// See [`contrast_among`].
    fn contrast_among(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        potential: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        operation: Among,
    ) -> FloatTensor<Self>;
}

impl ContrastAmongOps for Flex {
    fn contrast_among(
        x: FlexTensor,
        y: FlexTensor,
        potential: FlexTensor,
        mix: FlexTensor,
        operation: Among,
    ) -> FlexTensor {
        Operation::<Self, 4>::forward(operation, [x, y, potential, mix])
    }
}

impl<C: CheckpointStrategy> ContrastAmongOps for Autodiff<Flex, C> {
    fn contrast_among(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        potential: FloatTensor<Self>,
        mix: FloatTensor<Self>,
        operation: Among,
    ) -> FloatTensor<Self> {
        tracked::<Flex, C, Among, 4>(operation, [x, y, potential, mix])
    }
}

/// The maximum size of the matrix of values and its tape that are cached for the backward pass.
/// Above it, both passes work in blocks and the forward pass is recomputed. Measured: beyond the
/// processor cache, recomputing costs no more than writing and reading.
const MAX_CACHED_BYTES: usize = 64 << 20;

impl ContrastSpec {
    /// Returns the problem on plain slices, with the positive of row 0 in column `first_positive`.
    fn on<'a>(&self, pairs: &'a Pairs<'a>, potential: &'a FlexTensor, first_positive: usize) -> Contrast<'a> {
        let (slope, objective) = (self.slope, self.objective);
        Contrast { pairs, potential: slice(potential), first_positive, slope, objective }
    }

    /// Computes the statistics and what the backward pass needs.
    fn record(
        self,
        inputs: [FlexTensor; 4],
        first_positive: usize,
        log_sums: impl FnOnce(Vec<PartialSum>) -> Vec<f32>,
    ) -> (FlexTensor, Record) {
        let inputs = inputs.map(contiguous);
        let [x, y, potential, mix] = &inputs;
        let pairs = Pairs::new(self.form, slice(x), slice(y), slice(mix)[0]);
        let (n, m) = (pairs.n(), pairs.m());
        let bytes = n * m * size_of::<f32>() + Tape::bytes(self.form, n, m);
        let mut cache = (bytes <= MAX_CACHED_BYTES).then(ForwardCache::acquire);
        let contrast = self.on(&pairs, potential, first_positive);
        let (statistics, sums) = contrast.forward_among(cache.as_mut(), log_sums);
        (tensor(statistics.to_vec(), [statistics.len()]), (inputs, sums, cache.map(Arc::new)))
    }

    fn gradients(
        self,
        gradient: FlexTensor,
        ([x, y, potential, mix], sums, cache): Record,
        first_positive: usize,
    ) -> [Option<FlexTensor>; 4] {
        let upstream = slice(&contiguous(gradient))[0];
        let pairs = Pairs::new(self.form, slice(&x), slice(&y), slice(&mix)[0]);
        let mut cache = cache.map(Arc::unwrap_or_clone);
        let contrast = self.on(&pairs, &potential, first_positive);
        let (gradients, dpotential) = contrast.backward(&sums, cache.as_mut(), upstream);
        if let Some(cache) = cache {
            cache.release();
        }
        let (width, m) = (self.form.width(), size(&y, 0));
        let (dx, dy) = (tensor(gradients.dx, [size(&x, 0), width]), tensor(gradients.dy, [m, width]));
        [dx, dy, tensor(dpotential, [m]), tensor(vec![gradients.dmix as f32], [1])].map(Some)
    }
}

/// The inputs, the log-sum-exps and, if it is small, the matrix of values.
type Record = ([FlexTensor; 4], LogSums, Option<Arc<ForwardCache>>);

impl Operation<Flex, 4> for ContrastSpec {
    type Record = Record;

    fn forward(self, inputs: [FlexTensor; 4]) -> FlexTensor {
        let [x, y, potential, mix] = inputs.map(contiguous);
        let pairs = Pairs::new(self.form, slice(&x), slice(&y), slice(&mix)[0]);
        let (statistics, _) = self.on(&pairs, &potential, 0).forward(None);
        tensor(statistics.to_vec(), [statistics.len()])
    }

    fn forward_recorded(self, inputs: [FlexTensor; 4]) -> (FlexTensor, Record) {
        self.record(inputs, 0, |columns| columns.into_iter().map(PartialSum::log).collect())
    }

    fn backward(self, gradient: FlexTensor, record: Record, _wanted: [bool; 4]) -> [Option<FlexTensor>; 4] {
        self.gradients(gradient, record, 0)
    }
}

/// A contrastive loss whose rows are divided among processes.
#[derive(Clone, Debug)]
pub struct Among {
    spec: ContrastSpec,
    group: ProcessGroup,
}

impl Among {
    /// Returns the log-sum-exps of all columns over the rows of all processes. The owner of a
    /// column adds up the sums of all ranks in their order, so that all ranks get the same bits.
    fn log_sums(&self, columns: &[PartialSum]) -> Vec<f32> {
        let words: Vec<f32> = columns.iter().flat_map(|column| [column.max, column.sum]).collect();
        let parts = self.group.exchange("column sums", &words);
        let own = columns.len() / self.group.size();
        let sums: Vec<f32> = (0..own)
            .map(|column| {
                PartialSum::log_of_all((0..self.group.size()).map(|rank| {
                    let at = 2 * (rank * own + column);
                    PartialSum { max: parts[at], sum: parts[at + 1] }
                }))
            })
            .collect();
        self.group.gather("column sums", &sums)
    }

    /// The first column whose positive is a row of this process.
    fn first_positive(&self, rows: usize) -> usize {
        self.group.rank() * rows
    }
}

impl Operation<Flex, 4> for Among {
    type Record = Record;

    fn forward_recorded(self, inputs: [FlexTensor; 4]) -> (FlexTensor, Record) {
        let first_positive = self.first_positive(size(&inputs[0], 0));
        self.spec.record(inputs, first_positive, |columns| self.log_sums(&columns))
    }

    fn backward(self, gradient: FlexTensor, record: Record, _wanted: [bool; 4]) -> [Option<FlexTensor>; 4] {
        let first_positive = self.first_positive(size(&record.0[0], 0));
        self.spec.gradients(gradient, record, first_positive)
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
