//! An error message for a process that reads a mapped file which another process has truncated.
//!
//! The system sends SIGBUS when a page of a mapping has no bytes of the file anymore. There is no
//! value to continue with, so that the process has to end; the handler reports why.

use std::{
    path::Path,
    sync::atomic::{
        AtomicPtr, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// The maximum number of mappings whose files are named. Others end the process by the signal.
const MAX_LISTED: usize = 4096;
/// The exit code of an error.
#[cfg(unix)]
const FAILURE: i32 = 2;

/// The addresses of a mapping, and the name of its file. A handler of signals may not lock, so that
/// these are atomics.
struct Entry {
    /// The first address; [`FREE`] or [`TAKEN`] if the other fields are not valid.
    begin: AtomicUsize,
    end: AtomicUsize,
    name: AtomicPtr<u8>,
    name_bytes: AtomicUsize,
}

/// No mapping begins at these addresses.
const FREE: usize = 0;
const TAKEN: usize = 1;

static ENTRIES: [Entry; MAX_LISTED] = [const {
    Entry {
        begin: AtomicUsize::new(FREE),
        end: AtomicUsize::new(0),
        name: AtomicPtr::new(std::ptr::null_mut()),
        name_bytes: AtomicUsize::new(0),
    }
}; MAX_LISTED];

/// A mapping that the handler knows, until this is dropped.
#[derive(Debug)]
pub(crate) struct Listed {
    entry: usize,
    /// What the entry points to.
    _name: Box<[u8]>,
}

impl Listed {
    /// Lists a mapping of a file; `None` if there are too many.
    pub fn new(bytes: &[u8], path: &Path) -> Option<Self> {
        let take = |entry: &Entry| entry.begin.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok();
        let number = ENTRIES.iter().position(take)?;
        let name: String = path
            .display()
            .to_string()
            .replace(isochrone_core::is_control, &char::REPLACEMENT_CHARACTER.to_string());
        let mut name = name.into_bytes().into_boxed_slice();
        let entry = &ENTRIES[number];
        entry.name.store(name.as_mut_ptr(), Relaxed);
        entry.name_bytes.store(name.len(), Relaxed);
        let begin = bytes.as_ptr() as usize;
        entry.end.store(begin + bytes.len(), Relaxed);
        entry.begin.store(begin, Release);
        Some(Self { entry: number, _name: name })
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        ENTRIES[self.entry].begin.store(FREE, Release);
    }
}

/// Ends the process with an error message that names the file, and with exit code 2, when it
/// touches a page of a mapped dataset whose file has shrunk. Without this, and on other systems
/// than Unix, the process is ended by the signal, without a message. It is meant for programs: a
/// library should leave handlers of signals to its host.
///
/// # Errors
/// If the handler cannot be installed.
pub fn report_shrunk_files() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        // SAFETY: the handler only reads atomics and calls `write` and `_exit`, which are safe in
        // handlers of signals.
        #[allow(unsafe_code)]
        unsafe {
            signal_hook_registry::register_sigaction(libc::SIGBUS, |signal| report(signal.si_addr() as usize))
        }?;
    }
    Ok(())
}

/// Prints an error and ends the process if an address belongs to a mapping. Otherwise it returns,
/// and the default action of the signal follows.
#[cfg(unix)]
fn report(address: usize) {
    for entry in &ENTRIES {
        let begin = entry.begin.load(Acquire);
        if begin <= TAKEN || !(begin..entry.end.load(Relaxed)).contains(&address) {
            continue;
        }
        // SAFETY: the thread that touched the page uses the mapping, so that the entry and its name
        // live on while this handler interrupts it.
        #[allow(unsafe_code)]
        let name =
            unsafe { std::slice::from_raw_parts(entry.name.load(Relaxed), entry.name_bytes.load(Relaxed)) };
        for text in [
            b"error: ",
            name,
            b": the file became shorter while it was in use; hint: work on a copy that no other program changes\n",
        ] {
            // SAFETY: the bytes are valid. That they may not be written changes nothing.
            #[allow(unsafe_code)]
            let _ = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        }
        // SAFETY: it ends the process without running destructors, which might lock.
        #[allow(unsafe_code)]
        unsafe {
            libc::_exit(FAILURE)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_listed_while_they_live() {
        let bytes = vec![0_u8; 10];
        let begin = bytes.as_ptr() as usize;
        let is_listed = || ENTRIES.iter().any(|entry| entry.begin.load(Acquire) == begin);
        let listed = Listed::new(&bytes, Path::new("x")).expect("there are free entries");
        assert!(is_listed());
        drop(listed);
        assert!(!is_listed());
    }
}
