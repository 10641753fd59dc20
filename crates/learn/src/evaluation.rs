//! Evaluation of a model during training.

use crate::{error::LearnError, model::Model};
use isochrone_core::{Discount, GoalPolicy as _, TemporalDistance, statistics};
use isochrone_data::{
    Dataset,
    sampling::{GoalBatch, GoalDistribution, GoalDistributionConfig, GoalSampler, MinOffset, SamplerConfig},
};

/// A periodic evaluation during training.
///
/// The trainer calls it on the current model and logs the values as `evaluation/…`. The first value
/// of the first evaluation decides which checkpoint is the best; larger is better.
pub trait Evaluation: Send {
    /// Returns named values; the first is to be maximized.
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)>;
}

/// A measure of the learned distance; larger is better. No value is logged if it is not finite, or
/// if the model has no distance.
pub struct DistanceEvaluation<F> {
    name: String,
    measure: F,
}

impl<F: FnMut(&dyn TemporalDistance) -> f64 + Send> DistanceEvaluation<F> {
    /// Creates an evaluation that is logged under `name`.
    pub fn new(name: impl Into<String>, measure: F) -> Self {
        Self { name: name.into(), measure }
    }
}

impl<F: FnMut(&dyn TemporalDistance) -> f64 + Send> Evaluation for DistanceEvaluation<F> {
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
        let measured = model.distance.as_ref().map(|distance| (self.measure)(distance));
        measured
            .filter(|value| value.is_finite())
            .map(|value| (self.name.clone(), value))
            .into_iter()
            .collect()
    }
}

/// Evaluates a model on pairs of states of the same episode that are a known number of steps apart.
///
/// - `log_likelihood`: how well the distance identifies the state that preceded a goal, `mean_j log
///   softmax_i(-d(s_i, g_j))` at `i = j`, among 256 pairs; chance level is `-ln 256 = -5.5`. It is
///   a proper scoring rule for the distance of the behavior policy, up to a constant per goal, for
///   any learning objective. It falls when training starts to overfit.
/// - `rank_correlation`: Spearman's correlation of learned distance and observed steps. Suboptimal
///   behavior keeps it below 1.
/// - `action_agreement`: minus the mean absolute difference between the components of the policy's
///   action and of the recorded action, in the units of the data.
pub struct ObservedSteps {
    pairs: GoalBatch,
}

/// The number of pairs that are contrasted with each other.
const CONTRASTED: usize = 256;

/// The random stream of evaluation; training uses others.
const STREAM: u64 = 1;

impl ObservedSteps {
    /// Samples the pairs once, so that every evaluation of a run uses the same pairs.
    pub fn new(data: &Dataset, discount: Discount, pairs: usize, seed: u64) -> Result<Self, LearnError> {
        let config =
            GoalDistributionConfig { min_offset: MinOffset::One, ..GoalDistributionConfig::default() };
        let goals = vec![GoalDistribution::new(config, discount)?];
        let sampler = GoalSampler::new(
            data,
            SamplerConfig {
                batch_size: pairs,
                first_row: 0,
                rows_per_episode: 1,
                goals,
                seed,
                stream: STREAM,
            },
        )?;
        Ok(Self { pairs: sampler.batch(0) })
    }
}

impl Evaluation for ObservedSteps {
    fn evaluate(&mut self, model: &Model) -> Vec<(String, f64)> {
        let GoalBatch { observations, actions, goals, .. } = &self.pairs;
        let mut values = Vec::new();
        if let Some(distance) = &model.distance {
            let (width, goals_at) = (distance.width(), &goals[0].observations);
            let some = CONTRASTED.min(self.pairs.rows()) * width;
            let all = distance.all_pairs_nats(&observations[..some], &goals_at[..some]);
            values.push(("log_likelihood".to_owned(), log_likelihood(&all)));
            let nats = distance.paired_nats(observations, goals_at);
            let nats: Vec<f64> = nats.into_iter().map(f64::from).collect();
            let steps: Vec<f64> = goals[0].offsets.iter().map(|&offset| f64::from(offset)).collect();
            values.push(("rank_correlation".to_owned(), statistics::spearman(&nats, &steps)));
        }
        if let Some(policy) = &model.policy {
            let chosen = policy.actions(observations, &goals[0].observations);
            let difference: f64 = chosen.iter().zip(actions).map(|(a, b)| f64::from((a - b).abs())).sum();
            values.push(("action_agreement".to_owned(), -difference / chosen.len() as f64));
        }
        values
    }
}

/// Returns the mean over columns of the log-probability of the diagonal of a square distance
/// matrix.
fn log_likelihood(nats: &[f32]) -> f64 {
    let n = nats.len().isqrt();
    let column = |goal: usize| {
        let logits = || (0..n).map(move |state| -f64::from(nats[state * n + goal]));
        let largest = logits().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logits().map(|logit| (logit - largest).exp()).sum();
        -f64::from(nats[goal * n + goal]) - largest - sum.ln()
    };
    (0..n).map(column).sum::<f64>() / n as f64
}

#[cfg(test)]
mod tests {
    use super::log_likelihood;

    #[test]
    fn equal_distances_score_chance_and_exact_distances_score_zero() {
        assert!((log_likelihood(&[1.0; 16]) + 4f64.ln()).abs() < 1e-12);
        let right: Vec<f32> = (0..16).map(|pair| if pair / 4 == pair % 4 { 0.0 } else { 50.0 }).collect();
        assert!(log_likelihood(&right).abs() < 1e-12);
        assert!(log_likelihood(&[f32::NAN; 4]).is_nan());
    }
}
