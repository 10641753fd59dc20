//! The time of an update of CMD-1 on several processes: compute, plus latency and volume of
//! messages.

use serde::Serialize;

/// Measured or assumed constants.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Compute {
    /// Seconds of an update that do not depend on the batch, such as those of the optimizer.
    pub fixed: f64,
    /// Seconds per row of this process.
    pub per_row: f64,
    /// Seconds per pair of a row of this process and a column of any.
    pub per_pair: f64,
}

impl Compute {
    /// Fits three batch sizes and their seconds exactly.
    pub fn fit(points: [(f64, f64); 3]) -> Self {
        let [(a, fa), (b, fb), (c, fc)] = points;
        let slope = |(x, fx): (f64, f64), (y, fy): (f64, f64)| (fy - fx) / (y - x);
        let per_pair = (slope((b, fb), (c, fc)) - slope((a, fa), (b, fb))) / (c - a);
        let per_row = slope((a, fa), (b, fb)) - per_pair * (a + b);
        Self { fixed: fa - per_row * a - per_pair * a * a, per_row, per_pair }
    }

    pub fn seconds(&self, job: &Job) -> f64 {
        let (rows, columns) = (job.rows as f64, (job.rows * job.group) as f64);
        self.fixed + self.per_row * rows + self.per_pair * rows * columns
    }
}

/// A connection between processes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Link {
    /// Seconds until a message arrives.
    pub latency: f64,
    /// Bytes per second that a process sends.
    pub bandwidth: f64,
}

/// A training on several processes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Job {
    pub processes: usize,
    /// Rows of each process.
    pub rows: usize,
    /// Processes that use each other's rows as negatives.
    pub group: usize,
    /// Numbers of a latent state.
    pub latent: usize,
    /// Parameters of the critic and of the actor.
    pub parameters: [usize; 2],
    /// Metrics of an update.
    pub metrics: usize,
}

/// The messages of one update.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Messages {
    pub purpose: &'static str,
    /// Rounds in which every process waits for a message of another.
    pub rounds: usize,
    /// Bytes that a process sends.
    pub bytes: usize,
}

impl Job {
    /// Returns the messages of one update. Every message has a tag of four bytes.
    pub fn messages(&self) -> Vec<Messages> {
        let (all, group) = (self.processes, self.group);
        let words = |processes: usize, words: usize| 4 * (words + 1) * (processes - 1);
        // Exchanges send one message to every other process; so do gathers of large messages.
        // Libraries gather small ones in a logarithmic number of rounds.
        let small = |processes: usize| processes.next_power_of_two().ilog2() as usize;
        let latents = self.rows * (self.latent + 1);
        let gradients = |parameters: usize| 2 * words(all, parameters.div_ceil(all));
        let mut messages = vec![
            Messages {
                purpose: "gradients",
                rounds: 4 * (all - 1),
                bytes: self.parameters.into_iter().map(gradients).sum(),
            },
            Messages { purpose: "policy scale", rounds: all - 1 + small(all), bytes: 2 * words(all, 1) },
            Messages { purpose: "metrics", rounds: small(all), bytes: words(all, 2 * (self.metrics + 1)) },
        ];
        if group > 1 {
            let bytes = words(group, latents);
            messages.extend([
                Messages { purpose: "latents", rounds: group - 1, bytes },
                Messages { purpose: "latent gradients", rounds: group - 1, bytes },
                Messages {
                    purpose: "column sums",
                    rounds: group - 1 + small(group),
                    bytes: words(group, 2 * self.rows) + words(group, self.rows),
                },
            ]);
        }
        messages
    }

    pub fn bytes(&self) -> usize {
        if self.processes == 1 { 0 } else { self.messages().iter().map(|message| message.bytes).sum() }
    }

    pub fn communication(&self, link: Link) -> f64 {
        if self.processes == 1 {
            return 0.0;
        }
        let seconds =
            |message: &Messages| message.rounds as f64 * link.latency + message.bytes as f64 / link.bandwidth;
        self.messages().iter().map(seconds).sum()
    }
}
