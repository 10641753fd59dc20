//! Differentiable operations on Burn tensors.
//!
//! On the CPU backend (Flex), every operation is one call of [`crate::kernel`] in each pass. Other
//! backends use equivalent tensor operations: in chunks of bounded memory for all pairs
//! ([`chunked`]), plain for the rest.

pub mod chunked;
pub mod chunked_contrast;
mod contrast;
mod gather;
mod mlp;
mod operation;
mod optimizer;
mod pair;

pub use chunked_contrast::ContrastSpec;
pub use contrast::{contrast, contrast_among};
pub use gather::gather_rows;
pub use mlp::{Layer, mlp};
pub use operation::Operation;
pub use optimizer::adam;
pub use pair::{all_pairs, inner_products, rowwise};

use operation::{on_cpu, tracked};

use burn::{
    backend::{DispatchDevice, flex::FlexTensor},
    tensor::{Device, TensorData},
};

/// Whether the device is that of the CPU backend, for which there are kernels.
pub fn is_flex(device: &Device) -> bool {
    matches!(device.clone().inner().as_dispatch(), DispatchDevice::Flex(_))
}

/// Whether all-pairs operations on this device have a custom backward pass of bounded memory.
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

/// Returns a tensor whose storage contains exactly its elements, as in-place writes require. A view
/// into a larger buffer is copied.
fn owned(tensor: FlexTensor) -> FlexTensor {
    let numbers = tensor.layout().shape().iter().product::<usize>();
    if tensor.as_slice::<f32>().is_some() && tensor.storage::<f32>().len() == numbers {
        return tensor;
    }
    let values = contiguous(tensor.clone()).as_slice::<f32>().expect("contiguous floats").to_vec();
    FlexTensor::from_data(TensorData::new(values, tensor.layout().shape().clone()))
}

/// Returns the elements of a contiguous tensor.
fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("made contiguous above")
}

fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

fn size(tensor: &FlexTensor, dimension: usize) -> usize {
    tensor.layout().shape()[dimension]
}

/// Returns the backend primitive of a tensor on a graphics processor.
#[cfg(feature = "wgpu")]
fn primitive<const D: usize>(
    tensor: burn::tensor::Tensor<D>,
) -> burn::backend::tensor::FloatTensor<burn::backend::Cube> {
    tensor.try_into_primitive::<burn::backend::Cube>().expect("the tensor is on this backend")
}
