//! Lists of settings, for help and documentation.

use crate::{algorithm::Algorithm, components::Preset, run::RunConfig, scaling::ScalingConfig, settings};
use isochrone_data::formats::Ends;
use toml::Value;

/// A setting with its default.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingInfo {
    /// The dotted name; settings of the algorithm start with `learner.`.
    pub name: String,
    /// The default; `None` if it depends on the dataset.
    pub default: Option<Value>,
    /// A one-line description; empty for settings that only algorithms of other crates have.
    pub description: &'static str,
    /// The value of another setting that this one needs, such as `learner.extraction.kind=awr`;
    /// `None` if it is part of the default configuration.
    pub only_with: Option<String>,
}

impl Algorithm {
    /// Returns all settings of training with this algorithm: those of its default configuration,
    /// then those of other choices of a head, a policy distribution or an extraction.
    pub fn settings(self, preset: Preset) -> Vec<SettingInfo> {
        let of_run = RUN.iter().map(|&(name, description)| {
            let default = match name {
                "steps" => Some(Value::Integer(RunConfig::DEFAULT_STEPS as i64)),
                "seed" => Some(Value::Integer(0)),
                "metrics.evaluation_pairs" => Some(Value::Integer(1024)),
                "checkpoints.keep_last" => Some(Value::Integer(2)),
                "data.read.ends" => Value::try_from(Ends::default()).ok(),
                "data.scaling" => Value::try_from(ScalingConfig::default()).ok(),
                _ => None,
            };
            SettingInfo { name: name.to_owned(), default, description, only_with: None }
        });
        let info = |(name, value): (String, Value), only_with: Option<String>| {
            let description = describe(&name).unwrap_or_default();
            SettingInfo { name: format!("learner.{name}"), default: Some(value), description, only_with }
        };
        let config = self.preset(preset);
        let own = settings::leaves(config.settings());
        let mut infos: Vec<SettingInfo> =
            of_run.chain(own.iter().cloned().map(|leaf| info(leaf, None))).collect();
        for (name, _) in &own {
            for kind in kinds(name) {
                let Ok(other) = config.clone().with(name, *kind) else { continue };
                let is_new = |(name, _): &(String, Value)| own.iter().all(|(known, _)| known != name);
                let only_with = format!("learner.{name}={kind}");
                let leaves = settings::leaves(other.settings()).into_iter().filter(is_new);
                infos.extend(leaves.map(|leaf| info(leaf, Some(only_with.clone()))));
            }
        }
        infos
    }
}

/// The settings that choose between variants, and the names of the variants.
const KINDS: [(&str, &[&str]); 3] = [
    ("head.kind", &["mrn", "iqe", "max_relu", "asymmetric_euclidean"]),
    ("distribution.kind", &["fixed_std", "tanh_gaussian", "mixture"]),
    ("extraction.kind", &["ddpg_bc", "awr"]),
];

/// Returns the variants that a setting chooses from; empty if it is not such a setting.
fn kinds(name: &str) -> &'static [&'static str] {
    KINDS.iter().find(|(end, _)| name.ends_with(end)).map_or(&[], |(_, kinds)| kinds)
}

/// Whether every run has a setting with this name, which a configuration without it may not store.
pub(crate) fn is_run_setting(name: &str) -> bool {
    RUN.iter().any(|(known, _)| *known == name)
}

/// Settings of every run.
const RUN: [(&str, &str); 26] = [
    ("steps", "Number of updates"),
    ("batch_size", "Transitions per update"),
    (
        "processes_per_group",
        "Processes that use each other's rows as negatives, if several train together; all by default",
    ),
    ("discount", "Discount per step; 0.99 is an effective horizon of about 100 steps"),
    ("seed", "Random seed"),
    ("data.path", "Dataset to learn from"),
    ("data.validation", "Dataset to evaluate on"),
    (
        "data.hold_out",
        "One of this many episodes is held out for validation, 0 for none; 10 for LeRobot datasets without data.validation",
    ),
    (
        "data.rows_per_episode",
        "Rows of a batch from the same episode, up to 128; 128 if episodes end in similar states",
    ),
    ("data.read.observations", "Columns of an observation, in this order; all of the format's by default"),
    ("data.read.actions", "Columns of an action"),
    ("data.read.episode", "Tables: column that identifies the episode"),
    ("data.read.reward", "Tables: column of the reward"),
    ("data.read.time", "Tables: column of the time in seconds"),
    ("data.read.extras", "Further columns to read: all, or the names of some"),
    ("data.read.ends", "D4RL: flag that ends an episode: auto, timeouts, terminals or either"),
    ("data.read.frames_per_second", "States per second; overrides the file"),
    ("data.read.goal", "Range of dimensions that form the goal"),
    ("data.read.action_bounds", "Smallest and largest value of an action; overrides the file"),
    (
        "data.read.embeddings",
        "Files with embeddings of frames, as a list of { path, components, weight }; components is 16 and weight 1 by default",
    ),
    ("data.scaling", "Scaling of observations: standardize or none"),
    ("metrics.every", "Updates between metrics records"),
    ("metrics.evaluate_every", "Updates between evaluations; 0 for none"),
    ("metrics.evaluation_pairs", "Pairs of states per evaluation"),
    ("checkpoints.every", "Updates between checkpoints"),
    ("checkpoints.keep_last", "Number of latest checkpoints to keep besides the best"),
];

