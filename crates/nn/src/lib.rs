//! Networks that embed states, quasimetrics between them, the losses that train them, and their optimizer.
//!
//! - [`module`]: encoders, actors, potentials and pair heads, built from checked configurations
//! - [`loss`]: contrastive, distillation, temporal and policy losses
//! - [`optim`]: Adam in one pass over memory, with a network it belongs to
//! - [`state_dict`], [`store`]: saving and loading all of that, as safetensors
//! - [`memory`]: what to tell the allocator
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use isochrone_nn::module::{EncoderConfig, Ensemble, Initializer, MetricConfig, PairHeadConfig, TrunkConfig};
//!
//! let device = Device::flex();
//! let config = MetricConfig {
//!     encoder: EncoderConfig { inputs: 2, outputs: 16, trunk: TrunkConfig { width: 32, ..Default::default() } },
//!     head: PairHeadConfig::Mrn { components: 2 },
//!     ensemble: Ensemble::Twin,
//! };
//! let metric = config.init(&mut Initializer::new(7, 0, &device))?;
//! let places = Tensor::<2>::from_data([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], &device);
//! let distances = metric.all_pairs(places.clone(), places).into_data().to_vec::<f32>().unwrap();
//! assert_eq!(distances[0], 0.0); // from a place to itself
//! assert!(distances[1] > 0.0); // and not the same as the way back, distances[3]
//! # Ok::<(), isochrone_nn::error::ConfigError>(())
//! ```

pub mod error;
#[doc(hidden)]
pub mod kernel;
pub mod loss;
pub mod memory;
pub mod module;
#[doc(hidden)]
pub mod op;
pub mod optim;
pub mod state_dict;
pub mod store;
