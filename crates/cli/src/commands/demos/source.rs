//! The demonstrations that are analyzed.

use crate::commands::{output::bar, read_args::ReadArgs, remote::local};
use anyhow::Context as _;
use isochrone::{
    data::{Dataset, formats::Format},
    demos::{Demos, DemosConfig},
};
use std::path::{Path, PathBuf};

/// The columns of LeRobot that describe the scene beside the robot.
const SCENE: [&str; 2] = ["observation.state", "observation.environment_state"];

/// The dataset and how to read it.
#[derive(clap::Args)]
pub struct DemosArgs {
    /// Dataset of demonstrations: a LeRobot folder, or any dataset that isochrone reads
    #[arg(value_name = "DATASET")]
    dataset: PathBuf,

    #[command(flatten, next_help_heading = "Dataset")]
    read: ReadArgs,
}

/// A dataset of demonstrations.
pub struct Source {
    /// Its local path.
    pub path: PathBuf,
    pub format: Format,
    pub data: Dataset,
}

impl DemosArgs {
    /// Reads the dataset. Without `--observations`, a LeRobot dataset is read with the state of its
    /// scene, since success is seldom visible in the joints of the robot.
    pub fn open(&self) -> anyhow::Result<Source> {
        let path = local(&self.dataset)?.into_owned();
        let format = Format::detect(&path)?;
        self.read.refuse_flags_of_other_formats(format)?;
        let mut options = self.read.options();
        if format == Format::LeRobot && options.observations.is_empty() && has_scene(&path) {
            options.observations = SCENE.map(str::to_owned).to_vec();
        }
        let data = Dataset::load(&path, &options)?;
        Ok(Source { path, format, data })
    }
}

/// Returns whether a LeRobot dataset has the state of its scene. A file that cannot be read is an
/// error of the reader.
fn has_scene(dataset: &Path) -> bool {
    let info = std::fs::read(dataset.join("meta/info.json")).unwrap_or_default();
    let info: serde_json::Value = serde_json::from_slice(&info).unwrap_or_default();
    SCENE.iter().all(|column| info["features"].get(column).is_some())
}

impl Source {
    /// Fits the distances, with a progress bar.
    pub fn fit(&self) -> anyhow::Result<Demos<'_>> {
        let config = DemosConfig::default();
        let folds = Demos::n_folds(self.data.n_episodes(), &config);
        let progress = bar(folds, "distances {wide_bar} {pos}/{len} folds, {eta} left");
        let demos = Demos::fit(&self.data, &config, &mut || progress.inc(1));
        progress.finish_and_clear();
        demos.with_context(|| self.path.display().to_string())
    }
}
