//! Measurements of updates and connections.

use crate::model::{Job, Link};
use isochrone_core::{Discount, rng};
use isochrone_data::Dataset;
use isochrone_learn::{
    Algorithm, DeviceBatch, Learner, LearnerContext, Preset, Processes,
    internals::{BatchTransform, Rows, Scaling, sampler, save},
};
use isochrone_nn::group::{ProcessGroup, Traffic};
use std::time::{Duration, Instant};

const OBSERVATION: usize = 29;
const ACTION: usize = 8;

/// CMD-1 with the networks of the paper, and prepared batches.
pub struct Updates {
    learner: Box<dyn Learner>,
    batches: Vec<DeviceBatch>,
    group: Option<ProcessGroup>,
    metrics: usize,
    next: usize,
}

/// The median update, and the messages of the mean update.
pub struct Measured {
    pub seconds: f64,
    pub updates: u64,
    pub traffic: Vec<Traffic>,
}

impl Updates {
    /// Prepares updates with `rows` rows of this process.
    pub fn new(rows: usize, group: Option<&ProcessGroup>) -> Self {
        let data = noise();
        let discount = Discount::new(0.99).expect("a discount");
        let processes = group.map(|group| Processes::new(group, None)).unwrap_or_default();
        let context = LearnerContext::new(data.spec(), discount, 1, 1_000_000, &isochrone_learn::cpu());
        let context = LearnerContext { processes, ..context };
        let learner = Algorithm::Cmd1.preset(Preset::Paper).init(&context).expect("a preset");
        let rows = Rows { batch_size: rows, rows_per_episode: 1 };
        let sampler = sampler(learner.goals(), &data, rows, &context).expect("data");
        let transform = BatchTransform::new(&context, Scaling::identity(OBSERVATION, ACTION));
        let batches = (0..8).map(|step| transform.batch(&sampler.batch(step))).collect();
        Self { learner, batches, group: group.cloned(), metrics: 0, next: 0 }
    }

    /// One update, with the message about metrics that the trainer sends.
    fn update(&mut self) {
        let metrics = self.learner.update(&self.batches[self.next % self.batches.len()]);
        let mut values: Vec<f64> = metrics.iter().map(|(_, value)| value).collect();
        self.metrics = values.len();
        values.push(0.0);
        if let Some(group) = &self.group {
            group.mean_f64("metrics", &mut values);
        }
        self.next += 1;
    }

    /// Measures updates for some time after three warm-up updates. All processes do as many
    /// updates.
    pub fn median(&mut self, seconds: f64) -> Measured {
        (0..3).for_each(|_| self.update());
        let start = Instant::now();
        self.update();
        let wanted = (seconds / start.elapsed().as_secs_f64()).clamp(5.0, 1e4) as u32;
        let updates = self.group.as_ref().map_or(wanted, |group| group.all_of("updates", wanted)[0]);
        drop(self.group.as_ref().map(ProcessGroup::take_traffic));
        let mut times: Vec<f64> = (0..updates)
            .map(|_| {
                let start = Instant::now();
                self.update();
                start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let traffic = self.group.as_ref().map(ProcessGroup::take_traffic).unwrap_or_default();
        Measured { seconds: times[times.len() / 2], updates: u64::from(updates), traffic }
    }

    /// Returns the sizes that the model needs.
    pub fn job(&mut self) -> Job {
        let state = save(&mut *self.learner, &Scaling::identity(OBSERVATION, ACTION));
        let count = |network: &str| {
            let arrays =
                state.training.iter().filter(|(name, _)| name.starts_with(&format!("{network}.first")));
            arrays.map(|(_, values)| values.len()).sum()
        };
        let parameters = [count("critic"), count("actor")];
        Job { processes: 1, rows: 0, group: 1, latent: 512, parameters, metrics: self.metrics }
    }
}

/// Random numbers: only sizes matter here.
fn noise() -> Dataset {
    let mut random = rng::stream(1, 0);
    let mut draw =
        |n: usize| (0..n).map(|_| 2.0 * rng::unit_f64(&mut random) as f32 - 1.0).collect::<Vec<f32>>();
    let episodes = (0..100).map(|_| (draw(OBSERVATION * 501), draw(ACTION * 500)));
    Dataset::from_arrays(OBSERVATION, ACTION, episodes).expect("widths fit")
}

/// Measures gathers of a few and of many numbers.
pub fn link(group: &ProcessGroup) -> Link {
    let median = |words: usize, calls: usize| {
        let mine = vec![1.0; words];
        let mut times: Vec<Duration> = (0..calls)
            .map(|_| {
                drop(group.gather("barrier", &[]));
                let start = Instant::now();
                drop(group.gather("link", &mine));
                start.elapsed()
            })
            .collect();
        times.sort();
        times[calls / 2].as_secs_f64()
    };
    let (few, many, words) = (median(16, 500), median(1 << 20, 40), 1 << 20);
    let bytes = (4 * words * (group.size() - 1)) as f64;
    Link { latency: few, bandwidth: bytes / (many - few).max(1e-9) }
}
