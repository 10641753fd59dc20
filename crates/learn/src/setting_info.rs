//! Lists of settings, for help and documentation.

use crate::{algorithm::Algorithm, components::Preset, run::RunConfig, scaling::ScalingConfig, settings};
use toml::Value;

/// A setting with its default.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingInfo {
    /// Dotted name; those of the algorithm begin with `learner.`.
    pub name: String,
    /// Its default; `None` if it is chosen to fit the data.
    pub default: Option<Value>,
    /// What it means, in a line; empty for settings that only an algorithm of another crate has.
    pub description: &'static str,
}

impl Algorithm {
    /// All settings of a training with this algorithm.
    pub fn settings(self, preset: Preset) -> Vec<SettingInfo> {
        let of_run = RUN.iter().map(|&(name, description)| {
            let default = match name {
                "steps" => Some(Value::Integer(RunConfig::DEFAULT_STEPS as i64)),
                "seed" => Some(Value::Integer(0)),
                "metrics.evaluation_pairs" => Some(Value::Integer(1024)),
                "checkpoints.keep_last" => Some(Value::Integer(2)),
                "data.scaling" => Value::try_from(ScalingConfig::default()).ok(),
                _ => None,
            };
            SettingInfo { name: name.to_owned(), default, description }
        });
        let own = settings::leaves(self.preset(preset).settings()).into_iter().map(|(name, value)| {
            let description = describe(&name).unwrap_or_default();
            SettingInfo { name: format!("learner.{name}"), default: Some(value), description }
        });
        of_run.chain(own).collect()
    }
}

/// Settings of every run.
const RUN: [(&str, &str); 13] = [
    ("steps", "Number of updates"),
    ("batch_size", "Transitions of an update"),
    ("discount", "Discount per step: 0.99 looks about 100 steps ahead"),
    ("seed", "Seed of everything random"),
    ("data.path", "Dataset to learn from"),
    ("data.validation", "Dataset to evaluate on"),
    (
        "data.rows_per_episode",
        "Rows of a batch that are of the same episode, up to 128; 128 where episodes end alike",
    ),
    ("data.scaling", "Scaling of observations: standardize or none"),
    ("metrics.every", "Updates between records of metrics"),
    ("metrics.evaluate_every", "Updates between evaluations; 0 for none"),
    ("metrics.evaluation_pairs", "Pairs of states of an evaluation"),
    ("checkpoints.every", "Updates between checkpoints"),
    ("checkpoints.keep_last", "Checkpoints that are kept besides the best"),
];

/// Descriptions by the end of a name; the first that fits.
const DESCRIPTIONS: [(&str, &str); 41] = [
    ("constraint.learning_rate", "Step size of the dual ascent"),
    ("constraint.margin", "Violation of the constraint that is allowed"),
    ("constraint.initial", "Multiplier of the constraint at the start"),
    ("constraint.floor", "Smallest multiplier of the constraint"),
    ("width", "Units of a hidden layer"),
    ("depth", "Hidden layers"),
    ("activation", "Activation after every hidden layer: relu, gelu or identity"),
    ("normalization", "Normalization before every activation: none or layer_norm"),
    ("latent", "Width of the latent rows that a quasimetric compares"),
    ("embedding", "Width of the embeddings whose product is the logit"),
    ("ensemble", "One network (single), or two of which the pessimistic one counts (twin)"),
    ("head.kind", "Quasimetric head: mrn, iqe or max_relu"),
    ("head.components", "Independent quasimetrics that are averaged"),
    ("head.group_width", "Features of an interval group"),
    ("learning_rate", "Learning rate at the start"),
    ("schedule", "Learning-rate schedule: constant or cosine"),
    ("max_grad_norm", "Largest norm of a gradient; 0 for no clipping"),
    ("beta_1", "Decay of Adam's first moment"),
    ("beta_2", "Decay of Adam's second moment"),
    ("epsilon", "Adam's epsilon"),
    ("direction", "Softmax over goals (forward), states (backward) or both (symmetric)"),
    ("logsumexp_penalty", "Weight of the mean squared log-sum-exp"),
    ("mixture.current", "Probability that the goal is the state itself"),
    ("mixture.geometric", "Probability of a later state of the episode at a geometric offset"),
    ("mixture.uniform", "Probability of a later state of the episode, uniformly"),
    ("mixture.random", "Probability of any state of the dataset"),
    ("min_offset", "Smallest offset of later goals: zero or one"),
    ("state_only_fraction", "Fraction of rows that a critic is shown without their action"),
    ("initial_temperature", "Largest logit of the contrastive critic at the start"),
    ("push_offset", "Steps beyond which pairs are pushed apart less and less"),
    ("push_beta", "Sharpness of that transition"),
    ("expectile", "Expectile of the actions' values that is the value of a state"),
    ("tau", "Rate of the Polyak updates of target networks"),
    ("distribution.kind", "Distribution of actions: fixed_std or tanh_gaussian"),
    ("distribution.std", "Standard deviation of actions"),
    ("min_log_std", "Smallest logarithm of the standard deviation"),
    ("max_log_std", "Largest logarithm of the standard deviation"),
    ("extraction.kind", "Policy extraction: ddpg_bc or awr"),
    ("bc_weight", "Weight of behavior cloning"),
    ("alpha", "Inverse temperature of advantage-weighted regression"),
    ("max_weight", "Largest weight of an action in advantage-weighted regression"),
];

fn describe(name: &str) -> Option<&'static str> {
    let ends = |end: &str| name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    DESCRIPTIONS.iter().find(|(end, _)| ends(end)).map(|(_, description)| *description)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every setting of every algorithm has a description, and every description a setting.
    #[test]
    fn all_settings_are_described() {
        let mut used = Vec::new();
        let kinds =
            [("head.kind", "iqe"), ("distribution.kind", "tanh_gaussian"), ("extraction.kind", "awr")];
        for algorithm in Algorithm::ALL {
            let mut configs: Vec<_> = Preset::ALL.map(|preset| algorithm.preset(preset)).into();
            // The settings of variants that presets do not choose.
            for (name, _) in settings::leaves(configs[0].settings()) {
                let kind = kinds.iter().find(|(end, _)| name.ends_with(end));
                configs.extend(kind.map(|(_, kind)| configs[0].clone().with(&name, *kind).unwrap()));
            }
            for (name, _) in configs.iter().flat_map(|config| settings::leaves(config.settings())) {
                used.push(describe(&name).unwrap_or_else(|| panic!("{algorithm}: {name}")));
            }
        }
        for (end, description) in DESCRIPTIONS {
            assert!(used.contains(&description), "{end} is described, but is no setting");
        }
    }
}
