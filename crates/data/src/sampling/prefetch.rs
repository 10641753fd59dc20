//! Prefetching of rows that will be read soon.

/// A line of the processor's cache, in numbers.
const LINE: usize = 16;

/// Asks for all lines of a slice and does not wait for any: unlike loads, prefetches of many rows are under way at once. Into the second level of cache,
/// since a chunk of rows does not fit in the first.
#[inline(always)]
pub(super) fn prefetch(values: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // Logs of states alone have no actions to ask for.
        let Some(last) = values.len().checked_sub(1) else { return };
        // From element to element, a line apart, and the last one: it may lie on a line of its own.
        let mut at = 0;
        while at < last + LINE {
            let element = values.as_ptr().wrapping_add(at.min(last));
            // SAFETY: a prefetch is a hint that reads nothing and cannot fault; the address is that of a live element besides.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T1>(element.cast());
            }
            at += LINE;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // A load is a prefetch that waits.
        std::hint::black_box(values.iter().step_by(LINE).fold(0, |sum, value| sum | value.to_bits()));
    }
}
