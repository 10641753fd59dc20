//! Errors of the analysis of demonstrations.

use crate::refined::RefinedError;
use isochrone_data::DataError;
use thiserror::Error;

/// Why demonstrations cannot be analyzed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DemosError {
    /// There is nothing to compare an episode with.
    #[error("{episodes} episodes; hint: at least 2 are needed, since no episode is compared with itself")]
    TooFewEpisodes {
        /// The number of episodes.
        episodes: usize,
    },
    /// A refined distance cannot be fitted.
    #[error(transparent)]
    Refined(#[from] RefinedError),
    /// The episodes of a fold are no dataset.
    #[error(transparent)]
    Data(#[from] DataError),
}
