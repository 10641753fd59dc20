//! Many runs at a time, each on one thread.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Runs every job on a thread of its own, as many at a time as there are cores; results in the order of the jobs, or the error of the
/// first job that has one. After an error no further job begins. A job that panics makes it panic.
pub fn run_in_parallel<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    run: impl Fn(&J) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(jobs.len()) {
            scope.spawn(|| {
                // Kernels that look for threads find one: this one.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = pool.install(|| run(job));
                    if result.is_err() {
                        next.store(jobs.len(), Ordering::Relaxed);
                    }
                    results.lock().expect("no one panics with it").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no one panicked");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
