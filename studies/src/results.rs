//! The results of a study: those of one run, and the file of all runs.

use crate::{
    error::StudyError,
    files::{read_json, write_json},
    jobs::Job,
    recipe::{Metric, Recipe, VariantRecipe},
};
use isochrone_eval::{rollout::Success, stats::mean};
use isochrone_learn::run::Provenance as Program;
use serde::{Deserialize, Deserializer, Serialize};
use std::{collections::BTreeMap, path::Path};

/// The version of the evaluation protocol: results of another version are not used.
pub const PROTOCOL_VERSION: u32 = 3;

/// The measurements of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Name of the dataset.
    pub dataset: String,
    /// Name of the method.
    pub method: String,
    /// The changes to the recipe's settings.
    pub variant: Option<String>,
    /// Seed of the run.
    pub seed: u64,
    /// Hash of everything that the result depends on: configuration, data, evaluation and protocol.
    pub settings_hash: String,
    /// Gradient updates.
    pub steps: u64,
    /// Seconds of training, on one thread.
    pub seconds: f64,
    /// The evaluated checkpoints, in gradient updates.
    pub checkpoints: Vec<u64>,
    /// Success at these checkpoints, of the policy alone and with each planner.
    pub evaluations: Vec<EvalResult>,
    /// The agreement of the last checkpoint's distance with the exact one, if both exist.
    pub fit: Option<DistanceFit>,
    /// Success of the policy during training: gradient updates and the share of episodes.
    pub curve: Vec<(u64, f64)>,
    /// The origin of the result.
    pub provenance: Provenance,
}

/// Rollouts of one checkpoint, of the policy alone or with a planner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalResult {
    /// The checkpoint, in gradient updates.
    pub step: u64,
    /// Name of the planner; `None` for the policy alone.
    pub planner: Option<String>,
    /// Episodes of each task.
    pub episodes: u64,
    /// Success rate of every task.
    pub success: Vec<f64>,
    /// Mean steps of successful episodes.
    pub mean_steps: Option<f64>,
    /// Mean return.
    pub mean_return: Option<f64>,
    /// How long the network that acts was distilled, in seconds, if it was; older results lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distilled_seconds: Option<f64>,
}

/// The agreement of a distance with the exact one, over pairs of states with a path between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DistanceFit {
    /// Rank correlation over pairs of one street, the second ahead of the first.
    #[serde(deserialize_with = "number")]
    pub rank_ahead: f64,
    /// Rank correlation over pairs of different streets, which no trajectory joins.
    #[serde(deserialize_with = "number")]
    pub rank_across: f64,
    /// Rank correlation over all pairs.
    #[serde(deserialize_with = "number")]
    pub rank: f64,
    /// Median of learned / exact.
    #[serde(deserialize_with = "number")]
    pub ratio: f64,
    /// Median of |learned - exact| / exact, after learned distances are divided by this ratio.
    #[serde(deserialize_with = "number")]
    pub error: f64,
    /// A sample of pairs: exact and learned steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<(f64, f64)>,
}

/// The origin of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// SHA-256 of the contents of the dataset.
    pub data_hash: String,
    /// Revision of the program that started the run.
    pub trained_by: Option<String>,
    /// Revision of the program that evaluated it.
    pub evaluated_by: Option<String>,
    /// Processor and system that evaluated it.
    pub platform: String,
}

/// A dataset and the references of its environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetInfo {
    /// SHA-256 of its contents.
    pub content_hash: String,
    /// The optimal success rate of every task, by the exact solver.
    pub optimal_success: Option<Vec<f64>>,
    /// Success rate of every task for policies that learn nothing.
    #[serde(default)]
    pub baselines: BTreeMap<String, Vec<f64>>,
}

/// The file `results.json`: the finished runs of a study or a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Version of isochrone.
    pub version: String,
    /// Revision of its sources.
    pub revision: Option<String>,
    /// Version of MuJoCo, if there is one.
    pub mujoco: Option<String>,
    /// See [`PROTOCOL_VERSION`].
    pub protocol: u32,
    /// Processor and system.
    pub platform: String,
    /// The part of the study, such as `shard 2/5`; `None` for all of it.
    #[serde(alias = "shard")]
    pub part: Option<String>,
    /// Number of runs of this part.
    pub n_jobs: usize,
    /// The recipe, with the selected methods and seeds.
    pub recipe: Recipe,
    /// Its datasets.
    pub datasets: BTreeMap<String, DatasetInfo>,
    /// Finished runs, by dataset, method, variant and seed.
    pub runs: Vec<RunResult>,
    /// Failed runs and their errors.
    #[serde(default)]
    pub failures: BTreeMap<String, String>,
}

