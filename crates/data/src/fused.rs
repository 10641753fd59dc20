//! A writer that fails once.

use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, Write};

/// A writer that returns its first error, and from then on pretends to write.
///
/// Writers of archives go on after an error, when they are dropped. With another error they would
/// print a message of their own; at a place that they do not expect, they would panic.
#[derive(Debug)]
pub(crate) struct Fused<W> {
    inner: W,
    position: u64,
    end: u64,
    has_failed: bool,
}

impl<W> Fused<W> {
    /// Returns a writer to `inner`, which is empty.
    pub fn new(inner: W) -> Self {
        Self { inner, position: 0, end: 0, has_failed: false }
    }

    /// Returns the writer. Nothing is lost, since this writer has no buffer.
    ///
    /// # Errors
    /// If a write has failed.
    pub fn into_inner(self) -> Result<W> {
        if self.has_failed { Err(Error::other("an earlier write failed")) } else { Ok(self.inner) }
    }

    fn run<T>(&mut self, pretended: T, act: impl FnOnce(&mut W) -> Result<T>) -> Result<T> {
        if self.has_failed {
            return Ok(pretended);
        }
        act(&mut self.inner).inspect_err(|error| self.has_failed = error.kind() != ErrorKind::Interrupted)
    }
}

impl<W: Write> Write for Fused<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.run(bytes.len(), |inner| inner.write(bytes))?;
        // After an error, the file only grows.
        let start = if self.has_failed { self.end } else { self.position };
        self.position = start + written as u64;
        self.end = self.end.max(self.position);
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.run((), W::flush)
    }
}

impl<W: Seek> Seek for Fused<W> {
    fn seek(&mut self, place: SeekFrom) -> Result<u64> {
        // The error may have come at an earlier part of the file; writers go on at its end.
        let pretended = match place {
            SeekFrom::Start(position) => position,
            SeekFrom::Current(_) | SeekFrom::End(_) => self.end,
        };
        self.position = self.run(pretended, |inner| inner.seek(place))?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A disk with space for ten bytes.
    struct Full(Cursor<Vec<u8>>);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            match self.0.position() + bytes.len() as u64 > 10 {
                true => Err(ErrorKind::StorageFull.into()),
                false => self.0.write(bytes),
            }
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, place: SeekFrom) -> Result<u64> {
            self.0.seek(place)
        }
    }

    #[test]
    fn an_error_is_returned_once_and_places_stay_consistent() {
        let mut writer = Fused::new(Full(Cursor::default()));
        writer.write_all(&[1; 8]).unwrap();
        assert_eq!(writer.write_all(&[2; 8]).unwrap_err().kind(), ErrorKind::StorageFull);
        writer.write_all(&[3; 8]).unwrap();
        writer.flush().unwrap();
        assert_eq!(writer.stream_position().unwrap(), 16);
        assert_eq!(writer.seek(SeekFrom::Start(4)).unwrap(), 4);
        assert_eq!(writer.stream_position().unwrap(), 16);
        assert!(writer.into_inner().is_err());
    }
}
