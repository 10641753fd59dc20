//! Catches panics of libraries that read corrupt files.

use std::{
    cell::Cell,
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic on this thread would currently be caught and returned as an error, so
/// that a program's panic hook can ignore it.
pub fn is_catching_panics() -> bool {
    IS_CATCHING.get()
}

/// Runs code that may panic on corrupt input, and returns a panic as an error. The `parquet` crate,
/// for example, checks some contents of pages with assertions. After an error, the caller must drop
/// the values that the code was working on.
pub(crate) fn catch_panic<T, E: Display>(run: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    let before = IS_CATCHING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    IS_CATCHING.set(before);
    match outcome {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it is corrupt");
            Err(format!("it is corrupt ({text})"))
        }
    }
}
