//! A limit on the processor time of one input.
//!
//! The limit of libFuzzer itself counts the time on the clock, in which other processes run, too.

use std::time::Duration;

/// The processor time that one input may take.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Returns the processor time of this process.
fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes only to the structure that it receives.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Runs one input, and aborts if it took too long.
pub(crate) fn limited(run: impl FnOnce()) {
    let start = now();
    run();
    let took = now().saturating_sub(start);
    if took > LIMIT {
        eprintln!("hang: an input takes {:.1} s of processor time", took.as_secs_f64());
        std::process::abort();
    }
}
