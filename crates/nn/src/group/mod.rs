//! Groups of processes that train one learner together. Every process has its own rows of the
//! batch, and all have the same parameters.
//!
//! A sum over processes is an exchange, an addition in the order of ranks and a gather: it sends as
//! many bytes as a ring, and its bits depend on nothing but the number of processes, whatever the
//! library below chooses to do.

mod threads;
mod traffic;

pub use traffic::Traffic;

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// The operations of a message-passing library. A failure ends the process: no other process could
/// continue without it.
pub trait Collective: Send + Sync {
    /// The index of this process, from 0.
    fn rank(&self) -> usize;

    /// The number of processes.
    fn size(&self) -> usize;

    /// Concatenates `mine` of all processes in the order of ranks, as `all: [size, mine]`.
    fn all_gather(&self, mine: &[f32], all: &mut [f32]);

    /// Sends part `r` of `from: [size, part]` to rank `r`; `to: [size, part]` receives the parts in
    /// the order of ranks.
    fn all_to_all(&self, from: &[f32], to: &mut [f32]);

    /// Copies the bytes of rank 0 to all others.
    fn broadcast(&self, bytes: &mut [u8]);

    /// Returns the group of `size` consecutive ranks that contains this process; a divisor of the
    /// number of processes. All processes must call it.
    fn split(&self, size: usize) -> Box<dyn Collective>;
}

/// A group of processes. Clones are the same group.
#[derive(Clone)]
pub struct ProcessGroup(Arc<Shared>);

struct Shared {
    collective: Box<dyn Collective>,
    /// The number of collective operations so far, which must be the same on all processes.
    calls: AtomicU32,
    traffic: Mutex<Vec<Traffic>>,
}

impl fmt::Debug for ProcessGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rank {} of {}", self.rank(), self.size())
    }
}

impl ProcessGroup {
    /// Creates a group on a message-passing library.
    pub fn new(collective: impl Collective + 'static) -> Self {
        Self::of(Box::new(collective))
    }

    fn of(collective: Box<dyn Collective>) -> Self {
        Self(Arc::new(Shared { collective, calls: AtomicU32::new(0), traffic: Mutex::default() }))
    }

    /// Returns groups whose ranks are threads of this process, one for each rank: for tests.
    pub fn threads(size: usize) -> Vec<Self> {
        threads::ThreadRank::all(size).into_iter().map(Self::new).collect()
    }

    /// The index of this process, from 0.
    pub fn rank(&self) -> usize {
        self.0.collective.rank()
    }

    /// The number of processes.
    pub fn size(&self) -> usize {
        self.0.collective.size()
    }

    /// Returns the group of `size` consecutive ranks that contains this process. All processes must
    /// call it, and `size` must divide their number.
    pub fn split(&self, size: usize) -> Self {
        assert!(size > 0 && self.size().is_multiple_of(size), "groups of {size} of {} ranks", self.size());
        Self::of(self.0.collective.split(size))
    }

    /// Returns the numbers of all processes in the order of ranks, `[size, mine]`.
    pub fn gather(&self, purpose: &'static str, mine: &[f32]) -> Vec<f32> {
        let tag = self.next_tag(purpose);
        let message: Vec<f32> = std::iter::once(tag).chain(mine.iter().copied()).collect();
        let mut all = vec![0.0; message.len() * self.size()];
        self.timed(purpose, message.len() * (self.size() - 1), |group| group.all_gather(&message, &mut all));
        self.without_tags(purpose, tag, all)
    }

    /// Sends part `r` of `from: [size, part]` to rank `r` and returns the parts for this process,
    /// in the order of ranks.
    pub fn exchange(&self, purpose: &'static str, from: &[f32]) -> Vec<f32> {
        let (tag, part) = (self.next_tag(purpose), from.len() / self.size());
        let mut parts = Vec::with_capacity(from.len() + self.size());
        for rank in 0..self.size() {
            parts.push(tag);
            parts.extend_from_slice(&from[rank * part..(rank + 1) * part]);
        }
        let mut to = vec![0.0; parts.len()];
        self.timed(purpose, (part + 1) * (self.size() - 1), |group| group.all_to_all(&parts, &mut to));
        self.without_tags(purpose, tag, to)
    }

