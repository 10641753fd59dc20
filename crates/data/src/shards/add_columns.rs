//! Additional columns for every row of a dataset.

use super::{
    Shards, StateColumns, Unit,
    last_states::LastStates,
    rows::ShardReader,
    unit_file::{self, Keys, UnitFile},
};
use crate::DataError;
use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The keys in the metadata of the files that are written.
const COMPUTED: &str = "isochrone:computed";
const COLUMNS: &str = "isochrone:columns";
const SOURCE: &str = "isochrone:source";
/// The version of what is written; a change increments it.
const FORMAT: u32 = 1;
/// Marks a source of which the end of the dataset was read.
const END: &str = "end of the dataset";

/// The goal of each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goals {
    /// The data have none: all rows have the same.
    Fixed,
    /// The columns of a goal, in this order.
    Columns(Vec<String>),
    /// The last state of the row's episode.
    LastState,
}

/// The columns of the data that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// All columns.
    All,
    /// Only the columns with these names, in the order of the file.
    Named(Vec<String>),
}

/// Computes float32 columns from states and goals, and writes them beside columns of the data: one
/// file for every unit, with the same rows in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct AddColumns {
    /// The columns that hold states.
    pub states: StateColumns,
    /// The goal of each row.
    pub goals: Goals,
    /// The columns of the data that are kept.
    pub keep: Keep,
    /// The names of the new columns.
    pub names: Vec<String>,
    /// Identifies what computes the new columns: model, goal, units. It is part of every file, and
    /// a file with another key is not continued.
    pub computed: String,
}

/// Whether a unit was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It was computed and written.
    New,
    /// It was complete already.
    Skipped,
}

/// Computes the new columns of rows: receives states and goals, `[n, width]` both, and returns `n`
/// values for each column. Goals are empty if they are [`Goals::Fixed`]. All values are finite.
pub type Compute<'a> = &'a mut dyn FnMut(&[f32], &[f32]) -> Vec<Vec<f32>>;

