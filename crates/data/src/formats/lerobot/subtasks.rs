//! Subtasks: consecutive parts of an episode with names, as annotation tools store them in columns
//! of `meta/episodes`, or in the column `language_persistent` of the frames.

use super::{files::parquet_files, strings::TextTable};
use crate::DataError;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

/// The extra column with the number of a frame's subtask.
pub(super) const COLUMN: &str = "subtask";
/// The number of frames outside of every subtask.
const NONE: f32 = -1.0;
/// The column with annotations in words, and the style of those that are subtasks.
const LANGUAGE: &str = "language_persistent";
const STYLE: &str = "subtask";
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
    pub fn read(dataset: &Path, frames_per_second: f64) -> Result<Self, DataError> {
        let mut subtasks = Self::default();
        let folder = dataset.join("meta/episodes");
        if folder.is_dir() {
            for file in parquet_files(&folder)? {
                subtasks.append(&TextTable::open_listing(&file)?)?;
            }
        }
        if subtasks.names.is_empty() {
            subtasks.read_language(dataset, frames_per_second)?;
        }
        Ok(subtasks.sorted())
    }

    /// Reads the entries of style `subtask`, each of which starts at its time. Every frame of an
    /// episode has the same entries, of which those of the first frame are used.
    fn read_language(&mut self, dataset: &Path, frames_per_second: f64) -> Result<(), DataError> {
        let (mut episode, mut last) = (0, None);
        for file in parquet_files(&dataset.join("data"))? {
            let table = TextTable::open(&file)?;
            let (Some(language), Some(index)) = (table.find(LANGUAGE), table.find("episode_index")) else {
                return Ok(());
            };
            let fields = ["style", "content", "timestamp"];
            table.visit_entries([language, index], fields, |identifier, entries| {
                // The episode of the rows before may go on.
                if last.as_ref() == Some(&identifier) {
                    return;
                }
                episode += usize::from(last.is_some());
                last = Some(identifier);
                let [styles, names, times] = entries.unwrap_or_default();
                for ((style, name), time) in styles.into_iter().zip(names).zip(times) {
                    if let (STYLE, Ok(seconds)) = (style.as_str(), time.parse::<f64>()) {
                        let first = (seconds.max(0.0) * frames_per_second).round() as usize;
                        self.add(episode, name, first, usize::MAX);
                    }
                }
            })?;
        }
        Ok(())
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
        let mut parts = self.parts.get(&episode).into_iter().flatten().peekable();
        // The parts that have started, the latest at the end. Each enters and leaves once, so that
        // many long parts take no longer than short ones.
        let mut started: Vec<&Part> = Vec::new();
        for (frame, number) in numbers.iter_mut().enumerate() {
            while let Some(part) = parts.next_if(|part| part.first <= frame) {
                started.push(part);
            }
            while started.pop_if(|part| part.last < frame).is_some() {}
            if let Some(part) = started.last() {
                *number = part.name as f32;
            }
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

    #[test]
    fn a_longer_part_has_the_frames_after_a_shorter_one() {
        let mut subtasks = Subtasks::default();
        subtasks.add(0, "all".into(), 0, 5);
        subtasks.add(0, "some".into(), 1, 3);
        subtasks.add(0, "one".into(), 2, 2);
        assert_eq!(subtasks.sorted().of_frames(0, 7), [0.0, 1.0, 2.0, 1.0, 0.0, 0.0, -1.0]);
    }

    /// Filling every part would take 10^11 steps.
    #[test]
    fn many_overlapping_parts_take_no_longer_than_few() {
        let mut subtasks = Subtasks::default();
        for part in 0..300_000 {
            subtasks.add(0, (part % 7).to_string(), part, usize::MAX);
        }
        let numbers = subtasks.sorted().of_frames(0, 300_000);
        assert!(numbers.iter().enumerate().all(|(frame, number)| *number == (frame % 7) as f32));
    }
}
