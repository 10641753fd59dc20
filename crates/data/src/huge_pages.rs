//! Columns in memory, on large pages.

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer, ToByteSlice};
use bytes::Bytes;
use memmap2::MmapMut;

/// Below this, large pages would be mostly empty.
const LEAST_BYTES: usize = 4 << 20;

/// Moves numbers to memory that the system may back with large pages. Rows are read at random, each from another page, and with small ones the
/// processor would spend its time finding pages. NumPy does the same.
pub(crate) fn on_large_pages<T: ArrowNativeType>(values: Vec<T>) -> ScalarBuffer<T> {
    let bytes = values.to_byte_slice();
    if bytes.len() < LEAST_BYTES {
        return values.into();
    }
    let Ok(mut pages) = MmapMut::map_anon(bytes.len()) else { return values.into() };
    // Advice: without it, everything works with small pages.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    pages.copy_from_slice(bytes);
    Buffer::from(Bytes::from_owner(pages)).into()
}