impl AddColumns {
    /// Prepares a folder for these units: creates folders, and removes the temporary files that
    /// killed processes left.
    ///
    /// # Errors
    /// If the folder cannot be written, is part of the dataset, or two shards have the same output.
    pub fn prepare(&self, shards: &Shards, units: &[Unit], folder: &Path) -> Result<(), DataError> {
        std::fs::create_dir_all(folder).map_err(DataError::write(folder))?;
        let canonical = |path: &Path| path.canonicalize().map_err(DataError::read(path));
        let (output, dataset) = (canonical(folder)?, shards.dataset());
        let mut is_input = dataset.is_dir() && output.starts_with(canonical(dataset)?);
        for shard in shards.shards() {
            is_input |= canonical(&shard.path)?.starts_with(&output);
        }
        if is_input {
            let hint = "choose an output folder outside of the dataset";
            return Err(DataError::malformed(folder, "the output would become part of the dataset", hint));
        }
        let paths: Vec<PathBuf> = units.iter().map(|unit| folder.join(&unit.output)).collect();
        let mut sorted: Vec<&PathBuf> = paths.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let hint = "rename one of them";
            return Err(DataError::malformed(pair[0], "it is the output of two shards", hint));
        }
        for path in &paths {
            let parent = crate::atomic::folder_of(path);
            std::fs::create_dir_all(parent).map_err(DataError::write(parent))?;
        }
        unit_file::remove_unfinished(&paths)
    }

    /// Writes the file of a unit, unless it is complete already.
    ///
    /// # Errors
    /// If the unit cannot be read, its file cannot be written, or there is a file that was computed
    /// from something else.
    pub fn write(
        &self,
        shards: &Shards,
        unit: &Unit,
        folder: &Path,
        compute: Compute<'_>,
    ) -> Result<Written, DataError> {
        let path = folder.join(&unit.output);
        if self.is_complete(shards, unit, &path)? {
            return Ok(Written::Skipped);
        }
        match self.write_new(shards, unit, &path, compute) {
            Ok(()) => Ok(Written::New),
            // Another process that was given the same unit may have been faster.
            Err(error) => match self.is_complete(shards, unit, &path) {
                Ok(true) => Ok(Written::Skipped),
                _ => Err(error),
            },
        }
    }

    fn write_new(
        &self,
        shards: &Shards,
        unit: &Unit,
        path: &Path,
        compute: Compute<'_>,
    ) -> Result<(), DataError> {
        let reader = ShardReader::open(&shards.shards()[unit.shard])?;
        let (observations, width) = (reader.observations(&self.states)?, self.states.width);
        let goal_columns = match &self.goals {
            Goals::Columns(names) => {
                let found: Vec<usize> =
                    names.iter().map(|name| reader.names().named(name)).collect::<Result<_, _>>()?;
                reader.check_vector("goals", &found, width)?;
                found
            }
            Goals::Fixed | Goals::LastState => Vec::new(),
        };
        let last_states = match self.goals {
            Goals::LastState => Some(LastStates::read(shards, &self.states, unit)?),
            _ => None,
        };
        let kept = self.kept(&reader)?;
        let schema = self.schema(&reader, &kept);
        let shards_read = last_states.as_ref().map_or(unit.shard + 1, |last| last.shards_read);
        let keys = self.keys(shards, unit, shards_read);
        let mut file = UnitFile::create(path, Arc::clone(&schema), &keys, &self.names)?;
        let chosen = reader.chosen(&observations, goal_columns.iter().chain(&kept).copied());
        let mut batches = reader.batches(unit.groups.clone(), &chosen)?;
        let mut first = 0;
        while let Some(batch) = reader.next_batch(&mut batches)? {
            let n = batch.num_rows();
            let states = reader.vectors(&batch, &chosen, &observations)?;
            let goals = match &last_states {
                Some(last) => last.of_rows(first, n, width),
                None => reader.vectors(&batch, &chosen, &goal_columns)?,
            };
            let new = complete_rows(&states, &goals, width, n, self.names.len(), compute);
            let place = |column: &usize| chosen.binary_search(column).expect("kept columns are chosen");
            let mut columns: Vec<ArrayRef> =
                kept.iter().map(|column| Arc::clone(batch.column(place(column)))).collect();
            columns.extend(new);
            let batch =
                RecordBatch::try_new(Arc::clone(&schema), columns).map_err(DataError::refused(path))?;
            file.write(&batch)?;
            first += n as u64;
        }
        file.finish()
    }

    /// Returns the columns that are kept, in the order of the file.
    fn kept(&self, reader: &ShardReader) -> Result<Vec<usize>, DataError> {
        let columns = &reader.table().columns;
        let kept = match &self.keep {
            Keep::All => (0..columns.len()).collect(),
            Keep::Named(names) => {
                let named = names.iter().map(|name| reader.names().named(name));
                reader.chosen(&[], named.collect::<Result<Vec<usize>, _>>()?)
            }
        };
        match kept.iter().find(|&&at| self.names.contains(&columns[at].name)) {
            Some(&at) => {
                let problem = format!("it has a column '{}' already", columns[at].name);
                let hint = "keep other columns, or remove it";
                Err(DataError::malformed(reader.path(), problem, hint))
            }
            None => Ok(kept),
        }
    }

    fn schema(&self, reader: &ShardReader, kept: &[usize]) -> SchemaRef {
        let schema = reader.table().metadata.schema();
        let kept = kept.iter().map(|&at| Arc::clone(&schema.fields()[at]));
        let new = self.names.iter().map(|name| Arc::new(Field::new(name, DataType::Float32, true)));
        Arc::new(Schema::new_with_metadata(kept.chain(new).collect::<Vec<_>>(), schema.metadata().clone()))
    }

    /// Returns what a unit is computed from, if these shards, from the first on, are read for it;
    /// one more than there are stands for the end of the dataset.
    fn keys(&self, shards: &Shards, unit: &Unit, shards_read: usize) -> Keys {
        let all = shards.shards();
        let mut source = vec![format!("row groups {}..{}", unit.groups.start, unit.groups.end)];
        source.extend(all[unit.shard..shards_read.min(all.len())].iter().map(super::Shard::identity));
        source.extend((shards_read > all.len()).then(|| END.to_owned()));
        let Self { states, goals, keep, names, .. } = self;
        let columns = format!("format {FORMAT}, {states:?}, {goals:?}, {keep:?}, {names:?}");
        Keys::from([(COMPUTED, self.computed.clone()), (COLUMNS, columns), (SOURCE, source.join("\n"))])
    }

    /// Returns whether a unit is complete.
    ///
    /// # Errors
    /// If there is a file that was computed from something else.
    fn is_complete(&self, shards: &Shards, unit: &Unit, path: &Path) -> Result<bool, DataError> {
        let Some(found) = unit_file::keys(path)? else { return Ok(false) };
        let value = |key: &str| found.get(key).map_or("", String::as_str);
        // Which shards were read to find the end of an episode is known from the file alone.
        let lines = value(SOURCE).lines().count().saturating_sub(1);
        let expected = self.keys(shards, unit, (unit.shard + lines).max(unit.shard + 1));
        for (key, expected) in &expected {
            if value(key) != expected {
                let what = differs(&found, key);
                let problem = format!("{what} (`{key}` of the file is '{}', not '{expected}')", value(key));
                let hint = "choose another output folder, or remove this one to compute everything again";
                return Err(DataError::malformed(path, problem.replace('\n', ", "), hint));
            }
        }
        Ok(true)
    }
}

fn differs(found: &BTreeMap<String, String>, key: &str) -> &'static str {
    match key {
        _ if !found.contains_key(COMPUTED) => "it was not written by this program",
        SOURCE => "the data changed since it was written",
        COMPUTED => "it was computed with another distance or goal",
        _ => "it was computed from other columns",
    }
}

/// Computes the new columns of the rows whose state and goal are finite; the values of other rows
/// are missing.
fn complete_rows(
    states: &[f32],
    goals: &[f32],
    width: usize,
    n: usize,
    n_columns: usize,
    compute: Compute<'_>,
) -> Vec<ArrayRef> {
    let is_finite = |row: &[f32]| row.iter().all(|value| value.is_finite());
    let finite = |rows: &[f32], row: usize| rows.is_empty() || is_finite(&rows[row * width..][..width]);
    let complete: Vec<usize> = (0..n).filter(|&row| finite(states, row) && finite(goals, row)).collect();
    if complete.len() == n {
        let new = compute(states, goals);
        return new.into_iter().map(|values| Arc::new(Float32Array::from(values)) as ArrayRef).collect();
    }
    let select = |rows: &[f32]| -> Vec<f32> {
        let rows = complete.iter().filter_map(|row| rows.get(row * width..(row + 1) * width));
        rows.flatten().copied().collect()
    };
    let new = match complete.is_empty() {
        true => vec![Vec::new(); n_columns],
        false => compute(&select(states), &select(goals)),
    };
    let spread = |values: Vec<f32>| {
        let mut all = vec![None; n];
        complete.iter().zip(values).for_each(|(&row, value)| all[row] = Some(value));
        Arc::new(Float32Array::from(all)) as ArrayRef
    };
    new.into_iter().map(spread).collect()
}
