//! Columns in memory on huge pages.

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer, ToByteSlice};
use bytes::Bytes;
use memmap2::MmapMut;

/// The minimum size for huge pages: below it, they would be mostly empty.
const MIN_BYTES: usize = 4 << 20;

/// Moves numbers to memory that the operating system may back with huge pages. Rows are read at
/// random, each from another page; with small pages, the processor would spend its time on address
/// translation. NumPy does the same.
pub(crate) fn on_huge_pages<T: ArrowNativeType>(values: Vec<T>) -> ScalarBuffer<T> {
    let bytes = values.to_byte_slice();
    if bytes.len() < MIN_BYTES {
        return values.into();
    }
    let Ok(mut pages) = MmapMut::map_anon(bytes.len()) else { return values.into() };
    // This is only advice: without it, everything works with small pages.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    pages.copy_from_slice(bytes);
    Buffer::from(Bytes::from_owner(pages)).into()
}
