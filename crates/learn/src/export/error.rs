//! Errors of the export.

use crate::error::LearnError;
use thiserror::Error;

/// The reason why a part of a model cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The model has no distance.
    #[error("the model has no distance: {algorithm} learns none; hint: export the policy")]
    NoDistance {
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// The model has no policy.
    #[error(
        "the model has no policy: its dataset has no actions; hint: export the distance, or train on data with actions"
    )]
    NoPolicy,
    /// The distance does not compare latent states.
    #[error(
        "the model has no embedding: the distance of {algorithm} is not a quasimetric between latent states; hint: export the distance, or train cmd1, cmd2, qrl, tmd or mqe"
    )]
    NoEmbedding {
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// The algorithm does not define how its distance is exported.
    #[error(
        "the distance of {algorithm} cannot be exported; hint: implement `TensorDistance::onnx` for it, or export the policy"
    )]
    Unsupported {
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// The file would be larger than protobuf allows.
    #[error("the model has {bytes} bytes, more than the 2 GiB of an ONNX file; hint: train smaller networks")]
    TooLarge {
        /// The size of the file.
        bytes: usize,
    },
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] LearnError),
}
