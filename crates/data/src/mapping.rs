//! Memory-mapped files, of which only a bounded part is resident.

use crate::{DataError, regular_file};
use bytes::Bytes;
use memmap2::{Advice, Mmap, UncheckedAdvice};
use std::{
    fs::File,
    ops::Range,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// The access pattern of a mapped file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Random access: the system reads only the pages that are touched.
    #[default]
    Random,
    /// Sequential access: the system reads ahead.
    Sequential,
}

/// The number of bytes that may be resident before pages are released. The system maps up to 64 KiB
/// of cached neighbors around every page touched, so each access counts as that much: the resident
/// size is at most this, and typically far smaller.
const RESIDENT_BYTES: usize = 1 << 30;
/// The number of bytes that one access may make resident.
pub(crate) const ACCESS_BYTES: usize = 64 << 10;

/// A mapped file. Clones share the mapping.
#[derive(Debug, Clone)]
pub(crate) struct MappedFile(Arc<Mmap>);

/// Lets [`Bytes`] keep the mapping alive.
struct Owner(Arc<Mmap>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl MappedFile {
    pub fn open(path: &Path) -> Result<Self, DataError> {
        Self::of(&regular_file::open(path).map_err(DataError::read(path))?, path)
    }

    /// Maps an open file; `path` is its name in errors.
    pub fn of(file: &File, path: &Path) -> Result<Self, DataError> {
        // SAFETY: the mapping is read-only. Another process that truncates the file while it is
        // mapped can crash this one (SIGBUS); this is inherent in memory-mapped data and documented
        // in the guide. Our own writer never changes a file in place: it writes a new one and
        // renames it.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(file) }.map_err(DataError::read(path))?;
        Ok(Self(Arc::new(map)))
    }

    /// Announces how the file will be read from now on. This is only advice and does not affect the
    /// bytes read.
    pub fn advise(&self, access: Access) {
        let _ = self.0.advise(match access {
            Access::Random => Advice::Random,
            Access::Sequential => Advice::Sequential,
        });
    }

    /// Returns the bytes of the file without copying them.
    pub fn bytes(&self) -> Bytes {
        Bytes::from_owner(Owner(self.0.clone()))
    }

    /// Returns the byte range of a slice of the mapped file.
    pub fn range_of<T>(&self, slice: &[T]) -> Range<usize> {
        let begin = (slice.as_ptr() as usize).saturating_sub(self.0.as_ptr() as usize);
        begin..begin + size_of_val(slice)
    }

    /// Releases all resident pages.
    pub fn release(&self) {
        // SAFETY: the mapping is shared, read-only and backed by a file: a released page is read
        // again, with the same contents, when it is next touched, by this thread or another.
        #[allow(unsafe_code)]
        let _ = unsafe { self.0.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

/// The mapped files of a dataset. Pages are loaded when they are touched;
/// [`touched`](Self::touched) counts them and releases them.
#[derive(Debug)]
pub(crate) struct Mapping {
    files: Vec<MappedFile>,
    /// Over all files, so that many shards take no more memory than one file.
    touched_bytes: AtomicUsize,
}

impl Mapping {
    pub fn new(files: Vec<MappedFile>) -> Self {
        Self { files, touched_bytes: AtomicUsize::new(0) }
    }

    /// Returns the files, in the order of their episodes.
    pub fn files(&self) -> &[MappedFile] {
        &self.files
    }

    /// Asks the system to start reading the pages of a slice of a file, without waiting for them.
    pub fn will_need<T>(&self, file: usize, slice: &[T]) {
        let MappedFile(map) = &self.files[file];
        let range = self.files[file].range_of(slice);
        let _ = map.advise_range(Advice::WillNeed, range.start, range.len());
    }

    /// Notes that about this many bytes were touched, and releases resident pages from time to
    /// time.
    pub fn touched(&self, bytes: usize) {
        if self.touched_bytes.fetch_add(bytes, Relaxed) + bytes > RESIDENT_BYTES {
            self.touched_bytes.store(0, Relaxed);
            self.files.iter().for_each(MappedFile::release);
        }
    }
}
