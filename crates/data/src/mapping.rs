//! Memory-mapped files, of which only a bounded part is resident.
//!
//! Another process that truncates a mapped file ends this one (SIGBUS) when it touches a page that
//! is gone. Small files are therefore copied into memory, up to a total; larger ones can only be
//! mapped, and programs name the file in an error (`crate::report_shrunk_files`).

use crate::{DataError, regular_file, shrunk_file::Listed};
use bytes::Bytes;
use memmap2::{Advice, Mmap, MmapMut, UncheckedAdvice};
use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
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

/// The maximum size of a file that is copied into memory.
const MAX_COPY_BYTES: usize = 64 << 20;
/// The maximum size of all files of the process that are copied into memory: a dataset of many
/// small shards takes no more memory than a large one.
const MAX_COPIES_BYTES: usize = 256 << 20;

static COPIES_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A mapped file, or a copy of it. Clones share the mapping.
#[derive(Debug, Clone)]
pub(crate) struct MappedFile(Arc<Pages>);

#[derive(Debug)]
enum Pages {
    OfFile {
        // Dropped first: the addresses may belong to another mapping once this one is gone.
        _listed: Option<Listed>,
        map: Mmap,
    },
    /// Pages that belong to no file, and would be lost if they were released.
    Copy { map: Mmap, _share: CopiedBytes },
}

impl Pages {
    fn map(&self) -> &Mmap {
        match self {
            Self::OfFile { map, .. } | Self::Copy { map, .. } => map,
        }
    }
}

/// A share of the memory for copies, given back when it is dropped.
#[derive(Debug)]
struct CopiedBytes(usize);

impl CopiedBytes {
    fn take(bytes: usize) -> Option<Self> {
        let fits = |held: usize| held.checked_add(bytes).filter(|held| *held <= MAX_COPIES_BYTES);
        COPIES_BYTES.fetch_update(Relaxed, Relaxed, fits).ok().map(|_| Self(bytes))
    }
}

impl Drop for CopiedBytes {
    fn drop(&mut self) {
        COPIES_BYTES.fetch_sub(self.0, Relaxed);
    }
}

/// Lets [`Bytes`] keep the mapping alive.
struct Owner(Arc<Pages>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        self.0.map()
    }
}

impl MappedFile {
    pub fn open(path: &Path) -> Result<Self, DataError> {
        Self::of(&regular_file::open(path).map_err(DataError::read(path))?, path)
    }

    /// Maps or copies an open file; `path` is its name in errors.
    pub fn of(file: &File, path: &Path) -> Result<Self, DataError> {
        if let Some(copy) = copy(file).map_err(DataError::read(path))? {
            return Ok(Self(Arc::new(copy)));
        }
        // SAFETY: the mapping is read-only. Another process that truncates the file while it is
        // mapped ends this one (SIGBUS); this is inherent in memory-mapped data, and reported. Our
        // own writer never changes a file in place: it writes a new one and renames it.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(file) }.map_err(DataError::read(path))?;
        let listed = Listed::new(&map, path);
        Ok(Self(Arc::new(Pages::OfFile { _listed: listed, map })))
    }

    /// Announces how the file will be read from now on. This is only advice and does not affect the
    /// bytes read.
    pub fn advise(&self, access: Access) {
        let _ = self.0.map().advise(match access {
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
        let begin = (slice.as_ptr() as usize).saturating_sub(self.0.map().as_ptr() as usize);
        begin..begin + size_of_val(slice)
    }

    /// Releases all resident pages that can be read again.
    pub fn release(&self) {
        let Pages::OfFile { map, .. } = &*self.0 else { return };
        // SAFETY: the mapping is shared, read-only and backed by a file: a released page is read
        // again, with the same contents, when it is next touched, by this thread or another.
        #[allow(unsafe_code)]
        let _ = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

/// Returns a copy of a small file, aligned like a mapping; `None` if it has to be mapped.
fn copy(mut file: &File) -> std::io::Result<Option<Pages>> {
    let bytes = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    if bytes == 0 || bytes > MAX_COPY_BYTES {
        return Ok(None);
    }
    let Some(share) = CopiedBytes::take(bytes) else { return Ok(None) };
    let mut map = MmapMut::map_anon(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut map)?;
    Ok(Some(Pages::Copy { map: map.make_read_only()?, _share: share }))
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
        let map = self.files[file].0.map();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_may_shrink_while_it_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, vec![7; 100_000]).unwrap();
        let mapped = MappedFile::open(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        // The pages of a file would be gone.
        mapped.release();
        assert!(mapped.bytes().iter().all(|&byte| byte == 7) && mapped.bytes().len() == 100_000);
    }

    #[test]
    fn copies_are_bounded_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        // Neither takes room on the disk.
        File::create(&path).unwrap().set_len(MAX_COPY_BYTES as u64).unwrap();
        let all: Vec<MappedFile> = (0..6).map(|_| MappedFile::open(&path).unwrap()).collect();
        let is_copy = |file: &&MappedFile| matches!(*file.0, Pages::Copy { .. });
        assert!((1..=MAX_COPIES_BYTES / MAX_COPY_BYTES).contains(&all.iter().filter(is_copy).count()));
        drop(all);
        assert!(is_copy(&&MappedFile::open(&path).unwrap()));
        File::create(&path).unwrap().set_len(MAX_COPY_BYTES as u64 + 1).unwrap();
        assert!(!is_copy(&&MappedFile::open(&path).unwrap()));
    }
}
