//! Subtasks: consecutive parts of an episode with names, as annotation tools store them in columns
//! of `meta/episodes`.

use super::{parquet_files, strings::TextTable};
use crate::DataError;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

/// The extra column with the number of a frame's subtask.
pub(super) const COLUMN: &str = "subtask";
/// The number of frames outside of every subtask.
const NONE: f32 = -1.0;
/// The prefixes of the annotation columns; the finest annotation comes first.
const PREFIXES: [&str; 3] = ["dense_subtask_", "sparse_subtask_", "subtask_"];

/// The subtasks of all episodes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Subtasks {
    /// The names, in the order of their first occurrence.
    pub names: Vec<String>,
    /// The places of the names.
    places: HashMap<String, usize>,
    /// The parts of each episode, in the order of their first frames.
    parts: BTreeMap<usize, Vec<Part>>,
}

/// Frames of one subtask; the next part starts before `last` where annotations overlap.
#[derive(Debug, PartialEq)]
struct Part {
    first: usize,
    last: usize,
    name: usize,
}

impl Subtasks {
    /// Reads the annotations of a dataset; there are no names if it has none. Annotations of an
    /// unknown type are ignored.
    pub fn read(dataset: &Path) -> Result<Self, DataError> {
        let mut subtasks = Self::default();
        let folder = dataset.join("meta/episodes");
        if folder.is_dir() {
            for file in parquet_files(&folder)? {
                subtasks.append(&TextTable::open(&file)?)?;
            }
        }
        Ok(subtasks.sorted())
    }

    fn sorted(mut self) -> Self {
        self.parts.values_mut().for_each(|parts| parts.sort_by_key(|part| part.first));
        self
    }

    fn append(&mut self, table: &TextTable) -> Result<(), DataError> {
        let columns = |prefix: &&str| {
            let find = |name: &str| table.find(&format!("{prefix}{name}"));
            Some([find("names")?, find("start_frames")?, find("end_frames")?])
        };
        let (Some(episode), Some(lists)) = (table.find("episode_index"), PREFIXES.iter().find_map(columns))
        else {
            return Ok(());
        };
        let ([episodes], Some([names, first, last])) = (table.read([episode])?, table.read_lists(lists)?)
        else {
            return Ok(());
        };
        for (((episode, names), first), last) in episodes.into_iter().zip(names).zip(first).zip(last) {
            let Ok(episode) = episode.parse() else { continue };
            for ((name, first), last) in names.into_iter().zip(first).zip(last) {
                if let (Ok(first), Ok(last)) = (first.parse(), last.parse()) {
                    self.add(episode, name, first, last);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, episode: usize, name: String, first: usize, last: usize) {
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() - 1
        });
        self.parts.entry(episode).or_default().push(Part { first, last, name: place });
    }

    /// Returns the number of the subtask at each frame of an episode, as an index of the names.
    pub fn of_frames(&self, episode: usize, frames: usize) -> Vec<f32> {
        let mut numbers = vec![NONE; frames];
        for part in self.parts.get(&episode).into_iter().flatten() {
            let end = part.last.saturating_add(1).min(frames);
            numbers[part.first.min(end)..end].fill(part.name as f32);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_part_has_the_frames_of_an_overlap() {
        let mut subtasks = Subtasks::default();
        subtasks.add(0, "place".into(), 3, usize::MAX);
        subtasks.add(0, "reach".into(), 1, 3);
        subtasks.add(2, "place".into(), 9, 2);
        let subtasks = subtasks.sorted();
        assert_eq!(subtasks.names, ["place", "reach"]);
        assert_eq!(subtasks.of_frames(0, 6), [-1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(subtasks.of_frames(1, 2), [-1.0; 2]);
        assert_eq!(subtasks.of_frames(2, 2), [-1.0; 2], "a part whose end is before its start");
    }
}
