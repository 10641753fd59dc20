//! Export of trained models as ONNX, which other runtimes read, such as ONNX Runtime and browsers.
//!
//! - [`onnx_bytes`], [`write_onnx`]: a part of a model as a file
//! - [`OnnxPart`]: the distance, the policy or the embedding, with the names of inputs and outputs
//! - [`Graph`]: the nodes of a file, to which a
//!   [`TensorDistance`](crate::TensorDistance::onnx) adds what it computes
//!
//! ```no_run
//! use isochrone_learn::{
//!     export::{OnnxPart, write_onnx},
//!     model::{CheckpointSelector, Model},
//! };
//!
//! let model = Model::open("runs/maze".as_ref(), CheckpointSelector::Best)?;
//! write_onnx(&model, OnnxPart::Policy, "policy.onnx".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file is self-contained: it takes and returns numbers in the units of the dataset, and needs
//! neither the dataset nor the run. Its operator set is 20, its inputs and outputs are
//! single-precision, and its first dimension `batch` is dynamic.

mod error;
mod graph;
mod network;
mod pair;
mod part;
pub(crate) mod proto;
mod rows;
mod write;

pub use error::ExportError;
pub use graph::{Attribute, Graph, Value};
pub use part::OnnxPart;
pub use write::{onnx_bytes, write_onnx};
