//! The download of one file, which continues after an interruption.

use super::{
    RemoteError,
    object::{RemoteObject, Version},
};
use crate::content_hash::hexadecimal;
use futures_util::StreamExt as _;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt as _};
use sha2::{Digest as _, Sha256};
use std::{
    fs::File,
    io::{Read as _, Write as _},
    path::Path,
};

/// Downloads a file to `part`, after the bytes that an earlier download left there, and returns its
/// SHA-256. `advance` receives the number of bytes of each piece, and a negative number if bytes
/// are discarded.
///
/// # Errors
/// If the file is not the one that was listed, has another hash, or the server cannot be reached.
/// Except for a wrong hash, the bytes so far remain in `part`.
pub(super) async fn download(
    store: &dyn ObjectStore,
    object: &RemoteObject,
    part: &Path,
    advance: &dyn Fn(i64),
) -> Result<String, RemoteError> {
    let mut download = Download::open(object, part)?;
    while download.bytes < object.bytes {
        let before = download.bytes;
        match download.advance(store, advance).await {
            Ok(()) if download.bytes == before => return Err(download.changed("an empty response".into())),
            // The connection ended early: the next request continues.
            Ok(()) => {}
            // The server has no ranges.
            Err(StoreFailure::Store(StoreError::NotSupported { .. })) if before > 0 => {
                download.restart()?;
                advance(-(before as i64));
            }
            // Whatever arrived was an advance, so another request is worthwhile.
            Err(StoreFailure::Store(_)) if download.bytes > before => {}
            Err(StoreFailure::Store(error)) => return Err(download.cause(store, error).await),
            Err(StoreFailure::Final(error)) => return Err(error),
        }
    }
    let found = hexadecimal(download.state.clone());
    match &object.sha256 {
        Some(expected) if *expected != found => {
            // Nothing of it can be used.
            let _ = std::fs::remove_file(part);
            Err(RemoteError::Hash { url: object.url.clone(), expected: expected.clone(), found })
        }
        _ => Ok(found),
    }
}

/// Returns the number of bytes that an earlier download left.
pub(super) fn resumable_bytes(object: &RemoteObject, part: &Path) -> u64 {
    std::fs::metadata(part).map(|file| file.len()).ok().filter(|&bytes| bytes <= object.bytes).unwrap_or(0)
}

struct Download<'a> {
    object: &'a RemoteObject,
    part: &'a Path,
    file: File,
    bytes: u64,
    state: Sha256,
}

enum StoreFailure {
    /// The store failed; the bytes so far are valid.
    Store(StoreError),
    /// Another request would not help.
    Final(RemoteError),
}

impl<'a> Download<'a> {
    /// Opens a part and hashes what it has.
    fn open(object: &'a RemoteObject, part: &'a Path) -> Result<Self, RemoteError> {
        let fail = RemoteError::cache(part);
        let file = File::options().create(true).read(true).append(true).open(part).map_err(fail)?;
        let mut download = Self { object, part, file, bytes: 0, state: Sha256::new() };
        if download.file.metadata().map_err(fail)?.len() > object.bytes {
            download.restart()?;
        }
        let mut buffer = vec![0; 1 << 20];
        loop {
            let read = download.file.read(&mut buffer).map_err(fail)?;
            if read == 0 {
                return Ok(download);
            }
            download.state.update(&buffer[..read]);
            download.bytes += read as u64;
        }
    }

    /// Discards the bytes so far.
    fn restart(&mut self) -> Result<(), RemoteError> {
        self.file.set_len(0).map_err(RemoteError::cache(self.part))?;
        (self.bytes, self.state) = (0, Sha256::new());
        Ok(())
    }

    /// Requests everything that is missing and appends what arrives.
    async fn advance(&mut self, store: &dyn ObjectStore, advance: &dyn Fn(i64)) -> Result<(), StoreFailure> {
        let (object, request) = (self.object, self.object.version.request(self.bytes));
        let response = store.get_opts(&object.location, request).await.map_err(StoreFailure::Store)?;
        if response.meta.size != object.bytes {
            let found = format!("{} bytes instead of {}", response.meta.size, object.bytes);
            return Err(StoreFailure::Final(self.changed(found)));
        }
        if !object.version.matches(&response.meta) {
            let found = Version::of(&response.meta).map_or_else(String::new, |version| version.text());
            return Err(StoreFailure::Final(self.changed(found)));
        }
        let mut pieces = response.into_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(StoreFailure::Store)?;
            if self.bytes + piece.len() as u64 > object.bytes {
                return Err(StoreFailure::Final(self.changed("more bytes than listed".into())));
            }
            let fail = |error| StoreFailure::Final(RemoteError::cache(self.part)(error));
            self.file.write_all(&piece).map_err(fail)?;
            self.state.update(&piece);
            self.bytes += piece.len() as u64;
            advance(piece.len() as i64);
        }
        Ok(())
    }

    fn changed(&self, found: String) -> RemoteError {
        let (url, expected) = (self.object.url.clone(), self.object.version.text());
        RemoteError::Changed { url, expected, found }
    }

    /// Returns what a failed request means: web stores do not report a rejected condition as such.
    async fn cause(&self, store: &dyn ObjectStore, error: StoreError) -> RemoteError {
        if let StoreError::Precondition { .. } = error {
            return self.changed("another version".into());
        }
        match store.head(&self.object.location).await {
            Ok(meta) if !self.object.version.matches(&meta) || meta.size != self.object.bytes => {
                self.changed(Version::of(&meta).map_or_else(String::new, |version| version.text()))
            }
            _ => RemoteError::Store { url: self.object.url.clone(), source: error.into() },
        }
    }
}
