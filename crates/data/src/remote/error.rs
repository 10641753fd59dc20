//! The errors of remote datasets.

use std::path::PathBuf;
use thiserror::Error;

/// The reason why a remote dataset could not be fetched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The address is malformed.
    #[error(
        "{url}: {problem}; hint: an address is s3://BUCKET/PATH, gs://BUCKET/PATH, az://CONTAINER/PATH, \
         https://HOST/PATH or hf://datasets/OWNER/NAME/PATH"
    )]
    InvalidUrl {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The scheme of the address is not supported.
    #[error("{url}: unknown scheme '{scheme}'; hint: the schemes are s3, gs, az, https, http and hf")]
    UnknownScheme {
        /// The address.
        url: String,
        /// The part before `://`.
        scheme: String,
    },
    /// This build cannot download.
    #[error(
        "{url}: this build cannot read remote datasets; hint: build with the Cargo feature `remote`, or \
         download the files and give their local path"
    )]
    FeatureMissing {
        /// The address.
        url: String,
    },
    /// The server could not be reached, or refused a request.
    #[error("{url}: {source}; hint: check the address, the credentials in the environment, and the network")]
    Store {
        /// The address of the dataset or file.
        url: String,
        /// The error of the client.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no such file or prefix.
    #[error("{url}: no dataset here; hint: {hint}")]
    NotFound {
        /// The address.
        url: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A list of files is malformed.
    #[error("{url}: {problem}; hint: upload the dataset again")]
    Listing {
        /// The address of the list.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The server does not identify the version of a file.
    #[error(
        "{url}: the server reports neither an ETag nor a modification time, so that a change could not be \
         detected; hint: use another server, or list the file in a shards.json with its SHA-256"
    )]
    NoIdentity {
        /// The address of the file.
        url: String,
    },
    /// A file is not the one that was listed.
    #[error("{url}: changed while it was downloaded ({expected}, then {found}); hint: run the command again")]
    Changed {
        /// The address of the file.
        url: String,
        /// The version that was listed.
        expected: String,
        /// The version that was found.
        found: String,
    },
    /// The contents of a file do not have the expected hash.
    #[error(
        "{url}: corrupt or modified: SHA-256 {found} instead of {expected}; hint: upload the dataset again, \
         with its manifest"
    )]
    Hash {
        /// The address of the file.
        url: String,
        /// The SHA-256 of the manifest or the hub.
        expected: String,
        /// The SHA-256 of the downloaded bytes.
        found: String,
    },
    /// The dataset is larger than the cache may be.
    #[error(
        "{url}: the dataset has {bytes} bytes, but the cache is limited to {limit_bytes}; hint: set \
         ISOCHRONE_CACHE_LIMIT to a larger size, such as 200GB"
    )]
    CacheTooSmall {
        /// The address of the dataset.
        url: String,
        /// The size of the dataset.
        bytes: u64,
        /// The limit on the cache.
        limit_bytes: u64,
    },
    /// The cache could not be read or written.
    #[error(
        "{}: {source}; hint: check that the cache folder is writable and has free space, or set \
         ISOCHRONE_CACHE to another", path.display()
    )]
    Cache {
        /// The file or folder of the cache.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// An environment variable has an invalid value.
    #[error("{variable} is '{value}'; hint: {hint}")]
    Variable {
        /// The name of the variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        hint: &'static str,
    },
}

#[cfg(feature = "remote")]
impl RemoteError {
    /// Converts an I/O error in the cache.
    pub(super) fn cache(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self + Copy {
        move |source| Self::Cache { path: path.into(), source }
    }
}
