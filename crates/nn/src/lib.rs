//! Everything differentiable: networks that embed situations, quasimetrics between them, and the losses that teach them.
//!
//! From rows of numbers to a distance in time, bottom to top:
//!
//! - [`kernel`]: the arithmetic on plain slices; all pairs of rows without a tensor of pairs times features
//! - [`op`]: the kernels as differentiable Burn operations, with tensor-operation paths for other backends
//! - [`module`]: encoders, actors, potentials and pair heads, built from checked configurations
//! - [`loss`]: contrastive, distillation, temporal and policy losses
//! - [`optim`], [`store`], [`memory`]: Adam in one pass; weights as safetensors; what to tell the allocator
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use isochrone_nn::module::{EncoderConfig, Ensemble, Initialiser, MetricConfig, PairHeadConfig, TrunkConfig};
//!
//! let device = Device::flex();
//! let config = MetricConfig {
//!     encoder: EncoderConfig { inputs: 2, outputs: 16, trunk: TrunkConfig { width: 32, ..Default::default() } },
//!     head: PairHeadConfig::Mrn { components: 2 },
//!     ensemble: Ensemble::Twin,
//! };
//! let metric = config.init(&mut Initialiser::new(7, 0, &device))?;
//! let places = Tensor::<2>::from_data([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], &device);
//! let distances = metric.all_pairs(places.clone(), places).into_data().to_vec::<f32>().unwrap();
//! assert_eq!(distances[0], 0.0); // from a place to itself
//! assert!(distances[1] > 0.0); // and not the same as the way back, distances[3]
//! # Ok::<(), isochrone_nn::error::ConfigError>(())
//! ```

pub mod error;
pub mod kernel;
pub mod loss;
pub mod memory;
pub mod module;
pub mod op;
pub mod optim;
pub mod store;
