//! Where a run came from, for whoever wants to repeat it.

use crate::algorithm::LearnerConfig;
use isochrone_core::statistics;
use isochrone_data::{Dataset, Spec};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where a run came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// What began it.
    pub made_by: Provenance,
    /// The algorithm, by name.
    pub algorithm: String,
    /// Of everything random.
    pub seed: u64,
    /// Of `config.toml`, when it was written.
    pub config_sha256: String,
    /// What it learned from.
    pub data: DatasetInfo,
    /// What it was judged by.
    pub validation: Option<DatasetInfo>,
}

/// A process that trains: program and machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of isochrone.
    pub isochrone: String,
    /// Revision of its sources, with `+` if they were changed; nothing if it was not built from a repository.
    pub git_revision: Option<String>,
    /// Version of the tensor engine.
    pub burn: String,
    /// What computes. Only the processor, so far.
    pub device: String,
    /// With how many threads; results do not depend on it.
    pub threads: usize,
    /// Processor and system.
    pub platform: String,
    /// When, in seconds since 1970.
    pub started_at: u64,
}

impl Provenance {
    /// This process.
    pub fn now() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            isochrone: env!("CARGO_PKG_VERSION").to_owned(),
            git_revision: Self::revision().map(str::to_owned),
            // A test compares it with the version that is asked for.
            burn: "0.22.1".to_owned(),
            device: "cpu".to_owned(),
            threads: rayon::current_num_threads(),
            platform: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            started_at: now.map_or(0, |since| since.as_secs()),
        }
    }

    /// Revision of the sources that this was built from; see [`git_revision`](Self::git_revision).
    pub fn revision() -> Option<&'static str> {
        option_env!("ISOCHRONE_GIT_REVISION")
    }
}

/// A data set as it was when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetInfo {
    /// Where.
    pub path: PathBuf,
    /// What it contains: SHA-256 over episodes, whatever the format.
    pub content_hash: String,
    /// How many.
    pub episodes: usize,
    /// How many.
    pub transitions: u64,
    /// What the columns are, with the frame rate that timestamps have.
    pub spec: Spec,
}

/// What the data say, or what the median time between the states of their first episode says.
fn frames_per_second(data: &Dataset) -> Option<f64> {
    let first = (data.n_episodes() > 0).then(|| data.episode(0));
    let gaps = first.iter().flat_map(|episode| episode.timestamps.windows(2).map(|pair| pair[1] - pair[0]));
    let gap = statistics::median(gaps.collect());
    data.spec().frames_per_second.or((gap > 0.0).then(|| 1.0 / gap))
}

impl DatasetInfo {
    /// Of a data set that was read from `path`.
    pub fn of(path: &Path, data: &Dataset) -> Self {
        Self {
            path: path.into(),
            content_hash: data.content_hash().to_owned(),
            episodes: data.n_episodes(),
            transitions: data.n_transitions(),
            spec: Spec { frames_per_second: frames_per_second(data), ..data.spec().clone() },
        }
    }
}

impl Manifest {
    /// Of a run that begins now.
    pub fn now(
        algorithm: &LearnerConfig,
        seed: u64,
        data: DatasetInfo,
        validation: Option<DatasetInfo>,
    ) -> Self {
        let algorithm = algorithm.algorithm().name().to_owned();
        Self { made_by: Provenance::now(), algorithm, seed, config_sha256: String::new(), data, validation }
    }
}
