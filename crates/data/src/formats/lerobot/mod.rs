//! LeRobot datasets (v3.0, and v2.x): `meta/info.json` and Parquet files under `data`.
//!
//! `observation.state` is the observation unless other columns are named, for example an embedding;
//! `action` is the action. The frames of an episode are consecutive; the last frame's action leads
//! out of the episode and is dropped. So is its reward, since rewards belong to actions: the extra
//! column `next.reward` has the rewards of all frames, next to `next.done` and `next.success`.

mod annotate;
mod cameras;
mod files;
mod frame_numbers;
mod listing;
mod names;
mod strings;
mod subtasks;
mod tasks;

pub use cameras::Camera;
pub use frame_numbers::FrameNumbers;

use super::{
    ReadOptions,
    columns::{Choice, Table, TableReader},
    parquet::ParquetTable,
};
use crate::{DataError, Defect, DefectKind, EpisodeSink, EpisodeView, Spec, labels::TASK_COLUMN};
use annotate::Annotate;
use files::{HINT, info, parquet_files};
use std::{collections::BTreeMap, path::Path};
use subtasks::Subtasks;

/// Columns that describe the state after a frame, including the last.
const OUTCOMES: [&str; 2] = ["next.reward", "next.done"];

/// Returns whether a folder is a LeRobot dataset.
pub(super) fn is_lerobot(path: &Path) -> bool {
    path.join("meta/info.json").is_file()
}

/// Reads a dataset, file by file.
pub(super) fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let info = info(path)?;
    let files = parquet_files(&path.join("data"))?;
    let Some(first) = files.first() else {
        return Err(DataError::malformed(path, "no Parquet file under data", HINT));
    };
    let columns = ParquetTable::open(first)?.columns().to_vec();
    let mut choice = Choice::of(first, &columns, options)?;
    let tasks = tasks::read(path)?;
    let has_tasks = !tasks.is_empty() && choice.keep(&columns, TASK_COLUMN, options);
    for name in OUTCOMES {
        choice.keep(&columns, name, options);
    }
    let mut spec = choice.spec(&columns);
    spec.tasks = if has_tasks { tasks } else { Vec::new() };
    spec.frames_per_second = info["fps"].as_f64().filter(|rate| *rate > 0.0);
    names::describe(&info["features"], &mut spec, &columns, &choice);
    let mut annotate = Annotate::new(sink, &spec);
    if options.wants_extra(subtasks::COLUMN) {
        let rate = spec.frames_per_second.unwrap_or(1.0);
        annotate.add_subtasks(Subtasks::read(path, rate)?);
    }
    options.complete(path, &mut annotate.spec)?;
    let declared = declared_lengths(&path.join("meta/episodes"))?;
    let total = |name: &str| info[name].as_u64().map(|total| total as usize);
    let expected = [("episodes", total("total_episodes")), ("frames", total("total_frames"))];
    let mut counting = Counting { sink: &mut annotate, path, declared, episode: 0, frames: 0 };
    let mut reader = TableReader::begin(path, &columns, &choice, &spec, &mut counting)?;
    for file in &files {
        let mut table = ParquetTable::open(file)?;
        if !choice.fits(&columns, table.columns()) {
            return Err(DataError::malformed(file, "its columns differ from those of the first file", HINT));
        }
        reader.read(&mut table)?;
    }
    reader.finish()?;
    counting.finish(expected)
}

/// Returns the number of frames that the metadata declare for each episode, if they do.
fn declared_lengths(folder: &Path) -> Result<BTreeMap<usize, usize>, DataError> {
    let mut lengths = BTreeMap::new();
    if !folder.is_dir() {
        return Ok(lengths);
    }
    for file in parquet_files(folder)? {
        let mut table = ParquetTable::open(&file)?;
        listing::check(&file, &table.metadata)?;
        let find = |name: &str| table.columns().iter().position(|column| column.name == name);
        let (Some(episode), Some(length)) = (find("episode_index"), find("length")) else { continue };
        let chosen = [episode.min(length), episode.max(length)];
        let (episode, length) = (usize::from(episode > length), usize::from(length > episode));
        table.read(&chosen, None, &mut |chunk| {
            for row in 0..chunk.rows {
                let value = |at: usize| chunk.numbers[at].get(row).copied().unwrap_or(0.0);
                lengths.insert(value(episode) as usize, value(length) as usize);
            }
            Ok(())
        })?;
    }
    Ok(lengths)
}

/// Forwards episodes and compares their lengths with the metadata.
struct Counting<'a> {
    sink: &'a mut dyn EpisodeSink,
    path: &'a Path,
    declared: BTreeMap<usize, usize>,
    episode: usize,
    frames: usize,
}

impl Counting<'_> {
    /// Checks after the last episode that no episode and no frame is missing.
    fn finish(self, expected: [(&str, Option<usize>); 2]) -> Result<(), DataError> {
        for ((what, expected), found) in expected.into_iter().zip([self.episode, self.frames]) {
            let Some(expected) = expected.filter(|expected| *expected != found) else { continue };
            let info = self.path.join("meta/info.json");
            self.sink.defect(Defect::miscounted(&info, self.episode, what, (expected, found)))?;
        }
        Ok(())
    }
}

impl EpisodeSink for Counting<'_> {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.sink.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let frames = episode.steps + 1;
        let declared = self.declared.get(&self.episode).copied().unwrap_or(frames);
        self.episode += 1;
        self.frames += frames;
        if declared == frames {
            return self.sink.episode(episode);
        }
        let problem = format!("the metadata declare {declared} frames, but the data have {frames}");
        let hint = "the files belong to different versions, or the download is incomplete";
        let path = self.path.join("meta/episodes");
        self.sink.defect(Defect::of_episode(&path, episode.number, DefectKind::Lengths, problem, hint))
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        // An episode that is not forwarded still counts.
        self.episode = self.episode.max(defect.episode.map_or(0, |episode| episode + 1));
        self.frames += usize::from(defect.kind == DefectKind::Empty);
        self.sink.defect(defect)
    }
}
