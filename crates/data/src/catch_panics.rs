//! Catches panics of libraries on corrupt files.

use std::{
    cell::Cell,
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread, now, would become an ordinary error. A program's panic hook can ask, and stay silent.
pub fn is_catching_panics() -> bool {
    IS_GUARDED.get()
}

/// Runs code that may panic because of what a file contains. The `parquet` crate does: some of its checks on the contents of pages are assertions.
/// What the code was working on must be dropped when this gives an error.
pub(crate) fn catch_panic<T, E: Display>(run: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    let before = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(before);
    match outcome {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it is corrupt");
            Err(format!("it is corrupt ({text})"))
        }
    }
}