/// A regression threshold and the measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The measured quantity.
    pub claim: String,
    /// The minimum.
    pub min: f64,
    /// The measured value.
    pub measured: f64,
}

impl Threshold {
    /// Whether the measured value reaches the minimum.
    pub fn holds(&self) -> bool {
        self.measured >= self.min
    }
}

/// JSON has no NaN: it is written as null.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

impl RunResult {
    /// Whether this is the result of a job.
    pub(crate) fn is_of(&self, job: &Job<'_>) -> bool {
        (self.dataset.as_str(), self.method.as_str(), self.seed) == (job.dataset, job.method.name(), job.seed)
            && self.variant == job.variant.map(VariantRecipe::label)
    }

    /// Reads the result of a job with these settings; `None` if the file is of another one, or of
    /// none.
    pub(crate) fn read(path: &Path, job: &Job<'_>, settings_hash: &str) -> Option<Self> {
        read_json(path).filter(|result: &Self| result.settings_hash == settings_hash && result.is_of(job))
    }

    /// Whether rates of success are possible ones. They are not protected by a checksum.
    pub(crate) fn is_plausible(&self) -> bool {
        let is_rate = |rate: &f64| (0.0..=1.0).contains(rate);
        self.evaluations.iter().all(|found| !found.success.is_empty() && found.success.iter().all(is_rate))
    }

    /// Returns the evaluations with a planner, or of the policy alone, from the first to the last
    /// checkpoint.
    pub fn evaluations(&self, planner: Option<&str>) -> Vec<&EvalResult> {
        self.evaluations.iter().filter(|evaluation| evaluation.planner.as_deref() == planner).collect()
    }

    /// Returns the success over checkpoints, averaged over tasks; `None` if nothing was evaluated.
    pub fn success(&self, planner: Option<&str>) -> Option<Success> {
        let means: Vec<f64> =
            self.evaluations(planner).iter().map(|evaluation| mean(&evaluation.success)).collect();
        Success::of(&means)
    }

    /// The measurements that depend on neither the machine nor the time.
    pub(crate) fn numbers(&self) -> serde_json::Value {
        let Self { settings_hash, checkpoints, evaluations, fit, curve, .. } = self;
        serde_json::json!([settings_hash, checkpoints, evaluations, fit, curve])
    }
}

impl Results {
    /// Creates the results of a study without finished runs.
    pub fn new(recipe: &Recipe, part: Option<String>, n_jobs: usize) -> Self {
        let Program { isochrone, git_revision, platform, .. } = Program::now();
        Self {
            version: isochrone,
            revision: git_revision,
            mujoco: isochrone_envs::mujoco_version(),
            protocol: PROTOCOL_VERSION,
            platform,
            part,
            n_jobs,
            recipe: recipe.clone(),
            datasets: BTreeMap::new(),
            runs: Vec::new(),
            failures: BTreeMap::new(),
        }
    }

    /// Whether all runs are finished.
    pub fn is_complete(&self) -> bool {
        self.runs.len() == self.n_jobs
    }

    /// Returns the results without the pairs of the calibration, which are a thousand times as
    /// large as everything else.
    #[must_use]
    pub fn without_pairs(&self) -> Self {
        let mut slim = self.clone();
        slim.runs.iter_mut().filter_map(|run| run.fit.as_mut()).for_each(|fit| fit.pairs.clear());
        slim
    }

    /// Writes `results.json`; pairs of the calibration stay in the file of each run.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), StudyError> {
        write_json(&folder.join("results.json"), &self.without_pairs())
    }

    /// Compares runs with the thresholds of the recipe.
    pub fn thresholds(&self) -> Vec<Threshold> {
        let mut thresholds = Vec::new();
        for run in &self.runs {
            for asked in &self.recipe.thresholds {
                if !asked.methods.is_empty() && !asked.methods.contains(&run.method) {
                    continue;
                }
                let planner = asked.planner.as_deref();
                let (name, measured) = match (asked.metric, &run.fit) {
                    (Metric::Success, _) => {
                        ("success", run.success(planner).map_or(0.0, |success| success.last))
                    }
                    (Metric::RankAhead, Some(fit)) => ("rank correlation ahead on a street", fit.rank_ahead),
                    (Metric::RankAcross, Some(fit)) => ("rank correlation across streets", fit.rank_across),
                    (_, None) => continue,
                };
                let baseline = asked.above.as_ref().map_or(0.0, |baseline| {
                    self.datasets[&run.dataset].baselines.get(baseline).map_or(0.0, |success| mean(success))
                });
                let with = planner.map_or_else(String::new, |planner| format!(" with {planner} planner"));
                let claim = format!("{} {} seed {}: {name}{with}", run.dataset, run.method, run.seed);
                thresholds.push(Threshold { claim, min: baseline + asked.min, measured });
            }
        }
        thresholds
    }
}
