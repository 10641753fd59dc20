//! Operations with a custom gradient for Burn's autodiff.

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
use std::fmt::Debug;

/// A function of `N` tensors of backend `B`, and its gradient.
pub trait Operation<B: Backend, const N: usize>: Clone + Debug + Send + Sync + 'static {
    /// The data that the forward pass stores for the backward pass.
    type Record: Clone + Debug + Send + Sync + 'static;

    /// Returns the value.
    fn forward(self, inputs: [FloatTensor<B>; N]) -> FloatTensor<B> {
        self.forward_recorded(inputs).0
    }

    /// Returns the value and the record for [`Operation::backward`].
    fn forward_recorded(self, inputs: [FloatTensor<B>; N]) -> (FloatTensor<B>, Self::Record);

    /// Returns the gradients of the inputs, given that of the value. Those that are not `wanted`
    /// may be `None`.
    fn backward(
        self,
        gradient: FloatTensor<B>,
        record: Self::Record,
        wanted: [bool; N],
    ) -> [Option<FloatTensor<B>>; N];
}

/// Applies an operation to tensors that autodiff tracks.
pub(super) fn tracked<B, C, O, const N: usize>(
    operation: O,
    inputs: [FloatTensor<Autodiff<B, C>>; N],
) -> FloatTensor<Autodiff<B, C>>
where
    B: Backend,
    C: CheckpointStrategy,
    O: Operation<B, N>,
{
    let nodes = std::array::from_fn(|index| inputs[index].node());
    let prepared = Step(operation.clone()).prepare::<C>(nodes).compute_bound();
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the type of the method is not exported")]
    let inputs = inputs.map(|input| input.into_primitive());
    match prepared.stateful() {
        OpsKind::Tracked(prepared) => {
            let (value, record) = operation.forward_recorded(inputs);
            prepared.finish(record, value)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(operation.forward(inputs)),
    }
}

/// The backward step of an operation.
#[derive(Debug)]
struct Step<O>(O);

impl<B: Backend, O: Operation<B, N>, const N: usize> Backward<B, N> for Step<O> {
    type State = O::Record;

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let gradient = grads.consume::<B>(&ops.node);
        let wanted = std::array::from_fn(|index| ops.parents[index].is_some());
        let gradients = self.0.backward(gradient, ops.state, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                grads.register::<B>(parent.id, gradient);
            }
        }
    }
}

/// Defines a trait that dispatches an operation of `$n` tensors to their backend, with or without
/// autodiff.
macro_rules! dispatched {
    ($trait:ident, $operation:ty, $n:literal, $($input:ident),*) => {
        #[backend_extension(Autodiff, Flex, Cube: cfg(feature = "wgpu"))]
        pub trait $trait: Backend {
            /// Returns the value of the operation.
            fn value($($input: FloatTensor<Self>,)* operation: $operation) -> FloatTensor<Self>;
        }

        impl<B: Backend> $trait for B
        where
            $operation: Operation<B, $n>,
        {
            fn value($($input: FloatTensor<B>,)* operation: $operation) -> FloatTensor<B> {
                Operation::<B, $n>::forward(operation, [$($input),*])
            }
        }

        impl<B: Backend, C: CheckpointStrategy> $trait for Autodiff<B, C>
        where
            $operation: Operation<B, $n>,
        {
            fn value($($input: FloatTensor<Self>,)* operation: $operation) -> FloatTensor<Self> {
                tracked::<B, C, _, $n>(operation, [$($input),*])
            }
        }
    };
}
pub(super) use dispatched;

/// The maximum number of inputs of an operation of [`apply_on_cpu`].
pub(super) const MAX_INPUTS: usize = 19;

/// Defines a trait for each odd number of inputs, which dispatches an operation that only the CPU
/// backend supports, with or without autodiff.
macro_rules! cpu_operations {
    ($($trait:ident, $n:literal, $($input:ident)+;)+) => {
        $(
            /// Operations that only the CPU backend supports, on a fixed number of tensors.
            #[backend_extension(Autodiff, Flex)]
            pub trait $trait: Backend {
                /// Returns the value of `operation`.
                #[allow(clippy::too_many_arguments, reason = "dispatch needs each tensor as an argument")]
                fn apply<O: Operation<Flex, $n>>($($input: FloatTensor<Self>,)+ operation: O) -> FloatTensor<Self>;
            }

            impl $trait for Flex {
                fn apply<O: Operation<Self, $n>>($($input: FlexTensor,)+ operation: O) -> FlexTensor {
                    operation.forward([$($input),+])
                }
            }

            impl<C: CheckpointStrategy> $trait for Autodiff<Flex, C> {
                fn apply<O: Operation<Flex, $n>>($($input: FloatTensor<Self>,)+ operation: O) -> FloatTensor<Self> {
                    tracked::<Flex, C, O, $n>(operation, [$($input),+])
                }
            }
        )+

        /// Applies an operation to tensors of the CPU backend, with or without autodiff. Their
        /// number is odd, from 3 to [`MAX_INPUTS`].
        pub(super) fn apply_on_cpu<O>(operation: O, inputs: Vec<FloatTensor<Dispatch>>) -> FloatTensor<Dispatch>
        where
            $(O: Operation<Flex, $n>,)+
        {
            match inputs.len() {
                $($n => {
                    let [$($input),+]: [FloatTensor<Dispatch>; $n] =
                        inputs.try_into().unwrap_or_else(|_| unreachable!("the length was matched"));
                    <Dispatch as $trait>::apply($($input,)+ operation)
                })+
                n => unreachable!("an operation of {n} tensors"),
            }
        }
    };
}

cpu_operations! {
    CpuOps3, 3, a b c;
    CpuOps5, 5, a b c d e;
    CpuOps7, 7, a b c d e f g;
    CpuOps9, 9, a b c d e f g h i;
    CpuOps11, 11, a b c d e f g h i j k;
    CpuOps13, 13, a b c d e f g h i j k l m;
    CpuOps15, 15, a b c d e f g h i j k l m n o;
    CpuOps17, 17, a b c d e f g h i j k l m n o p q;
    CpuOps19, 19, a b c d e f g h i j k l m n o p q r s;
}

/// Applies an operation of three tensors of the CPU backend, with or without autodiff.
pub(super) fn on_cpu<const D: usize>(
    operation: impl Operation<Flex, 3>,
    [a, b, c]: [FloatTensor<Dispatch>; 3],
) -> Tensor<D> {
    Tensor::from_dispatch(<Dispatch as CpuOps3>::apply(a, b, c, operation))
}
