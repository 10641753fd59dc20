//! The flags that describe how to read a dataset.

use crate::commands::choice::{Choice, one_of};
use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::data::{
    Bounds,
    formats::{EmbeddingOptions, Ends, Extras, Format, ReadOptions},
};
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// How to read a dataset, shared by all commands that read one.
#[derive(clap::Args)]
pub struct ReadArgs {
    /// Tables, LeRobot, Minari: columns of the observation, in this order
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    observations: Vec<String>,

    /// Tables, LeRobot, Minari: columns of the action, in this order
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    actions: Vec<String>,

    /// Tables: column with the episode identifier
    #[arg(long, value_name = "COLUMN")]
    episode: Option<String>,

    /// Tables: column with the reward
    #[arg(long, value_name = "COLUMN")]
    reward: Option<String>,

    /// Tables: column with the time in seconds
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,

    /// D4RL: flag that ends an episode; required for a file with both flags, except mazes [default:
    /// the flag that occurs; timeouts in mazes]
    #[arg(long, value_name = "FLAG", value_parser = one_of(ENDS.to_vec()))]
    ends: Option<Ends>,

    /// Frame rate in states per second; overrides that of the data
    #[arg(long, value_name = "FPS", allow_negative_numbers = true)]
    fps: Option<f64>,

    /// Observation dimensions of the goal space, end excluded, such as 0..2
    #[arg(long, value_name = "FROM..TO", value_parser = parse_range)]
    goal: Option<Range<usize>>,

    /// Embeddings of frames that are added to the observation, joined by the frame index: .npy,
    /// .parquet or .safetensors; repeatable
    #[arg(long, value_name = "FILE")]
    embedding: Vec<PathBuf>,

    /// Principal components to keep of each embedding, 0 for all dimensions [default: 16]
    #[arg(long, value_name = "N", requires = "embedding")]
    pca: Option<usize>,

    /// Weight of each embedding; 1 is that of one standardized dimension [default: 1]
    #[arg(long, value_name = "WEIGHT", requires = "embedding", allow_negative_numbers = true)]
    embedding_weight: Option<f64>,

    /// Minimum and maximum of an action, such as -1,1; overrides those of the data
    #[arg(long, value_name = "LOW,HIGH", value_parser = parse_bounds, allow_hyphen_values = true)]
    action_range: Option<Bounds>,
}

const ENDS: [Choice<Ends>; 3] = [
    ("timeouts", "Mazes, where terminals mark visits of the goal", Ends::Timeouts),
    ("terminals", "", Ends::Terminals),
    ("either", "Locomotion, where a fall resets the environment", Ends::Either),
];

/// Trims the names, so that `x, y` means `x,y`.
pub fn trimmed(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.trim().to_owned()).collect()
}

/// Parses `FROM..TO`, where TO is excluded.
pub fn parse_range(text: &str) -> Result<Range<usize>, String> {
    let range = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.ok_or_else(|| "not two numbers like 0..2".into())
}

fn parse_bounds(text: &str) -> Result<Bounds, String> {
    let numbers = text
        .split_once(',')
        .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    match numbers {
        Some((low, high)) if low < high => Ok(Bounds { low: Some(low), high: Some(high) }),
        _ => Err("not two increasing numbers like -1,1".into()),
    }
}

impl ReadArgs {
    /// Rejects flags that would have no effect.
    pub fn refuse_flags_of_other_formats(&self, format: Format) -> anyhow::Result<()> {
        let is_table = matches!(format, Format::Parquet | Format::Csv | Format::LeRobot);
        let chooses_columns = is_table || format == Format::Minari;
        let flags = [
            ("--observations", !self.observations.is_empty(), chooses_columns),
            ("--actions", !self.actions.is_empty(), chooses_columns),
            ("--episode", self.episode.is_some(), is_table),
            ("--reward", self.reward.is_some(), is_table),
            ("--time", self.time.is_some(), is_table),
            ("--ends", self.ends.is_some(), format == Format::D4rl),
        ];
        match flags.into_iter().find(|(_, is_given, applies)| *is_given && !applies) {
            Some((flag, ..)) => {
                bail!("{flag} does not apply to {} data; hint: leave it out, or set --format", format.name())
            }
            None => Ok(()),
        }
    }

    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            observations: trimmed(&self.observations),
            actions: trimmed(&self.actions),
            episode: self.episode.clone(),
            reward: self.reward.clone(),
            time: self.time.clone(),
            extras: Extras::All,
            ends: self.ends.unwrap_or_default(),
            frames_per_second: self.fps,
            goal: self.goal.clone(),
            action_bounds: self.action_range,
            embeddings: self.embedding.iter().map(|path| self.embedding_options(path)).collect(),
        }
    }

    fn embedding_options(&self, path: &Path) -> EmbeddingOptions {
        let defaults = EmbeddingOptions::new(path);
        EmbeddingOptions {
            components: self.pca.unwrap_or(defaults.components),
            weight: self.embedding_weight.unwrap_or(defaults.weight),
            ..defaults
        }
    }
}

/// Returns a spinner that counts transitions, which is hidden if stderr is not a terminal.
pub fn read_spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {human_pos} transitions read, {per_sec}");
    ProgressBar::new_spinner().with_style(style.expect("the template is well formed"))
}
