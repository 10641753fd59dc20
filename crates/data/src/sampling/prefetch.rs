//! Prefetches rows that will be read soon.

/// The number of values in a cache line.
const LINE: usize = 16;

/// Requests all cache lines of a slice without waiting for them: unlike loads, prefetches of many
/// rows run at the same time. The target is the second-level cache, since a chunk of rows does not
/// fit in the first.
#[inline(always)]
pub(super) fn prefetch(values: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // Datasets without actions have nothing to request.
        let Some(last) = values.len().checked_sub(1) else { return };
        // One element per line, and the last element, which may lie on its own line.
        let mut at = 0;
        while at < last + LINE {
            let element = values.as_ptr().wrapping_add(at.min(last));
            // SAFETY: a prefetch is a hint that reads nothing and cannot fault; besides, the
            // address is that of a live element.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T1>(element.cast());
            }
            at += LINE;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // A load has the same effect, but waits.
        std::hint::black_box(values.iter().step_by(LINE).fold(0, |sum, value| sum | value.to_bits()));
    }
}
