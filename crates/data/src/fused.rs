//! A writer that fails for good.

use std::io::{Error, Result, Seek, SeekFrom, Write};

/// A writer that only returns errors after its first one.
///
/// Writers of archives go on after an error, when they are dropped. What they then find is not what
/// they believe to have written, and they panic.
#[derive(Debug)]
pub(crate) struct Fused<W> {
    inner: W,
    has_failed: bool,
}

impl<W> Fused<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, has_failed: false }
    }

    /// Returns the writer. Nothing is lost, since this writer has no buffer.
    pub fn into_inner(self) -> W {
        self.inner
    }

    fn run<T>(&mut self, act: impl FnOnce(&mut W) -> Result<T>) -> Result<T> {
        if self.has_failed {
            return Err(Error::other("an earlier write failed"));
        }
        act(&mut self.inner).inspect_err(|_| self.has_failed = true)
    }
}

impl<W: Write> Write for Fused<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.run(|inner| inner.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.run(W::flush)
    }
}

impl<W: Seek> Seek for Fused<W> {
    fn seek(&mut self, place: SeekFrom) -> Result<u64> {
        self.run(|inner| inner.seek(place))
    }
}
