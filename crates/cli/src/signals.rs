//! Signals that ask the process to stop.

use crate::commands::output::note;
use anyhow::Context as _;
use isochrone::learn::StopHandle;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The exit code of a process that Ctrl-C (SIGINT) stopped.
const INTERRUPTED: u8 = 130;
/// The exit code of a process that SIGTERM or SIGHUP stopped.
#[cfg(unix)]
const TERMINATED: u8 = 143;

/// The exit code for the first signal; 0 before it.
static CODE: AtomicU8 = AtomicU8::new(0);

/// Whether the first signal ends the process immediately.
static IS_AT_ONCE: AtomicBool = AtomicBool::new(false);

/// While it lives, the first signal ends the process immediately: for work of minutes that is done
/// again from its beginning.
pub struct AtOnce(());

impl AtOnce {
    pub fn new() -> Self {
        IS_AT_ONCE.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for AtOnce {
    fn drop(&mut self) {
        IS_AT_ONCE.store(false, Ordering::SeqCst);
    }
}

/// Returns the exit code of a process that a signal stopped.
pub fn exit_code() -> u8 {
    match CODE.load(Ordering::SeqCst) {
        0 => INTERRUPTED,
        code => code,
    }
}

/// Returns a handle that Ctrl-C, SIGTERM or SIGHUP stops. The second signal ends the process
/// immediately, and so does the first one during [`AtOnce`].
pub fn stop_handle(is_announced: bool) -> anyhow::Result<StopHandle> {
    let stop = StopHandle::default();
    let handle = stop.clone();
    let receive = move |code: u8| {
        if handle.is_stopped() || IS_AT_ONCE.load(Ordering::SeqCst) {
            std::process::exit(i32::from(code));
        }
        CODE.store(code, Ordering::SeqCst);
        handle.stop();
        if is_announced {
            note("stopping after this step; press Ctrl-C again to stop immediately");
        }
    };
    listen(receive).context("cannot install the signal handler")?;
    Ok(stop)
}

#[cfg(unix)]
fn listen(receive: impl Fn(u8) + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let code = |signal| if signal == SIGINT { INTERRUPTED } else { TERMINATED };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || signals.forever().for_each(|signal| receive(code(signal))))?;
    Ok(())
}

#[cfg(not(unix))]
fn listen(receive: impl Fn(u8) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || receive(INTERRUPTED))
}
