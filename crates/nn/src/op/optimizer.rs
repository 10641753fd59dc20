//! The Adam update as one operation.

use super::{contiguous, is_flex, owned, slice};
use crate::kernel::AdamStep;
use burn::{
    backend::{Backend, Dispatch, Flex, backend_extension, flex::FlexTensor, tensor::FloatTensor},
    tensor::Tensor,
};

/// Returns the updated `(parameter, first moment, second moment)`, for tensors of equal shape
/// without autodiff.
pub fn adam<const D: usize>(
    step: AdamStep,
    parameter: Tensor<D>,
    gradient: Tensor<D>,
    first: Tensor<D>,
    second: Tensor<D>,
) -> (Tensor<D>, Tensor<D>, Tensor<D>) {
    if !is_flex(&parameter.device()) {
        let first = first * step.beta_1 + gradient.clone() * (1.0 - step.beta_1);
        let second = second * step.beta_2 + gradient.square() * (1.0 - step.beta_2);
        let correction = |beta: f32| 1.0 - f64::from(beta).powi(step.time as i32);
        let mean = first.clone() / correction(step.beta_1);
        let deviation = (second.clone() / correction(step.beta_2)).sqrt() + step.epsilon;
        return (parameter - mean / deviation * step.learning_rate, first, second);
    }
    let (parameter, first, second) = <Dispatch as AdamOps>::adam_update(
        parameter.into_dispatch(),
        gradient.into_dispatch(),
        first.into_dispatch(),
        second.into_dispatch(),
        step,
    );
    (Tensor::from_dispatch(parameter), Tensor::from_dispatch(first), Tensor::from_dispatch(second))
}

/// Dispatch of [`adam`] to the CPU backend.
#[backend_extension(Flex)]
pub trait AdamOps: Backend {
    /// See [`adam`].
    fn adam_update(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

impl AdamOps for Flex {
    fn adam_update(
        parameter: FlexTensor,
        gradient: FlexTensor,
        first: FlexTensor,
        second: FlexTensor,
        step: AdamStep,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        let gradient = contiguous(gradient);
        let [mut parameter, mut first, mut second] = [parameter, first, second].map(owned);
        // In place if the tensor is not shared, otherwise on a copy.
        step.apply(parameter.storage_mut(), slice(&gradient), first.storage_mut(), second.storage_mut());
        (parameter, first, second)
    }
}
