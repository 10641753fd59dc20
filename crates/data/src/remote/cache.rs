//! The cache of complete files, limited in size.
//!
//! `objects/KEY` is a complete file and `objects/KEY.json` its record; the record's modification
//! time is the time of the last use. `objects/KEY.part` is an unfinished download. A key is a hash
//! of address, version and size, so that parts of different versions are never mixed.

use super::{CacheOptions, RemoteError, object::RemoteObject};
use crate::{atomic, file_hash::file_sha256};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashSet,
    fs::{self, File},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The extension of an unfinished download.
const PART: &str = "part";
/// The digits of a key.
const KEY_DIGITS: usize = 64;

pub(super) struct Cache {
    folder: PathBuf,
    limit_bytes: u64,
}

/// What is known about a complete file.
#[derive(Serialize, Deserialize)]
struct Record {
    url: String,
    version: String,
    bytes: u64,
    sha256: String,
}

/// The state of a file in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cached {
    /// Complete, with the hash of its record.
    Complete,
    /// Not there, or not complete.
    Missing,
    /// There, but with other contents than were downloaded.
    Corrupt,
}

/// Held while files are added and deleted. It is released when the process ends.
pub(super) struct CacheLock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

/// A file of the cache that may be deleted.
struct Evictable {
    last_use: SystemTime,
    bytes: u64,
    paths: Vec<PathBuf>,
}

impl Cache {
    pub fn open(options: &CacheOptions) -> Result<Self, RemoteError> {
        let cache = Self { folder: options.folder.clone(), limit_bytes: options.limit_bytes };
        for folder in [cache.objects(), cache.views()] {
            fs::create_dir_all(&folder).map_err(RemoteError::cache(&folder))?;
        }
        Ok(cache)
    }

    fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// Returns the folder of datasets, which are links to objects.
    pub fn views(&self) -> PathBuf {
        self.folder.join("views")
    }

    /// Returns the path of a complete file.
    pub fn path(&self, key: &str) -> PathBuf {
        self.objects().join(key)
    }

    /// Returns the path of an unfinished download.
    pub fn part(&self, key: &str) -> PathBuf {
        self.path(key).with_extension(PART)
    }

    fn record(&self, key: &str) -> PathBuf {
        self.path(key).with_extension("json")
    }

    /// Waits until no other process changes the cache.
    pub fn lock(&self) -> Result<CacheLock, RemoteError> {
        let path = self.folder.join("lock");
        let fail = RemoteError::cache(&path);
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(fail)?;
        file.lock().map_err(fail)?;
        Ok(CacheLock(file))
    }

    /// Returns whether a file is complete and has the contents that were downloaded. Its time of
    /// use is updated.
    pub fn look_up(&self, object: &RemoteObject) -> Cached {
        let key = object.key();
        let record = fs::read(self.record(&key)).ok();
        let Some(record) = record.and_then(|text| serde_json::from_slice::<Record>(&text).ok()) else {
            return Cached::Missing;
        };
        // The present manifest decides, not the one at the time of the download.
        let is_expected = object.sha256.as_ref().is_none_or(|expected| *expected == record.sha256);
        match file_sha256(&self.path(&key)) {
            Ok((bytes, sha256)) if (bytes, &sha256) == (record.bytes, &record.sha256) && is_expected => {
                // Only the order of deletion depends on it.
                let _ = File::options()
                    .write(true)
                    .open(self.record(&key))
                    .and_then(|file| file.set_modified(SystemTime::now()));
                Cached::Complete
            }
            Ok(_) => Cached::Corrupt,
            Err(_) => Cached::Missing,
        }
    }

    /// Deletes a file.
    pub fn remove(&self, key: &str) -> Result<(), RemoteError> {
        [self.record(key), self.path(key), self.part(key)].iter().try_for_each(|path| remove_file(path))
    }

    /// Makes a finished download visible. The record comes first: a process that is killed in
    /// between leaves a part that is complete, and not a file that does not count.
    pub fn commit(&self, object: &RemoteObject, sha256: String) -> Result<(), RemoteError> {
        let key = object.key();
        let (part, path) = (self.part(&key), self.path(&key));
        File::open(&part).and_then(|file| file.sync_all()).map_err(RemoteError::cache(&part))?;
        let version = object.version.text();
        let record = Record { url: object.url.clone(), version, bytes: object.bytes, sha256 };
        let text = serde_json::to_string_pretty(&record).expect("a record is plain data");
        let record = self.record(&key);
        atomic::write_one_of_many(&record, text.as_bytes()).map_err(RemoteError::cache(&record))?;
        fs::rename(&part, &path).map_err(RemoteError::cache(&path))
    }

    /// Deletes the least recently used files until everything fits, including the complete files
    /// `in_use`, which are never deleted.
    pub fn make_room(
        &self,
        url: &dyn std::fmt::Display,
        in_use: &HashSet<String>,
        bytes_in_use: u64,
    ) -> Result<(), RemoteError> {
        if bytes_in_use > self.limit_bytes {
            let (url, limit_bytes) = (url.to_string(), self.limit_bytes);
            return Err(RemoteError::CacheTooSmall { url, bytes: bytes_in_use, limit_bytes });
        }
        let mut others = self.others(in_use)?;
        others.sort_by_key(|file| file.last_use);
        let mut bytes: u64 = bytes_in_use + others.iter().map(|file| file.bytes).sum::<u64>();
        for file in others {
            if bytes <= self.limit_bytes {
                break;
            }
            file.paths.iter().try_for_each(|path| remove_file(path))?;
            bytes -= file.bytes;
        }
        Ok(())
    }

    /// Returns all files except those in use, with the time of their last use.
    fn others(&self, in_use: &HashSet<String>) -> Result<Vec<Evictable>, RemoteError> {
        let folder = self.objects();
        let fail = RemoteError::cache(&folder);
        let mut others = Vec::new();
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            let key = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_record = path.extension().is_some_and(|extension| extension == "json");
            let Ok(file) = fs::metadata(&path) else { continue };
            if atomic::is_unfinished(&path) {
                // Of a process that was killed: this one holds the lock.
                remove_file(&path)?;
                continue;
            }
            if !is_name(&key, KEY_DIGITS) || in_use.contains(&key) || is_record {
                continue;
            }
            let record = self.record(&key);
            let last_use = fs::metadata(&record).and_then(|record| record.modified()).or(file.modified());
            others.push(Evictable {
                last_use: last_use.unwrap_or(SystemTime::UNIX_EPOCH),
                bytes: file.len(),
                // Without its record, a file does not count as complete.
                paths: vec![record, path],
            });
        }
        Ok(others)
    }
}

/// Whether the cache gives such names. Nothing else is deleted: the folder may be one that has
/// files of others.
pub(super) fn is_name(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn remove_file(path: &Path) -> Result<(), RemoteError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(RemoteError::cache(path)(error)),
        _ => Ok(()),
    }
}
