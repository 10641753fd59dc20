//! Datasets in object stores and on the web: `s3://`, `gs://`, `az://`, `https://` and `hf://`
//! addresses.
//!
//! A dataset is never read row by row from a server. Its files are listed, downloaded completely
//! into a cache, verified, and then opened like any other local dataset; files of the isochrone
//! Arrow format are mapped. Whatever is cached is not downloaded again while the server reports the
//! same `ETag`, and an interrupted download continues where it stopped.
//!
//! Addresses are parsed in every build. Downloads need the Cargo feature `remote`; without it,
//! [`fetch`] returns [`RemoteError::FeatureMissing`].

mod cache_options;
mod error;
mod fetched;
mod url;

#[cfg(feature = "remote")]
mod cache;
#[cfg(feature = "remote")]
mod download;
#[cfg(feature = "remote")]
mod fetch;
#[cfg(feature = "remote")]
mod hub;
#[cfg(feature = "remote")]
mod listing;
#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod store;
#[cfg(feature = "remote")]
mod view;

pub use cache_options::CacheOptions;
pub use error::RemoteError;
#[cfg(feature = "remote")]
pub use fetch::fetch;
pub use fetched::{Fetched, Progress};
pub use url::{DatasetUrl, Scheme};

/// Downloads a dataset into the cache, unless it is there already.
///
/// # Errors
/// Always: this build does not have the feature `remote`.
#[cfg(not(feature = "remote"))]
pub fn fetch(
    url: &DatasetUrl,
    _options: &CacheOptions,
    _progress: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Fetched, RemoteError> {
    Err(RemoteError::FeatureMissing { url: url.to_string() })
}
