//! What steps: algorithms that learn distances and policies from logs, and a trainer that loses nothing.
//!
//! From batches to a model, in the order of the data flow:
//!
//! - [`batch`], [`scaling`]: rows of a data set as scaled tensors
//! - [`algos`]: seven algorithms behind one seam, [`learner::Learner`]; [`parts`] is what they share
//! - [`trainer`]: the loop; [`evaluation`]: what is judged meanwhile
//! - [`run`], [`ledger`]: the folder of a run, its checkpoints, what is in them
//! - [`model`]: what was learned, to be asked for distances and actions

pub mod algos;
pub mod batch;
mod distances;
mod draw;
pub mod error;
pub mod evaluation;
pub mod jobs;
pub mod learner;
pub mod ledger;
pub mod model;
pub mod parts;
pub mod run;
pub mod scaling;
pub mod setting;
pub mod trainer;

/// The processor, ready to train.
pub fn cpu() -> burn::tensor::Device {
    burn::tensor::Device::flex().autodiff()
}
