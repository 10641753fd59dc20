//! The size from which a kernel is divided among threads.

/// One thread does less work, in operations on single numbers: about 0.03 ms, in which a sleeping
/// thread hardly wakes up.
const PARALLEL_FROM: usize = 1 << 20;

/// Returns the minimum number of tasks of a thread for a kernel of `operations` operations on
/// numbers; all tasks if waking other threads would take longer. Tasks do not share outputs, so
/// that results do not depend on it.
pub(super) fn min_tasks(operations: usize) -> usize {
    if operations < PARALLEL_FROM { usize::MAX } else { 1 }
}
