//! The threads that compute, in this process and in processes forked from it.
//!
//! Rayon's global pool does not survive `fork`: the child has its locks and none of its threads,
//! and the first parallel loop waits forever (`multiprocessing` on Linux before Python 3.14,
//! workers of a `DataLoader`). So everything here runs in a pool of our own, and a child process
//! that finds the pool of its parent starts another.

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    cell::Cell,
    sync::atomic::{AtomicPtr, AtomicUsize, Ordering},
};

struct ProcessPool {
    process: u32,
    threads: usize,
    pool: ThreadPool,
}

/// Without a lock: a lock that another thread holds during a fork is never released in the child.
static POOL: AtomicPtr<ProcessPool> = AtomicPtr::new(std::ptr::null_mut());
/// The requested number of threads; 0 is the number of cores.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Returns a new pool; 0 threads are as many as there are cores.
pub fn pool_of(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("isochrone-{number}"))
        .start_handler(|_| IS_OURS.set(true))
        .build()
        .expect("threads can be started")
}

/// Returns the pool of this process. It lives as long as the process, since another thread may be
/// using it.
pub fn pool() -> &'static ThreadPool {
    let (process, threads) = (std::process::id(), THREADS.load(Ordering::Relaxed));
    let known = POOL.load(Ordering::Acquire);
    // SAFETY: the pointers in `POOL` come from `Box::leak` below and are never freed.
    #[expect(unsafe_code, reason = "a lock would not survive a fork")]
    if let Some(known) = unsafe { known.as_ref() }
        && known.process == process
        && known.threads == threads
    {
        return &known.pool;
    }
    let new = Box::leak(Box::new(ProcessPool { process, threads, pool: pool_of(threads) }));
    POOL.store(new, Ordering::Release);
    &new.pool
}

thread_local! {
    /// Whether this thread belongs to one of our pools.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
    /// The current thread as a pool of its own: small work runs here, without waking other threads.
    static CALLER: ThreadPool = ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build()
        .expect("the thread exists already");
}

/// The number of rows up to which a query runs on the calling thread.
pub const SMALL_ROWS: usize = 64;

/// Runs `work` without the interpreter lock: on this thread if it is small, otherwise in the pool.
/// Results do not depend on the number of threads.
pub fn compute<T: Send>(py: Python<'_>, is_small: bool, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| compute_detached(is_small, work))
}

/// As [`compute`], on a thread that does not hold the interpreter lock.
pub fn compute_detached<T: Send>(is_small: bool, work: impl FnOnce() -> T + Send) -> T {
    // One of our threads calls a Python callable, which may call us.
    if IS_OURS.get() {
        work()
    } else if is_small {
        CALLER.with(|caller| caller.install(work))
    } else {
        pool().install(work)
    }
}

/// Sets the number of threads that compute; 0 is the number of cores. Results do not depend on it.
#[pyfunction]
pub fn set_num_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// Returns the number of threads that compute.
#[pyfunction]
pub fn get_num_threads() -> usize {
    pool().current_num_threads()
}
