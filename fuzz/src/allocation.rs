//! An allocator that aborts when one input holds too much memory.
//!
//! The limit of libFuzzer itself needs a sanitizer, which makes runs several times slower.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::Write as _,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

/// The number of bytes that one input may hold at once.
pub const LIMIT_BYTES: usize = 256 << 20;

static HELD: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static IS_WATCHING: AtomicBool = AtomicBool::new(false);

/// Forwards every call to the system's allocator and counts bytes.
pub struct Limited;

/// Starts to enforce the limit.
pub(crate) fn watch() {
    IS_WATCHING.store(true, Relaxed);
}

/// Notes what is held before an input.
pub(crate) fn begin() {
    BEFORE.store(HELD.load(Relaxed), Relaxed);
}

fn add(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    if held.saturating_sub(BEFORE.load(Relaxed)) > LIMIT_BYTES && IS_WATCHING.swap(false, Relaxed) {
        // No formatting: it would allocate.
        let _ = std::io::stderr().write_all(b"over-allocation: an input holds more than 256 MiB\n");
        let trace = std::backtrace::Backtrace::force_capture();
        eprintln!("{trace}");
        std::process::abort();
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Relaxed);
        add(size);
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}
