//! Layers of the map: findings, gaps, suggested start states and progress.

use super::{ExploreError, base64::Array, progress};
use isochrone_data::{Dataset, regular_file};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, path::Path};

/// The maximum size of a file with findings or gaps.
const MAX_BYTES: u64 = 1 << 28;
/// The maximum number of findings on a page, those with the highest scores.
const MAX_FINDINGS: usize = 500;

/// What a page shows beside distances. All layers may be empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExploreLayers {
    /// Problems of episodes.
    pub findings: Vec<Finding>,
    /// Pairs of states between which demonstrations are missing.
    pub bridges: Vec<Bridge>,
    /// Start states from which demonstrations are missing.
    pub starts: Vec<StartState>,
    /// For every state of the page, the progress between 0 and 1.
    pub progress: Option<Vec<f32>>,
}

/// A problem in some frames of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The episode.
    #[serde(default)]
    pub episode: u64,
    /// The name of the rule.
    pub rule: String,
    /// The first frame.
    #[serde(rename(serialize = "first"))]
    pub first_frame: u64,
    /// The frame after the last.
    #[serde(rename(serialize = "end"))]
    pub end_frame: u64,
    /// How certain or severe the finding is; larger is worse.
    #[serde(default)]
    pub score: Option<f64>,
    /// The finding in one sentence.
    #[serde(default)]
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub advice: Option<String>,
}

/// A frame of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameOfEpisode {
    /// The episode.
    pub episode: u64,
    /// The frame, counted from 0.
    pub frame: u64,
}

/// A gap between two recorded states.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Bridge {
    /// The state that can be reached.
    pub from: FrameOfEpisode,
    /// The state from which the rest of the data can be reached.
    pub to: FrameOfEpisode,
    /// The length of the gap in steps.
    pub steps: f64,
}

/// A start state from which to collect demonstrations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartState {
    /// The task, if the dataset has several.
    #[serde(default)]
    pub task: Option<String>,
    /// The values of some columns, by name.
    pub values: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Doctor {
    episodes: Vec<EpisodeFindings>,
}

#[derive(Deserialize)]
struct EpisodeFindings {
    episode: u64,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Gaps {
    #[serde(default)]
    bridges: Vec<Bridge>,
    #[serde(default)]
    starts: Vec<StartState>,
}

impl ExploreLayers {
    /// Reads findings, highest score first: `{"episodes": [{"episode": 0, "findings": [{"rule":
    /// ..., "first_frame": ..., "end_frame": ...}]}]}`.
    ///
    /// # Errors
    /// If the file cannot be read, or has another format.
    pub fn read_findings(&mut self, path: &Path) -> Result<(), ExploreError> {
        let doctor: Doctor = read(path, "give the JSON output of a diagnosis of this dataset")?;
        let of = |found: EpisodeFindings| {
            let episode = found.episode;
            found.findings.into_iter().map(move |finding| Finding { episode, ..finding })
        };
        self.findings = doctor.episodes.into_iter().flat_map(of).collect();
        let score = |finding: &Finding| finding.score.unwrap_or(0.0);
        self.findings.sort_by(|a, b| score(b).total_cmp(&score(a)));
        self.findings.truncate(MAX_FINDINGS);
        Ok(())
    }

    /// Reads gaps: `{"bridges": [{"from": {"episode": 0, "frame": 0}, "to": ..., "steps": ...}],
    /// "starts": [{"task": ..., "values": {"x": ...}}]}`.
    ///
    /// # Errors
    /// If the file cannot be read, or has another format.
    pub fn read_gaps(&mut self, path: &Path) -> Result<(), ExploreError> {
        let gaps: Gaps = read(path, "give the JSON output of a search for gaps in this dataset")?;
        (self.bridges, self.starts) = (gaps.bridges, gaps.starts);
        Ok(())
    }

    /// Reads the progress of states from a Parquet table with the columns `episode_index`,
    /// `frame_index` and `progress_sparse`.
    ///
    /// # Errors
    /// If the file cannot be read, lacks a column, or has other episodes than the dataset.
    pub fn read_progress(&mut self, path: &Path, data: &Dataset, states: &[u64]) -> Result<(), ExploreError> {
        self.progress = Some(progress::read(path, data, states)?);
        Ok(())
    }
}

fn read<T: DeserializeOwned>(path: &Path, hint: &'static str) -> Result<T, ExploreError> {
    let text = regular_file::read_at_most(path, MAX_BYTES)
        .map_err(|source| ExploreError::Io { path: path.into(), source })?;
    serde_json::from_slice(&text).map_err(|error| ExploreError::Layer {
        path: path.into(),
        problem: error.to_string(),
        hint,
    })
}

/// The layers as the script of the page reads them: gaps with the values of their states.
#[derive(Serialize)]
pub(super) struct PageLayers {
    findings: Vec<Finding>,
    bridges: Vec<PageBridge>,
    starts: Vec<StartState>,
    progress: Option<Array>,
}

#[derive(Serialize)]
struct PageBridge {
    from: Side,
    to: Side,
    steps: f64,
}

#[derive(Serialize)]
struct Side {
    #[serde(flatten)]
    at: FrameOfEpisode,
    values: Array,
}

impl PageLayers {
    pub fn new(layers: &ExploreLayers, data: &Dataset) -> Result<Self, ExploreError> {
        let state = |layer: &'static str, episode: u64, frame: u64| {
            let states = usize::try_from(episode).ok().filter(|episode| *episode < data.n_episodes());
            let states = states.map(|episode| data.index().states(episode));
            let state =
                states.and_then(|states| Some(states.start.checked_add(frame)?).filter(|s| *s < states.end));
            state.ok_or(ExploreError::NoFrame { layer, episode, frame })
        };
        for finding in &layers.findings {
            state("findings", finding.episode, finding.first_frame)?;
        }
        let side = |at: FrameOfEpisode| {
            let values = data.state(state("gaps", at.episode, at.frame)?).iter().copied();
            Ok::<_, ExploreError>(Side { at, values: Array::f32(values) })
        };
        let bridge = |bridge: &Bridge| {
            Ok::<_, ExploreError>(PageBridge {
                from: side(bridge.from)?,
                to: side(bridge.to)?,
                steps: bridge.steps,
            })
        };
        Ok(Self {
            findings: layers.findings.clone(),
            bridges: layers.bridges.iter().map(bridge).collect::<Result<_, _>>()?,
            starts: layers.starts.clone(),
            progress: layers.progress.as_ref().map(|values| Array::f32(values.iter().copied())),
        })
    }
}
