//! The metrics log of a run, as lines of JSON and as TensorBoard events.

use super::{files, plain, tensorboard::EventWriter};
use crate::error::LearnError;
use serde_json::{Map, Value, json};
use std::{
    collections::HashSet,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

/// One metrics record.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The number of updates done.
    pub step: u64,
    /// The training time in seconds.
    pub seconds: f64,
    /// Named values.
    pub values: Vec<(String, f64)>,
}

impl Record {
    /// Returns a value by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    fn line(&self) -> String {
        let mut object = Map::new();
        object.insert("step".into(), json!(self.step));
        object.insert("seconds".into(), json!((self.seconds * 1e3).round() / 1e3));
        object.extend(self.values.iter().map(|(name, value)| (name.clone(), json!(value))));
        format!("{}\n", Value::Object(object))
    }

    fn parse(line: &str) -> Option<Self> {
        let object: Map<String, Value> = serde_json::from_str(line).ok()?;
        let step = object.get("step")?.as_u64()?;
        let seconds = object.get("seconds")?.as_f64()?;
        let values = object.into_iter().filter(|(name, _)| name != "step" && name != "seconds");
        let values = values.filter_map(|(name, value)| Some((name, value.as_f64()?))).collect();
        Some(Self { step, seconds, values })
    }
}

/// Writes metrics records to disk.
pub struct MetricsLog {
    path: PathBuf,
    lines: File,
    events: EventWriter,
}

impl MetricsLog {
    /// Opens the log of a run in `folder` that resumes after `after_step`; later records of an
    /// interrupted run are dropped.
    pub fn open(folder: &Path, after_step: u64) -> Result<Self, LearnError> {
        let path = folder.join("metrics.jsonl");
        // Lines are kept verbatim, as an uninterrupted run would have written them.
        let text = read_text(&path)?;
        let is_kept = |line: &&str| Record::parse(line).is_some_and(|record| record.step <= after_step);
        let kept: String = text.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect();
        files::write(&path, kept.as_bytes())?;
        let lines = plain::append(&path)?;
        let resumed = (after_step > 0).then_some(after_step);
        let events =
            EventWriter::create(folder, resumed).map_err(|error| LearnError::write(folder, error))?;
        Ok(Self { path, lines, events })
    }

    /// Adds a record.
    pub fn add(&mut self, record: &Record) -> Result<(), LearnError> {
        let write = self.lines.write_all(record.line().as_bytes());
        let events = write.and_then(|()| self.events.scalars(record.step, &record.values));
        events.and_then(|()| self.events.flush()).map_err(|error| LearnError::write(&self.path, error))
    }

    /// Flushes the log to disk; called before a checkpoint is saved.
    pub fn sync(&mut self) -> Result<(), LearnError> {
        self.lines.sync_data().map_err(|error| LearnError::write(&self.path, error))
    }
}

/// Reads all records of a file. Incomplete or corrupt lines are skipped; a missing file has no
/// records.
pub fn read(path: &Path) -> Result<Vec<Record>, LearnError> {
    Ok(read_text(path)?.lines().filter_map(Record::parse).collect())
}

/// Returns a metric over training as pairs `(step, value)`.
pub fn curve(records: &[Record], name: &str) -> Vec<(u64, f64)> {
    records.iter().filter_map(|record| Some((record.step, record.get(name)?))).collect()
}

/// Returns the distinct names of metrics, in the order in which they first occur.
pub fn names<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let names = records.into_iter().flat_map(|record| &record.values).map(|(name, _)| name.as_str());
    names.filter(|name| seen.insert(*name)).collect()
}

/// Whether a metric is a main one: a loss or an evaluation.
pub fn is_main(name: &str) -> bool {
    name.ends_with("/loss") || name.starts_with("evaluation/")
}

fn read_text(path: &Path) -> Result<String, LearnError> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(LearnError::read(path, error)),
    }
}