    /// Returns this process's part of the sum over processes of `parts: [size, part]`.
    pub fn sum_scattered(&self, purpose: &'static str, parts: &[f32]) -> Vec<f32> {
        let mut parts = self.exchange(purpose, parts);
        let (size, width) = (self.size(), parts.len() / self.size());
        // In pairs, so that the rounding error grows with the logarithm of the number of ranks.
        let mut stride = 1;
        while stride < size {
            for rank in (0..size - stride).step_by(2 * stride) {
                let (left, right) = parts.split_at_mut((rank + stride) * width);
                left[rank * width..][..width].iter_mut().zip(right).for_each(|(sum, part)| *sum += *part);
            }
            stride *= 2;
        }
        parts.truncate(width);
        parts
    }

    /// Replaces numbers by their means over processes.
    pub fn mean(&self, purpose: &'static str, values: &mut [f32]) {
        let mut padded = values.to_vec();
        padded.resize(values.len().next_multiple_of(self.size()), 0.0);
        let mut own = self.sum_scattered(purpose, &padded);
        let factor = 1.0 / self.size() as f32;
        own.iter_mut().for_each(|value| *value *= factor);
        let all = self.gather(purpose, &own);
        values.copy_from_slice(&all[..values.len()]);
    }

    /// Replaces numbers in double precision by their means over processes.
    pub fn mean_f64(&self, purpose: &'static str, values: &mut [f64]) {
        let bits = values.iter().map(|value| value.to_bits());
        let words = bits.flat_map(|bits| [(bits >> 32) as u32, bits as u32].map(f32::from_bits));
        let all = self.gather(purpose, &words.collect::<Vec<f32>>());
        values.fill(0.0);
        for of_rank in all.chunks_exact((2 * values.len()).max(1)) {
            for (sum, words) in values.iter_mut().zip(of_rank.chunks_exact(2)) {
                let [high, low] = [words[0], words[1]].map(|word| u64::from(word.to_bits()));
                *sum += f64::from_bits(high << 32 | low);
            }
        }
        values.iter_mut().for_each(|value| *value /= self.size() as f64);
    }

    /// Returns the number of each process, in the order of ranks.
    pub fn all_of(&self, purpose: &'static str, number: u32) -> Vec<u32> {
        self.gather(purpose, &[f32::from_bits(number)]).into_iter().map(f32::to_bits).collect()
    }

    /// Returns the bytes of rank 0; those of other ranks are ignored.
    pub fn broadcast(&self, purpose: &'static str, bytes: Vec<u8>) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).expect("less than 4 GiB");
        let length = self.all_of(purpose, length)[0] as usize;
        let mut bytes = if self.rank() == 0 { bytes } else { vec![0; length] };
        // The address of an empty vector is not that of a buffer, which MPI libraries refuse.
        if bytes.is_empty() {
            return bytes;
        }
        self.timed(purpose, if self.rank() == 0 { length / 4 } else { 0 }, |group| {
            group.broadcast(&mut bytes);
        });
        bytes
    }

    /// Returns the time, the calls and the bytes of every purpose since the last call.
    pub fn take_traffic(&self) -> Vec<Traffic> {
        self.0.traffic.lock().map(|mut traffic| std::mem::take(&mut *traffic)).unwrap_or_default()
    }

    /// Returns a word that is the same on all processes if they agree on the order of their calls.
    fn next_tag(&self, purpose: &'static str) -> f32 {
        let call = self.0.calls.fetch_add(1, Ordering::Relaxed);
        // FNV-1a: enough to distinguish a dozen purposes.
        let hash = purpose
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        f32::from_bits(hash ^ call)
    }

    /// Removes the tag of every rank's message after comparing it with this process's.
    fn without_tags(&self, purpose: &'static str, tag: f32, messages: Vec<f32>) -> Vec<f32> {
        let length = messages.len() / self.size();
        let mut numbers = Vec::with_capacity(messages.len() - self.size());
        for (rank, message) in messages.chunks_exact(length).enumerate() {
            assert!(
                message[0].to_bits() == tag.to_bits(),
                "rank {} is at \"{purpose}\" (call {}), and rank {rank} at another operation",
                self.rank(),
                self.0.calls.load(Ordering::Relaxed),
            );
            numbers.extend_from_slice(&message[1..]);
        }
        numbers
    }

    fn timed(&self, purpose: &'static str, words: usize, call: impl FnOnce(&dyn Collective)) {
        let start = Instant::now();
        call(&*self.0.collective);
        let time = start.elapsed();
        if let Ok(mut traffic) = self.0.traffic.lock() {
            Traffic::add(&mut traffic, purpose, time, 4 * words as u64);
        }
    }
}
