//! What communication costs.

use std::time::Duration;

/// The cost of all collective operations with the same purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traffic {
    /// What the data are.
    pub purpose: &'static str,
    /// The time in these operations, which includes waiting for slower processes.
    pub time: Duration,
    /// The number of operations.
    pub calls: u64,
    /// The bytes that this process sent.
    pub bytes: u64,
}

impl Traffic {
    pub(super) fn add(all: &mut Vec<Self>, purpose: &'static str, time: Duration, bytes: u64) {
        match all.iter_mut().find(|known| known.purpose == purpose) {
            Some(known) => {
                known.time += time;
                known.calls += 1;
                known.bytes += bytes;
            }
            None => all.push(Self { purpose, time, calls: 1, bytes }),
        }
    }
}
