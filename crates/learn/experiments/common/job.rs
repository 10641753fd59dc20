//! A bare training loop.

use isochrone_core::Discount;
use isochrone_data::{Dataset, sampling::Loader};
use isochrone_learn::{
    algos::AlgorithmConfig,
    batch::{Crossing, sampler},
    model::Model,
    scaling::{Scaling, ScalingConfig},
    setting::Setting,
};
use std::{num::NonZeroUsize, sync::Arc, time::Instant};

/// A training run without a folder.
pub struct Job {
    pub learner: AlgorithmConfig,
    pub discount: Discount,
    pub steps: u64,
    pub batch_size: usize,
    pub seed: u64,
}

impl Job {
    /// What is learned, and the seconds that it took.
    pub fn train(&self, data: &Arc<Dataset>) -> (Model, f64) {
        let started = Instant::now();
        let setting = Setting::of(data.spec(), self.discount, self.seed, self.steps, &isochrone_learn::cpu());
        let mut learner = self.learner.init(&setting).unwrap_or_else(|error| panic!("{error}"));
        let sampler = sampler(&*learner, data.clone(), self.batch_size, &setting)
            .unwrap_or_else(|error| panic!("{error}"));
        let scaling = Scaling::of(data, ScalingConfig::Standardise).unwrap_or_else(|error| panic!("{error}"));
        let crossing = Crossing::new(&setting, scaling);
        let mut loader = Loader::start(&sampler, 0, NonZeroUsize::MIN, NonZeroUsize::MIN);
        for step in 0..self.steps {
            let metrics = learner.update(&crossing.batch(loader.next_batch()));
            assert!(metrics.not_finite().is_none(), "{} at step {step}: {metrics:?}", self.learner.name());
        }
        (
            Model::of(&*learner, &crossing, self.discount, data.spec(), self.steps),
            started.elapsed().as_secs_f64(),
        )
    }
}
