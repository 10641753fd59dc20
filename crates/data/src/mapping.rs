//! A file seen as memory, of which only a bounded part is resident.

use crate::DataError;
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

/// How the file will be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Here and there: a touched page brings no neighbors from the disk.
    #[default]
    Random,
    /// From front to back: the system reads ahead.
    Sequential,
}

/// What may be resident before pages are given back. The system maps up to 64 KiB of cached neighbors around every page touched,
/// so accesses are counted as that much: what is really resident is at most this, usually far less.
const RESIDENT_BYTES: usize = 1 << 30;
/// What one access may make resident.
pub(crate) const ACCESS_BYTES: usize = 64 << 10;

/// A mapped file. Pages come in when they are touched; [`touched`](Self::touched) keeps count and gives them back.
#[derive(Debug)]
pub(crate) struct Mapping {
    file: Arc<Mmap>,
    touched_bytes: AtomicUsize,
}

/// Lets [`Bytes`] keep the mapping alive.
struct Owner(Arc<Mmap>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Mapping {
    pub fn open(path: &Path) -> Result<Self, DataError> {
        Self::of(&File::open(path).map_err(DataError::read(path))?, path)
    }

    /// Maps an open file; `path` is its name in errors.
    pub fn of(file: &File, path: &Path) -> Result<Self, DataError> {
        // SAFETY: the mapping is read-only. Another process that truncates the file while it is mapped can crash this one (SIGBUS);
        // that is the contract of memory-mapped data everywhere, and said in the guide. Our own writer never changes a file in
        // place: it writes a new one and renames it.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(file) }.map_err(DataError::read(path))?;
        Ok(Self { file: Arc::new(map), touched_bytes: AtomicUsize::new(0) })
    }

    /// Says how the file will be read from now on. A system that does not listen still gives the right bytes.
    pub fn advise(&self, access: Access) {
        let _ = self.file.advise(match access {
            Access::Random => Advice::Random,
            Access::Sequential => Advice::Sequential,
        });
    }

    /// The whole file, without a copy.
    pub fn bytes(&self) -> Bytes {
        Bytes::from_owner(Owner(self.file.clone()))
    }

    /// Where a slice of the mapped file lies in it.
    pub fn range_of<T>(&self, slice: &[T]) -> Range<usize> {
        let begin = (slice.as_ptr() as usize).saturating_sub(self.file.as_ptr() as usize);
        begin..begin + size_of_val(slice)
    }

    /// Asks the system to begin reading the pages of a slice, without waiting for them.
    pub fn want<T>(&self, slice: &[T]) {
        let range = self.range_of(slice);
        let _ = self.file.advise_range(Advice::WillNeed, range.start, range.len());
    }

    /// Says that about this many bytes were touched; now and then gives resident pages back to the system.
    pub fn touched(&self, bytes: usize) {
        if self.touched_bytes.fetch_add(bytes, Relaxed) + bytes > RESIDENT_BYTES {
            self.touched_bytes.store(0, Relaxed);
            // SAFETY: the mapping is shared, read-only and backed by a file: a page given back is read again, with the same
            // contents, when it is next touched, by this thread or another.
            #[allow(unsafe_code)]
            let _ = unsafe { self.file.unchecked_advise(UncheckedAdvice::DontNeed) };
        }
    }
}
