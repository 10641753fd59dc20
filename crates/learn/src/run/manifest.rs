//! The provenance of a run, from which it can be reproduced.

use crate::algorithm::LearnerConfig;
use isochrone_core::InstructionSet;
use isochrone_data::{Dataset, Spec};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The revision that the program has set.
static REVISION: OnceLock<&str> = OnceLock::new();

/// Libraries of matrix products and vector instructions. A test compares the versions with
/// `Cargo.lock`.
const LIBRARIES: [(&str, &str); 2] = [("gemm", "0.19.0"), ("pulp", "0.22.3")];

/// The provenance of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The process that started the run.
    pub made_by: Provenance,
    /// The name of the algorithm.
    pub algorithm: String,
    /// The random seed.
    pub seed: u64,
    /// SHA-256 of `config.toml` when it was written.
    pub config_sha256: String,
    /// The training dataset.
    pub data: DatasetInfo,
    /// The validation dataset.
    pub validation: Option<DatasetInfo>,
}

/// The program and the machine of a training process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of isochrone.
    pub isochrone: String,
    /// The git revision of its sources, with `+` if they were modified; `None` if the program has
    /// not set it, because it was not built from a repository.
    pub git_revision: Option<String>,
    /// The version of Burn.
    pub burn: String,
    /// The versions of the other libraries whose arithmetic training uses.
    #[serde(default)]
    pub libraries: BTreeMap<String, String>,
    /// The device; see [`OpenDevice::description`](crate::OpenDevice::description).
    pub device: String,
    /// The number of processes that train together, on which results depend by rounding.
    #[serde(default = "one")]
    pub processes: usize,
    /// The number of threads of each process, on which results do not depend.
    pub threads: usize,
    /// The processor architecture and operating system.
    pub platform: String,
    /// The vector instructions, on which results depend by rounding; empty for runs before they
    /// were recorded. See [`InstructionSet`].
    #[serde(default)]
    pub instruction_set: String,
    /// The start time in seconds since 1970.
    pub started_at: u64,
}

/// The number of processes of runs before it was recorded.
fn one() -> usize {
    1
}

impl Provenance {
    /// Returns the provenance of this process, on the CPU.
    pub fn now() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            isochrone: env!("CARGO_PKG_VERSION").to_owned(),
            git_revision: Self::revision().map(str::to_owned),
            // A test compares it with the version in the workspace manifest.
            burn: "0.22.1".to_owned(),
            device: "cpu".to_owned(),
            processes: 1,
            threads: rayon::current_num_threads(),
            libraries: LIBRARIES.map(|(name, version)| (name.to_owned(), version.to_owned())).into(),
            instruction_set: InstructionSet::in_use().to_string(),
            platform: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            started_at: now.map_or(0, |since| since.as_secs()),
        }
    }

    /// The git revision of this program; see [`git_revision`](Self::git_revision).
    pub fn revision() -> Option<&'static str> {
        REVISION.get().copied()
    }

    /// Sets the git revision of this program, which all runs of the process then record. The first
    /// one is kept.
    pub fn set_revision(revision: &'static str) {
        REVISION.get_or_init(|| revision);
    }
}

/// The dataset at the start of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetInfo {
    /// The path.
    pub path: PathBuf,
    /// SHA-256 of the episodes, independent of the file format.
    pub content_hash: String,
    /// The number of episodes.
    pub episodes: usize,
    /// The number of transitions.
    pub transitions: u64,
    /// The columns, with the frame rate of the timestamps.
    pub spec: Spec,
}

impl DatasetInfo {
    /// Describes a dataset that was read from `path`.
    pub fn of(path: &Path, data: &Dataset) -> Self {
        Self {
            path: path.into(),
            content_hash: data.content_hash().to_owned(),
            episodes: data.n_episodes(),
            transitions: data.n_transitions(),
            spec: Spec { frames_per_second: data.frames_per_second(), ..data.spec().clone() },
        }
    }
}

impl Manifest {
    /// Returns the manifest of a run that starts now.
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
