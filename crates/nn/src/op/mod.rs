//! The kernels as differentiable operations on Burn tensors.
//!
//! On the CPU backend (Flex) every operation is one call of [`crate::kernel`] forward and one backward. Other backends get
//! tensor operations with the same results: in bounded chunks for all pairs ([`chunked`]), plain for the rest.

pub mod chunked;
pub mod chunked_contrast;
mod contrast;
mod dense;
mod operation;
mod optimizer;
mod pair;

pub use chunked_contrast::ContrastSpec;
pub use contrast::contrast;
pub use dense::{layer_norm, linear};
pub use operation::Operation;
pub use optimizer::adam;
pub use pair::{all_pairs, rowwise};

use operation::{on_cpu, tracked};

use burn::{
    backend::{DispatchDevice, flex::FlexTensor},
    tensor::{Device, TensorData},
};

/// Whether tensors of this device live on the CPU backend that the kernels serve.
pub fn is_flex(device: &Device) -> bool {
    matches!(device.clone().inner().as_dispatch(), DispatchDevice::Flex(_))
}

/// Whether all-pairs operations of this device have a backward pass of bounded memory of their own.
fn has_pair_kernels(device: &Device) -> bool {
    #[cfg(feature = "wgpu")]
    if matches!(device.clone().inner().as_dispatch(), DispatchDevice::Cube(_)) {
        return true;
    }
    is_flex(device)
}

fn contiguous(tensor: FlexTensor) -> FlexTensor {
    if tensor.as_slice::<f32>().is_some() { tensor } else { tensor.to_contiguous() }
}

/// A tensor whose storage is exactly its numbers, as writing in place wants it: a view into a larger buffer is copied.
fn owned(tensor: FlexTensor) -> FlexTensor {
    let numbers = tensor.layout().shape().iter().product::<usize>();
    if tensor.as_slice::<f32>().is_some() && tensor.storage::<f32>().len() == numbers {
        return tensor;
    }
    let values = contiguous(tensor.clone()).as_slice::<f32>().expect("contiguous floats").to_vec();
    FlexTensor::from_data(TensorData::new(values, tensor.layout().shape().clone()))
}

/// The numbers of a contiguous tensor.
fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("made contiguous above")
}

fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

fn size(tensor: &FlexTensor, dimension: usize) -> usize {
    tensor.layout().shape()[dimension]
}

/// A tensor of a graphics processor as its backend holds it.
#[cfg(feature = "wgpu")]
fn primitive<const D: usize>(
    tensor: burn::tensor::Tensor<D>,
) -> burn::backend::tensor::FloatTensor<burn::backend::Cube> {
    tensor.try_into_primitive::<burn::backend::Cube>().expect("stays on its device")
}
