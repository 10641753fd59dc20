//! Allocator settings.

/// Configures the allocator to retain freed memory instead of returning it to the operating system.
///
/// A training step frees as much as it allocates, and the GNU allocator immediately returns large
/// blocks, which then cause page faults in the next step: 8 % of a step at batch 2048. Call this
/// once at the start of a program that trains. It does nothing on systems other than Linux with the
/// GNU C library.
pub fn retain_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code)]
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        const TRIM_THRESHOLD: i32 = -1;
        const MMAP_THRESHOLD: i32 = -3;
        const MAX_MMAP_THRESHOLD: i32 = 32 << 20;
        for (parameter, value) in [(TRIM_THRESHOLD, i32::MAX), (MMAP_THRESHOLD, MAX_MMAP_THRESHOLD)] {
            // SAFETY: `mallopt` is a documented function of the linked C library, and it ignores
            // invalid values.
            #[expect(unsafe_code)]
            unsafe {
                mallopt(parameter, value);
            }
        }
    }
}
