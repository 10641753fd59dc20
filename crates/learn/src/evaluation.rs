//! What a model is worth, judged while it learns.

use crate::{error::LearnError, model::Model};
use isochrone_core::{Discount, GoalPolicy as _, TemporalDistance as _, statistics};
use isochrone_data::{
    Trajectories,
    sampling::{FirstOffset, GoalBatch, GoalLaw, GoalLawConfig, GoalSampler, SamplerConfig},
};
use std::sync::Arc;

/// Looks at a model from time to time during training.
///
/// The trainer calls it on what has been learned so far; the numbers it returns are logged as `evaluation/…`, and the first of all decides which
/// checkpoint is the best: larger is better.
pub trait Evaluation: Send {
    /// Named numbers; the first is the one to be maximised.
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)>;
}

/// Pairs of states of the same episode that are a known number of steps apart.
///
/// - `rank_correlation`: Spearman's, of learned distance and observed steps. Behaviour that dawdles keeps it below 1.
/// - `action_agreement`: minus the mean difference between numbers of the policy's action and of the one that was done on the way, in the units of the data.
pub struct ObservedSteps {
    pairs: GoalBatch,
}

/// Streams of evaluation are not those of training.
const STREAM: u64 = 1;

impl ObservedSteps {
    /// Draws the pairs once: every evaluation of a run looks at the same.
    pub fn new(
        data: Arc<Trajectories>,
        discount: Discount,
        pairs: usize,
        seed: u64,
    ) -> Result<Self, LearnError> {
        let law = GoalLawConfig { first_offset: FirstOffset::Next, ..GoalLawConfig::default() };
        let goals = vec![GoalLaw::new(law, discount)?];
        let sampler =
            GoalSampler::new(data, SamplerConfig { batch_size: pairs, goals, seed, stream: STREAM })?;
        Ok(Self { pairs: sampler.batch(0) })
    }
}

impl Evaluation for ObservedSteps {
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
        let GoalBatch { observations, actions, goals, .. } = &self.pairs;
        let mut values = Vec::new();
        if let Some(distance) = &model.distance {
            let nats = distance.paired_nats(observations, &goals[0].observations);
            let nats: Vec<f64> = nats.into_iter().map(f64::from).collect();
            let steps: Vec<f64> = goals[0].offsets.iter().map(|&offset| f64::from(offset)).collect();
            values.push(("rank_correlation".to_owned(), statistics::spearman(&nats, &steps)));
        }
        if let Some(policy) = &model.policy {
            let chosen = policy.actions(observations, &goals[0].observations);
            let apart: f64 = chosen.iter().zip(actions).map(|(a, b)| f64::from((a - b).abs())).sum();
            values.push(("action_agreement".to_owned(), -apart / chosen.len() as f64));
        }
        values
    }
}
