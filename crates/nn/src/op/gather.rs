//! Rows of all processes as a differentiable operation.

use super::{Operation, contiguous, size, slice, tensor, tracked};
use crate::group::ProcessGroup;
use burn::{
    backend::{
        Autodiff, Backend, Dispatch, Flex, autodiff::checkpoint::strategy::CheckpointStrategy,
        backend_extension, flex::FlexTensor, tensor::FloatTensor,
    },
    tensor::Tensor,
};

/// Returns the rows of all processes in the order of ranks: `[n, width]` gives `[size * n, width]`.
/// All processes must have the same number of rows. On the CPU only.
///
/// The gradient of a row is the sum of its gradients on all processes, so that the mean over
/// processes of parameter gradients is the gradient of the mean of their losses.
pub fn gather_rows(group: &ProcessGroup, rows: Tensor<2>) -> Tensor<2> {
    let rows = rows.into_dispatch();
    Tensor::from_dispatch(<Dispatch as GatherOps>::gather(rows, GatherRows(group.clone())))
}

/// Dispatch of [`gather_rows`] to the CPU backend.
#[backend_extension(Autodiff, Flex)]
pub trait GatherOps: Backend {
    /// See [`gather_rows`].
    fn gather(rows: FloatTensor<Self>, operation: GatherRows) -> FloatTensor<Self>;
}

impl GatherOps for Flex {
    fn gather(rows: FlexTensor, operation: GatherRows) -> FlexTensor {
        Operation::<Self, 1>::forward(operation, [rows])
    }
}

impl<C: CheckpointStrategy> GatherOps for Autodiff<Flex, C> {
    fn gather(rows: FloatTensor<Self>, operation: GatherRows) -> FloatTensor<Self> {
        tracked::<Flex, C, GatherRows, 1>(operation, [rows])
    }
}

/// See [`gather_rows`].
#[derive(Clone, Debug)]
pub struct GatherRows(ProcessGroup);

impl Operation<Flex, 1> for GatherRows {
    /// The shape of the rows of this process.
    type Record = [usize; 2];

    fn forward_recorded(self, [rows]: [FlexTensor; 1]) -> (FlexTensor, Self::Record) {
        let rows = contiguous(rows);
        let [n, width] = [size(&rows, 0), size(&rows, 1)];
        let all = self.0.gather("latents", slice(&rows));
        (tensor(all, [n * self.0.size(), width]), [n, width])
    }

    fn backward(
        self,
        gradient: FlexTensor,
        shape: Self::Record,
        _wanted: [bool; 1],
    ) -> [Option<FlexTensor>; 1] {
        let sum = self.0.sum_scattered("latent gradients", slice(&contiguous(gradient)));
        [Some(tensor(sum, shape))]
    }
}
