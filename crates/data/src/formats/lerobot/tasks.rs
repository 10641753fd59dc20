//! The names of tasks: `meta/tasks.parquet` (version 3) or `meta/tasks.jsonl` (version 2).

use super::{super::minari::read_small, strings::TextTable};
use crate::DataError;
use serde_json::Value;
use std::path::Path;

const HINT: &str = "a row names a task: task_index from 0, and task";
/// Memory is allocated for every index up to the largest.
const MAX_TASKS: usize = 1 << 16;
/// The column of the names, and what pandas calls an index without a name.
const NAMES: [&str; 2] = ["task", "__index_level_0__"];

/// Returns the names of the tasks by their index; empty if the dataset has no file of tasks. An
/// index without a name has an empty one.
pub(super) fn read(dataset: &Path) -> Result<Vec<String>, DataError> {
    let table = dataset.join("meta/tasks.parquet");
    if table.is_file() {
        return of_table(&table);
    }
    let lines = dataset.join("meta/tasks.jsonl");
    if lines.is_file() { of_lines(&lines) } else { Ok(Vec::new()) }
}

fn of_table(path: &Path) -> Result<Vec<String>, DataError> {
    let table = TextTable::open_listing(path)?;
    let name = NAMES.iter().find_map(|name| table.find(name));
    let (Some(index), Some(name)) = (table.find("task_index"), name) else {
        return Err(DataError::malformed(path, "no columns 'task_index' and 'task'", HINT));
    };
    let [indices, texts] = table.read([index, name])?;
    let mut names = Vec::new();
    for (index, text) in indices.into_iter().zip(texts) {
        let number = index.parse().map_err(|_| out_of_range(path, &index))?;
        insert(path, &mut names, number, text)?;
    }
    Ok(names)
}

fn of_lines(path: &Path) -> Result<Vec<String>, DataError> {
    let text = read_small(path).ok_or_else(|| DataError::malformed(path, "it cannot be read", HINT))?;
    let mut names = Vec::new();
    for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let fail = |problem: &str| DataError::malformed(path, format!("line {}: {problem}", line + 1), HINT);
        let row: Value = serde_json::from_str(text).map_err(|error| fail(&error.to_string()))?;
        let (Some(index), Some(name)) = (row["task_index"].as_u64(), row["task"].as_str()) else {
            return Err(fail("no 'task_index' and 'task'"));
        };
        insert(path, &mut names, index, name.to_owned())?;
    }
    Ok(names)
}

fn insert(path: &Path, names: &mut Vec<String>, index: u64, name: String) -> Result<(), DataError> {
    let at = usize::try_from(index).ok().filter(|index| *index < MAX_TASKS);
    let at = at.ok_or_else(|| out_of_range(path, &index.to_string()))?;
    if at >= names.len() {
        names.resize(at + 1, String::new());
    }
    names[at] = name;
    Ok(())
}

fn out_of_range(path: &Path, index: &str) -> DataError {
    let problem = format!("task_index '{index}' is not a number below {MAX_TASKS}");
    DataError::malformed(path, problem, HINT)
}
