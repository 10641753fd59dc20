//! Recorded states that are nearest in time to a state.
//!
//! [`Nearest`] answers both directions of the question: the recorded states from which a goal is
//! reached soonest, and those that are reached soonest from a state. It compares all recorded
//! states, or, with the feature `nearest`, asks a `NearestIndex` for candidates and ranks them by
//! the distance itself.
//!
//! ```text
//! distance, States                   -> Nearest -> Neighbor   exact
//! distance, States -> NearestIndex   -> Nearest -> Neighbor   candidates of an index, ranked exactly
//! ```

mod direction;
mod exact;
mod neighbor;
mod search;
mod states;

#[cfg(feature = "nearest")]
mod config;
#[cfg(feature = "nearest")]
mod error;
#[cfg(feature = "nearest")]
mod graph_file;
#[cfg(feature = "nearest")]
mod index;
#[cfg(feature = "nearest")]
mod saved;
#[cfg(feature = "nearest")]
mod shard;

pub use direction::Direction;
pub use exact::nearest_latent;
pub use neighbor::Neighbor;
pub use search::Nearest;
pub use states::{SliceStates, States};

#[cfg(feature = "nearest")]
pub use config::IndexConfig;
#[cfg(feature = "nearest")]
pub use error::NearestError;
#[cfg(feature = "nearest")]
pub use index::NearestIndex;
