//! Initialization of parameters, immediately and in order, from a seeded stream, with fixed ids.
//!
//! Burn initializes parameters lazily from a global generator and gives them random ids, so that
//! neither runs nor resumed optimizers would be reproducible.

use crate::runtime::ignore_configuration_files;
use burn::{
    module::{Param, ParamId},
    tensor::{Device, Tensor, TensorData},
};
use isochrone_core::rng;
use rand_chacha::ChaCha8Rng;

/// This bit marks the random streams of parameters, so that data streams of the same seed are
/// independent of them.
const PARAMETERS: u64 = 1 << 63;

/// The default limit of the number of parameters of a network.
pub const MAX_PARAMETERS: usize = 1_000_000_000;

/// Initializes the parameters of a network.
pub struct Initializer {
    device: Device,
    rng: ChaCha8Rng,
    next_id: u64,
    max_parameters: usize,
}

impl Initializer {
    /// Creates an initializer of parameters on `device` from stream `stream` of `seed`. Networks
    /// that are optimized or saved together need different streams, because parameter ids are
    /// derived from the stream.
    pub fn new(seed: u64, stream: u32, device: &Device) -> Self {
        // Every network is created by an initializer, so this runs before the first gradient.
        ignore_configuration_files();
        let rng = rng::stream(seed, PARAMETERS | u64::from(stream));
        let next_id = u64::from(stream) << 32 | 1;
        Self { device: device.clone(), rng, next_id, max_parameters: MAX_PARAMETERS }
    }

    /// Sets the number of parameters that a network may have: a file that requests more than it
    /// contains is corrupt.
    #[must_use]
    pub fn limited_to(self, max_parameters: usize) -> Self {
        Self { max_parameters, ..self }
    }

    /// Returns the number of parameters that a network may have.
    pub(super) fn max_parameters(&self) -> usize {
        self.max_parameters
    }

    /// Draws weights `[inputs, outputs]`, uniform with variance `1 / inputs`.
    pub(super) fn weight(&mut self, inputs: usize, outputs: usize) -> Param<Tensor<2>> {
        let bound = (3.0 / inputs as f64).sqrt();
        let values: Vec<f32> = (0..inputs * outputs)
            .map(|_| ((2.0 * rng::unit_f64(&mut self.rng) - 1.0) * bound) as f32)
            .collect();
        self.parameter(TensorData::new(values, [inputs, outputs]))
    }

    /// Returns a learned scalar, `[1]`.
    pub fn scalar(&mut self, value: f32) -> Param<Tensor<1>> {
        self.constant(1, value)
    }

    /// Returns a vector of `length` times `value`.
    pub(super) fn constant(&mut self, length: usize, value: f32) -> Param<Tensor<1>> {
        self.parameter(TensorData::new(vec![value; length], [length]))
    }

    fn parameter<const D: usize>(&mut self, data: TensorData) -> Param<Tensor<D>> {
        let id = ParamId::from(self.next_id);
        self.next_id += 1;
        let value = Tensor::from_data(data, &self.device);
        Param::initialized(id, if self.device.is_autodiff() { value.require_grad() } else { value })
    }
}
