//! Quasimetric networks, losses and an optimizer on Burn.
//!
//! - [`module`]: encoders, actors, potentials and pair heads, built from validated configurations
//! - [`loss`]: contrastive, distillation, temporal and policy losses
//! - [`group`]: processes that train one learner together
//! - [`optim`]: Adam in one pass over memory, and a network with its optimizer state
//! - [`state_dict`], [`store`]: saving and loading as safetensors
//! - [`memory`]: allocator settings
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
//! let states = Tensor::<2>::from_data([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], &device);
//! let distances = metric.all_pairs(states.clone(), states).into_data().to_vec::<f32>().unwrap();
//! assert_eq!(distances[0], 0.0); // from a state to itself
//! assert!(distances[1] > 0.0); // in general different from the opposite direction, distances[3]
//! # Ok::<(), isochrone_nn::error::ConfigError>(())
//! ```

pub mod error;
pub mod group;
#[doc(hidden)]
pub mod kernel;
pub mod loss;
pub mod memory;
pub mod module;
#[doc(hidden)]
pub mod op;
pub mod optim;
#[doc(hidden)]
pub mod runtime;
pub mod state_dict;
pub mod store;
