//! Remote files, and what identifies their versions.

use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, path::Path};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// A remote dataset: its files and the store that has them.
pub(super) struct Listing {
    pub store: Arc<dyn ObjectStore>,
    /// In the order of their names.
    pub objects: Vec<RemoteObject>,
}

/// A file of a remote dataset, as it was listed.
#[derive(Debug, Clone)]
pub(super) struct RemoteObject {
    /// The name inside the dataset, such as `part-00000.arrow` or `meta/info.json`.
    pub name: String,
    /// The address, for errors and as a part of the cache's key.
    pub url: String,
    /// The location in its store.
    pub location: Path,
    pub bytes: u64,
    pub version: Version,
    /// The SHA-256 of the contents, if a manifest or the hub gives it.
    pub sha256: Option<String>,
}

/// The version of a file. Two files with the same address, size and version have the same contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Version {
    /// The `ETag` of the server, without quotes.
    Etag(String),
    /// The modification time, of a server without an `ETag`.
    Modified(Box<ObjectMeta>),
    /// An identifier that is part of the address, or a hash: the address alone selects the version.
    Fixed(String),
}

impl Version {
    /// Returns the version that a store reports, if it reports any.
    pub fn of(meta: &ObjectMeta) -> Option<Self> {
        match &meta.e_tag {
            Some(etag) => Some(Self::Etag(without_quotes(etag).to_owned())),
            // A missing time is reported as 1970.
            None if meta.last_modified.timestamp() > 0 => Some(Self::Modified(Box::new(meta.clone()))),
            None => None,
        }
    }

    /// Returns the version as text.
    pub fn text(&self) -> String {
        match self {
            Self::Etag(etag) => format!("ETag {etag}"),
            Self::Modified(meta) => format!("modified {}", meta.last_modified.to_rfc3339()),
            Self::Fixed(text) => text.clone(),
        }
    }

    /// Returns whether a response has this version, as far as the response shows.
    pub fn matches(&self, response: &ObjectMeta) -> bool {
        match self {
            Self::Etag(etag) => {
                response.e_tag.as_ref().is_none_or(|found| without_quotes(found) == etag.as_str())
            }
            Self::Modified(meta) => response.last_modified == meta.last_modified,
            Self::Fixed(_) => true,
        }
    }

    /// Returns a request for everything from an offset on that the server rejects if it has
    /// another version.
    pub fn request(&self, offset: u64) -> GetOptions {
        let range = (offset > 0).then_some(GetRange::Offset(offset));
        let mut options = GetOptions { range, ..GetOptions::default() };
        match self {
            // A weak ETag never matches; the response is compared instead. Lists of some stores
            // leave out the quotes.
            Self::Etag(etag) if !etag.starts_with("W/") => options.if_match = Some(format!("\"{etag}\"")),
            Self::Modified(meta) => options.if_unmodified_since = Some(meta.last_modified),
            _ => {}
        }
        options
    }
}

fn without_quotes(etag: &str) -> &str {
    etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"')).unwrap_or(etag)
}

impl RemoteObject {
    /// Returns the name of the file in the cache: a hash of address, version and size.
    pub fn key(&self) -> String {
        let mut state = Sha256::new();
        for part in [&self.url, &self.version.text(), &self.bytes.to_string()] {
            state.update(part);
            state.update([0]);
        }
        crate::content_hash::hexadecimal(state)
    }
}
