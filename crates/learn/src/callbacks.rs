//! What a program sees of training while it goes on, and how it stops it.

use crate::run::{Record, RunConfig};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Training callbacks. Every method does nothing unless it is implemented.
pub trait Callbacks: Send {
    /// Called once, before the first update; `step` is the number of updates done before.
    fn on_start(&mut self, _config: &RunConfig, _step: u64) {}
    /// Called after every update.
    fn on_step(&mut self, _step: u64) {}
    /// Called with every record of metrics.
    fn on_metrics(&mut self, _record: &Record) {}
    /// Called when a checkpoint is durable.
    fn on_checkpoint(&mut self, _step: u64, _path: &Path) {}
    /// Called when something is wrong, but training goes on.
    fn on_warning(&mut self, _text: &str) {}
    /// Called once, after the last update or an error.
    fn on_end(&mut self) {}
}

/// No callbacks.
impl Callbacks for () {}

/// Stops a training from elsewhere: another thread, a signal handler. Clones stop the same.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// Asks the training to stop after the current update.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
