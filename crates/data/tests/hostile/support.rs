//! Helpers of the tests.

use crate::allocation;
use isochrone_data::{
    DataError, Dataset, DatasetBuilder, Defect, EpisodeSink, EpisodeView, Spec,
    formats::{Format, ReadOptions},
};
use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The number of bytes that any of the readers may hold for a small file.
pub const MAX_BYTES: usize = 256 << 20;

/// Waits for the other tests, of which the allocator would count the bytes as well.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a reader, and checks how much memory it holds at most.
pub fn within_memory<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let began = std::time::Instant::now();
    let (result, peak) = allocation::peak_of(run);
    println!("{what}: {} KiB, {:.2} s", peak >> 10, began.elapsed().as_secs_f64());
    assert!(peak <= MAX_BYTES, "{what}: {peak} bytes");
    result
}

/// A sink that accepts everything, as a validator does, and holds nothing.
pub struct Tolerant;

impl EpisodeSink for Tolerant {
    fn begin(&mut self, _: &Spec) -> Result<(), DataError> {
        Ok(())
    }

    fn episode(&mut self, _: &EpisodeView<'_>) -> Result<(), DataError> {
        Ok(())
    }

    fn defect(&mut self, _: Defect) -> Result<(), DataError> {
        Ok(())
    }
}

/// Reads a file into memory, in the detected format.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Dataset, DataError> {
    let mut builder = DatasetBuilder::default();
    Format::detect(path)?.read(path, options, &mut builder)?;
    Ok(builder.finish())
}

/// Returns the text of the error, which is one line with a hint.
pub fn refused<T>(result: Result<T, impl std::fmt::Display>) -> String {
    let error = result.err().expect("it is refused").to_string();
    assert!(error.contains("; hint: ") && !error.contains('\n'), "{error}");
    error
}
