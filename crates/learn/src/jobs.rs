//! Parallel execution of runs, each on one thread.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Runs jobs in parallel, each on one thread, as many at a time as there are cores.
///
/// Returns the results in the order of the jobs, or the error of the first job that failed. After
/// an error no further job is started. Panics if a job panics.
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
                // Kernels inside of a job see a pool of one thread.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = pool.install(|| run(job));
                    if result.is_err() {
                        next.store(jobs.len(), Ordering::Relaxed);
                    }
                    results.lock().expect("no thread panics while it holds the lock").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("a panic would have been propagated");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
