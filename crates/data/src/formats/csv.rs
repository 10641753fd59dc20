//! CSV with named columns: a row holds a state and the action taken there.

use super::{
    ReadOptions,
    columns::{self, Chunk, Table, TableColumn, Visit},
};
use crate::{
    DataError, EpisodeSink, Hint, Remedy,
    bounded_records::{BoundedRecords, check_columns},
    regular_file,
};
use csv::{Reader, ReaderBuilder, StringRecord};
use std::{
    fs::File,
    path::{Path, PathBuf},
};

fn hint() -> Hint {
    Remedy::Extras.hint(|option| {
        format!(
            "a table has a header line, then numbers; the action in an episode's last row may be empty; \
             exclude columns of text with {option}"
        )
    })
}
const CHUNK_ROWS: usize = 1024;

/// Reads a table.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let mut table = CsvTable::open(path)?;
    columns::read(path, &mut table, options, sink)
}

struct CsvTable {
    path: PathBuf,
    reader: Reader<BoundedRecords<File>>,
    columns: Vec<TableColumn>,
    first: Option<StringRecord>,
}

impl CsvTable {
    fn open(path: &Path) -> Result<Self, DataError> {
        let file = regular_file::open(path).map_err(DataError::read(path))?;
        let mut reader = ReaderBuilder::new().from_reader(BoundedRecords::new(file));
        let fail = |error: csv::Error| DataError::malformed(path, error.to_string(), hint());
        let names = reader.headers().map_err(fail)?.clone();
        check_columns(names.len()).map_err(|problem| DataError::malformed(path, problem, hint()))?;
        reader.get_mut().next_record();
        let mut first = StringRecord::new();
        let first = reader.read_record(&mut first).map_err(fail)?.then_some(first);
        let first_field = |at: usize| first.as_ref().and_then(|record| record.get(at));
        let is_text = |at: usize| first_field(at).is_some_and(|field| number(field).is_none());
        let columns = names.iter().enumerate().map(|(at, name)| {
            let (name, is_text) = (name.trim().to_owned(), is_text(at));
            TableColumn { name, width: 1, is_text, problem: None }
        });
        let columns = columns.collect();
        Ok(Self { path: path.into(), reader, columns, first })
    }
}

/// Parses the number in a field; an empty field is NaN, as in place of the action in an episode's
/// last row.
fn number(field: &str) -> Option<f64> {
    match field.trim() {
        "" => Some(f64::NAN),
        "true" | "True" | "TRUE" => Some(1.0),
        "false" | "False" | "FALSE" => Some(0.0),
        field => field.parse().ok(),
    }
}

impl Table for CsvTable {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn read(&mut self, chosen: &[usize], episodes: Option<usize>, rows: Visit<'_>) -> Result<(), DataError> {
        let empty = || Chunk { rows: 0, numbers: vec![Vec::new(); chosen.len()], episodes: Vec::new() };
        let mut chunk = empty();
        let mut record = self.first.take().unwrap_or_default();
        let mut has_record = !record.is_empty();
        while has_record {
            for (slot, &at) in chosen.iter().enumerate() {
                let field = record.get(at).unwrap_or_default();
                if Some(at) == episodes {
                    chunk.episodes.push(field.trim().to_owned());
                    continue;
                }
                let value = number(field).ok_or_else(|| {
                    let line = record.position().map_or(0, csv::Position::line);
                    let problem =
                        format!("line {line}, column '{}': '{field}' is not a number", self.columns[at].name);
                    DataError::malformed(&self.path, problem, hint())
                })?;
                chunk.numbers[slot].push(value);
            }
            chunk.rows += 1;
            if chunk.rows == CHUNK_ROWS {
                rows(&std::mem::replace(&mut chunk, empty()))?;
            }
            self.reader.get_mut().next_record();
            has_record = self
                .reader
                .read_record(&mut record)
                .map_err(|error| DataError::malformed(&self.path, error.to_string(), hint()))?;
        }
        rows(&chunk)
    }
}
