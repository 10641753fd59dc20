//! Batches prepared in advance, so that the learner does not wait for data.

use super::{GoalBatch, GoalSampler};
use std::{
    num::NonZeroUsize,
    sync::mpsc::{Receiver, Sender, channel, sync_channel},
    thread::JoinHandle,
};

/// Prepares batches on its own threads and returns them in order.
///
/// Worker `w` of `n` prepares the batches `first + w, first + w + n, ...`; batches are taken from
/// the workers in turn. The contents of a batch depend only on its number, so the sequence is the
/// same for any number of workers and any first batch.
pub struct Loader {
    workers: Vec<Worker>,
    turn: usize,
    current: Option<GoalBatch>,
}

struct Worker {
    ready: Receiver<GoalBatch>,
    used: Sender<GoalBatch>,
    thread: Option<JoinHandle<()>>,
}

impl Loader {
    /// Starts preparing batches from number `first_step` on, up to `ahead` per worker in advance.
    pub fn start(sampler: &GoalSampler, first_step: u64, workers: NonZeroUsize, ahead: NonZeroUsize) -> Self {
        let workers = (0..workers.get())
            .map(|worker| {
                let (ready_in, ready) = sync_channel(ahead.get());
                let (used, used_out) = channel::<GoalBatch>();
                let sampler = sampler.clone();
                let steps = (first_step + worker as u64..).step_by(workers.get());
                let make = move || {
                    for step in steps {
                        let mut batch = used_out.try_recv().unwrap_or_default();
                        sampler.fill(step, &mut batch);
                        if ready_in.send(batch).is_err() {
                            return;
                        }
                    }
                };
                let thread = std::thread::Builder::new().name(format!("loader-{worker}")).spawn(make);
                let thread = Some(thread.expect("the system can start a thread"));
                Worker { ready, used, thread }
            })
            .collect();
        Self { workers, turn: 0, current: None }
    }

    /// Returns the next batch. The memory of the previous one is reused.
    pub fn next_batch(&mut self) -> &GoalBatch {
        let n = self.workers.len();
        if let Some(used) = self.current.take() {
            let previous = (self.turn + n - 1) % n;
            // A worker that has ended needs no memory.
            let _ = self.workers[previous].used.send(used);
        }
        let worker = &mut self.workers[self.turn];
        let Ok(batch) = worker.ready.recv() else {
            // Workers only end by a panic, which is resumed here.
            let panic = worker.thread.take().and_then(|thread| thread.join().err());
            std::panic::resume_unwind(panic.unwrap_or_else(|| Box::new("a loader thread ended")));
        };
        self.turn = (self.turn + 1) % n;
        self.current.insert(batch)
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        for worker in self.workers.drain(..) {
            let Worker { ready, used, thread } = worker;
            drop((ready, used));
            if let Some(thread) = thread {
                let _ = thread.join();
            }
        }
    }
}
