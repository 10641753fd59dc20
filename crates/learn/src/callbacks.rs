//! Callbacks during training, and a handle that stops it.

use crate::run::{Record, RunConfig};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Training callbacks. The default implementations do nothing.
pub trait Callbacks: Send {
    /// Called once before the first update; `step` is the number of updates already done.
    fn on_start(&mut self, _config: &RunConfig, _step: u64) {}
    /// Called after every update.
    fn on_step(&mut self, _step: u64) {}
    /// Called with every metrics record.
    fn on_metrics(&mut self, _record: &Record) {}
    /// Called when a checkpoint is on disk.
    fn on_checkpoint(&mut self, _step: u64, _path: &Path) {}
    /// Called when something is wrong but training continues.
    fn on_warning(&mut self, _text: &str) {}
    /// Called once, after the last update or an error.
    fn on_end(&mut self) {}
}

/// Ignores all callbacks.
impl Callbacks for () {}

/// Stops training from another thread or a signal handler. Clones stop the same training.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// Requests a stop after the current update.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
