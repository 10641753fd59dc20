//! Ranks as threads of one process.

use super::Collective;
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};

/// One rank. A thread that ends early leaves the others waiting.
pub(super) struct ThreadRank {
    rank: usize,
    /// The shared memory of all ranks and that of each of its groups, by size.
    shared: Arc<Shared>,
}

struct Shared {
    size: usize,
    barrier: Barrier,
    messages: Mutex<Vec<Vec<f32>>>,
    bytes: Mutex<Vec<u8>>,
    groups: Mutex<Vec<Arc<Shared>>>,
}

impl Shared {
    fn new(size: usize) -> Arc<Self> {
        Arc::new(Self {
            size,
            barrier: Barrier::new(size),
            messages: Mutex::new(vec![Vec::new(); size]),
            bytes: Mutex::default(),
            groups: Mutex::default(),
        })
    }
}

impl ThreadRank {
    pub(super) fn all(size: usize) -> Vec<Self> {
        let shared = Shared::new(size);
        (0..size).map(|rank| Self { rank, shared: shared.clone() }).collect()
    }

    /// Publishes a message, reads those of all ranks, and waits until all ranks have read.
    fn publish(&self, message: &[f32], read: impl FnOnce(&[Vec<f32>])) {
        lock(&self.shared.messages)[self.rank] = message.to_vec();
        self.shared.barrier.wait();
        read(&lock(&self.shared.messages));
        self.shared.barrier.wait();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Collective for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn all_gather(&self, mine: &[f32], all: &mut [f32]) {
        self.publish(mine, |messages| all.copy_from_slice(&messages.concat()));
    }

    fn all_to_all(&self, from: &[f32], to: &mut [f32]) {
        let part = from.len() / self.shared.size;
        self.publish(from, |messages| {
            for (to, message) in to.chunks_exact_mut(part.max(1)).zip(messages) {
                to.copy_from_slice(&message[self.rank * part..(self.rank + 1) * part]);
            }
        });
    }

    fn broadcast(&self, bytes: &mut [u8]) {
        if self.rank == 0 {
            *lock(&self.shared.bytes) = bytes.to_vec();
        }
        self.shared.barrier.wait();
        bytes.copy_from_slice(&lock(&self.shared.bytes));
        self.shared.barrier.wait();
    }

    fn split(&self, size: usize) -> Box<dyn Collective> {
        if self.rank == 0 {
            let groups = (0..self.shared.size / size).map(|_| Shared::new(size));
            *lock(&self.shared.groups) = groups.collect();
        }
        self.shared.barrier.wait();
        let shared = lock(&self.shared.groups)[self.rank / size].clone();
        self.shared.barrier.wait();
        Box::new(Self { rank: self.rank % size, shared })
    }
}

#[cfg(test)]
mod tests {
    use crate::group::ProcessGroup;

    /// Runs a function on every rank and returns the results in the order of ranks.
    fn on_all<T: Send>(size: usize, run: impl Fn(ProcessGroup) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let run = &run;
            let ranks = ProcessGroup::threads(size).into_iter().map(|group| scope.spawn(move || run(group)));
            ranks.collect::<Vec<_>>().into_iter().map(|rank| rank.join().expect("no panic")).collect()
        })
    }

    #[test]
    fn sums_and_means_are_over_ranks_and_equal_on_all() {
        for size in [1, 2, 3, 8] {
            let means = on_all(size, |group| {
                let mut values: Vec<f32> = (0..5).map(|i| (group.rank() * 10 + i) as f32).collect();
                group.mean("test", &mut values);
                let mut numbers = [group.rank() as f64, 1e300];
                group.mean_f64("test", &mut numbers);
                (values, numbers)
            });
            let mean_rank = (size - 1) as f32 / 2.0;
            for (values, numbers) in &means {
                for (i, value) in values.iter().enumerate() {
                    assert!((value - (10.0 * mean_rank + i as f32)).abs() < 1e-5, "{size}: {values:?}");
                }
                assert!((numbers[0] - f64::from(mean_rank)).abs() < 1e-12 && numbers[1] > 0.99e300);
            }
            assert!(means.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }

    #[test]
    fn broadcast_sends_the_bytes_of_rank_0_and_split_forms_consecutive_groups() {
        let all = on_all(4, |group| {
            let bytes = group.broadcast("test", vec![group.rank() as u8 + 7; 3 - group.rank().min(2)]);
            let half = group.split(2);
            assert!(group.broadcast("nothing", Vec::new()).is_empty());
            (bytes, half.rank(), half.all_of("test", group.rank() as u32))
        });
        for (rank, (bytes, of_half, members)) in all.iter().enumerate() {
            assert_eq!(*bytes, [7, 7, 7]);
            assert_eq!(*of_half, rank % 2);
            assert_eq!(*members, [rank as u32 / 2 * 2, rank as u32 / 2 * 2 + 1]);
        }
    }

    #[test]
    #[should_panic(expected = "no panic")]
    fn processes_that_disagree_on_the_operation_are_an_error() {
        on_all(2, |group| group.gather(if group.rank() == 0 { "gradients" } else { "metrics" }, &[1.0]));
    }
}
