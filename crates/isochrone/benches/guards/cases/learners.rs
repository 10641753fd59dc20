//! One update of every algorithm, and the batches that it learns from.

use super::{Call, Case, noise};
use isochrone::{
    Discount,
    data::{
        Dataset,
        sampling::{GoalBatch, GoalDistribution, GoalDistributionConfig, GoalSampler, SamplerConfig},
    },
    learn::{
        Algorithm, LearnerContext, Preset, cpu,
        internals::{BatchTransform, Rows, Scaling, sampler},
    },
};

/// The widths of an observation and an action, as in the antmaze datasets.
const OBSERVATION: usize = 29;
const ACTION: usize = 8;
/// Half the default: Valgrind emulates fused multiplications slowly.
const BATCH: usize = 128;
const GAMMA: f64 = 0.99;

pub fn all() -> Vec<Case> {
    let update =
        |algorithm: Algorithm| Case::new(format!("update-{}", algorithm.name()), move || update(algorithm));
    Algorithm::ALL.into_iter().map(update).chain([Case::new("goal-batch", goal_batch)]).collect()
}

/// Episodes of noise: only sizes matter here.
fn data() -> Dataset {
    let steps = 100;
    let episode = |episode: u64| {
        (noise(2 * episode, OBSERVATION * (steps + 1)), noise(2 * episode + 1, ACTION * steps))
    };
    Dataset::from_arrays(OBSERVATION, ACTION, (0..10).map(episode)).expect("widths fit")
}

/// Updates all networks of the small preset, on prepared batches.
fn update(algorithm: Algorithm) -> Call {
    let data = data();
    let discount = Discount::new(GAMMA).expect("between 0 and 1");
    let context = LearnerContext::new(data.spec(), discount, 1, 1_000_000, &cpu());
    let mut learner = algorithm.preset(Preset::Small).init(&context).expect("a preset");
    let rows = Rows { batch_size: BATCH, rows_per_episode: 1 };
    let sampler = sampler(learner.goals(), &data, rows, &context).expect("the data have transitions");
    let transform = BatchTransform::new(&context, Scaling::identity(OBSERVATION, ACTION));
    let batch = transform.batch(&sampler.batch(0));
    Box::new(move || {
        learner.update(&batch);
    })
}

/// Draws one batch with geometric goals.
fn goal_batch() -> Call {
    let discount = Discount::new(GAMMA).expect("between 0 and 1");
    let goals = GoalDistribution::new(GoalDistributionConfig::default(), discount).expect("defaults");
    let config = SamplerConfig {
        batch_size: 8 * BATCH,
        first_row: 0,
        rows_per_episode: 1,
        goals: vec![goals],
        seed: 1,
        stream: 0,
    };
    let sampler = GoalSampler::new(&data(), config).expect("the data have transitions");
    let (mut batch, mut steps) = (GoalBatch::default(), 0..);
    Box::new(move || sampler.fill(steps.next().expect("endless"), &mut batch))
}