/// Descriptions by the last parts of a name; the first match applies.
const DESCRIPTIONS: [(&str, &str); 52] = [
    ("constraint.learning_rate", "Step size of the dual ascent"),
    ("constraint.margin", "Allowed violation of the constraint"),
    ("constraint.initial", "Initial multiplier of the constraint"),
    ("constraint.floor", "Minimum multiplier of the constraint"),
    ("width", "Units per hidden layer"),
    ("depth", "Number of hidden layers"),
    ("activation", "Activation after every hidden layer: relu, gelu or identity"),
    ("normalization", "Normalization before every activation: none or layer_norm"),
    ("latent", "Width of the latent states that a quasimetric compares"),
    ("embedding", "Width of the embeddings whose inner product is the logit"),
    ("ensemble", "One network (single), or two with the pessimistic output (twin)"),
    ("head.kind", "Distance between latent states: mrn, iqe, max_relu or asymmetric_euclidean"),
    ("head.components", "Number of independent quasimetrics that are averaged"),
    ("head.group_width", "Features per interval group"),
    ("learning_rate", "Initial learning rate"),
    ("schedule", "Learning-rate schedule: constant or cosine"),
    ("max_grad_norm", "Maximum gradient norm; 0 for no clipping"),
    ("beta_1", "Decay of Adam's first moment"),
    ("beta_2", "Decay of Adam's second moment"),
    ("epsilon", "Adam's epsilon"),
    ("direction", "Softmax over goals (forward), states (backward) or both (symmetric)"),
    ("logsumexp_penalty", "Weight of the mean squared log-sum-exp"),
    ("mixture.current", "Probability that the goal is the state itself"),
    ("mixture.geometric", "Probability of a later state of the episode at a geometric offset"),
    ("mixture.uniform", "Probability of a later state of the episode at a uniform offset"),
    ("mixture.random", "Probability of any state of the dataset"),
    ("min_offset", "Minimum offset of later goals: zero or one"),
    ("max_offset", "Maximum offset of uniform goals; 0 for the end of the episode"),
    ("goal_input", "What the policy sees of a goal: the state, or the displacement from its own state"),
    ("waypoint_discount", "Discount of the geometric offsets of waypoints"),
    ("next_state_fraction", "Fraction of rows whose waypoint is the next state"),
    ("invariance_weight", "Weight of the distances from states to their actions"),
    ("backup_weight", "Weight of the backup"),
    ("backup.diagonal_weight", "Weight of the goals of the same row; the rest is that of all pairs"),
    ("backup.threshold", "Error in nats above which the loss is linear"),
    (
        "continuity_weight",
        "Weight of the penalty on distances that change by more than a step per step; 0 for none",
    ),
    ("state_only_fraction", "Fraction of rows that the critic sees without their action"),
    ("initial_temperature", "Initial maximum logit of the contrastive critic"),
    ("push_offset", "Distance in steps beyond which pairs are pushed apart less"),
    ("push_beta", "Sharpness of that transition"),
    ("expectile", "Expectile of action values that defines the value of a state"),
    ("tau", "Rate of the Polyak updates of target networks"),
    ("distribution.kind", "Distribution of actions: fixed_std, tanh_gaussian or mixture"),
    ("distribution.components", "Number of Gaussians of a mixture"),
    ("distribution.std", "Standard deviation of actions"),
    ("min_log_std", "Minimum logarithm of the standard deviation"),
    ("max_log_std", "Maximum logarithm of the standard deviation"),
    ("extraction.kind", "Policy extraction: ddpg_bc or awr"),
    ("bc_weight", "Weight of behavior cloning"),
    ("alpha", "Inverse temperature of advantage-weighted regression"),
    ("max_weight", "Maximum weight of an action in advantage-weighted regression"),
    ("advantage_steps", "Steps over which its advantage is measured; 1 for that of the action alone"),
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
        for (algorithm, preset) in
            Algorithm::ALL.into_iter().flat_map(|a| Preset::ALL.map(|preset| (a, preset)))
        {
            for SettingInfo { name, description, .. } in algorithm.settings(preset) {
                assert!(!description.is_empty(), "{algorithm}: {name} is not described");
                used.push(description);
            }
        }
        for (end, description) in DESCRIPTIONS {
            assert!(used.contains(&description), "{end} is described but is not a setting");
        }
    }
}
