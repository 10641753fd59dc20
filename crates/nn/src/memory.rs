//! How the process keeps its memory.

/// Tells the allocator to keep freed memory instead of returning it to the system.
///
/// A training step frees as much as it allocates, and the GNU allocator gives large blocks back at once, only to fault them in
/// again: 8 % of a step at batch 2048. Call it once at the start of a program that trains. Does nothing on other systems.
pub fn retain_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code)]
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        const TRIM_THRESHOLD: i32 = -1;
        const MMAP_THRESHOLD: i32 = -3;
        const LARGEST_MMAP_THRESHOLD: i32 = 32 << 20;
        for (parameter, value) in [(TRIM_THRESHOLD, i32::MAX), (MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD)] {
            // SAFETY: a documented function of the C library that is linked; a value it does not like is ignored.
            #[expect(unsafe_code)]
            unsafe {
                mallopt(parameter, value);
            }
        }
    }
}
