//! What the user says about logs that do not say it themselves.

use crate::commands::choice::{Choice, one_of};
use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::data::{
    Bounds,
    formats::{Ends, Extras, Format, ReadOptions},
};
use std::ops::Range;

/// How to read logs; the same for every verb that does.
#[derive(clap::Args)]
pub struct ReadArgs {
    /// Columns that make up an observation, in this order (tables, LeRobot, Minari)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    observations: Vec<String>,

    /// Columns that make up an action (tables, LeRobot, Minari)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    actions: Vec<String>,

    /// Tables: the column that tells episodes apart
    #[arg(long, value_name = "COLUMN")]
    episode: Option<String>,

    /// Tables: the column with the reward
    #[arg(long, value_name = "COLUMN")]
    reward: Option<String>,

    /// Tables: the column with the time in seconds
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,

    /// D4RL: what ends an episode; needed where a file that is not of a maze has both flags
    #[arg(long, value_parser = one_of(ENDS.to_vec()))]
    ends: Option<Ends>,

    /// States per second, whatever the file says
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    fps: Option<f64>,

    /// The dimensions of an observation that are the goal space, such as 0..2
    #[arg(long, value_name = "FROM..TO", value_parser = parse_range)]
    goal: Option<Range<usize>>,

    /// The least and greatest value of an action, such as -1,1, whatever the file says
    #[arg(long, value_name = "LOW,HIGH", value_parser = parse_bounds, allow_hyphen_values = true)]
    action_range: Option<Bounds>,
}

const ENDS: [Choice<Ends>; 3] = [
    ("timeouts", "Mazes: terminals mark visits of the goal", Ends::Timeouts),
    ("terminals", "", Ends::Terminals),
    ("either", "Locomotion: a fall resets the world", Ends::Either),
];

/// `x, y` means `x,y`.
pub fn trimmed(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.trim().to_owned()).collect()
}

/// `FROM..TO`, the last not included.
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
        _ => Err("not two rising numbers like -1,1".into()),
    }
}

impl ReadArgs {
    /// A flag that would do nothing is an error, not a surprise.
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
                bail!("{flag} does not apply to {} data; hint: leave it out, or say --format", format.name())
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
        }
    }
}

/// A count of transitions on a terminal, nothing elsewhere.
pub fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {human_pos} transitions read, {per_sec}");
    ProgressBar::new_spinner().with_style(style.expect("the template is well formed"))
}
