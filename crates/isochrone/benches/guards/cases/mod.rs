//! The workloads. Each is small, deterministic and on one thread.

mod kernels;
mod learners;
mod queries;

use isochrone::rng;

/// The calls of a case. The last one is counted; those before it create caches, moments of
/// optimizers and the heap.
pub const CALLS: usize = 3;

/// A workload by name.
pub struct Case {
    pub name: String,
    pub prepare: Prepare,
}

/// Prepares data, and returns the call that is counted.
type Prepare = Box<dyn FnOnce() -> Call>;

/// One call. All calls do work of the same size.
type Call = Box<dyn FnMut()>;

/// Returns all cases.
pub fn all() -> Vec<Case> {
    [kernels::all(), learners::all(), queries::all()].into_iter().flatten().collect()
}

impl Case {
    fn new(name: impl Into<String>, prepare: impl FnOnce() -> Call + 'static) -> Self {
        Self { name: name.into(), prepare: Box::new(prepare) }
    }
}

/// Returns numbers in [-0.5, 0.5), from one stream for each array of a case.
fn noise(stream: u64, count: usize) -> Vec<f32> {
    let mut random = rng::stream(1, stream);
    (0..count).map(|_| rng::unit_f64(&mut random) as f32 - 0.5).collect()
}
