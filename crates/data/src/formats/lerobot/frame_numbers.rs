//! The numbers of frames, as integers.

use super::{
    super::{cells, parquet::ParquetTable},
    files::{HINT, parquet_files},
};
use crate::DataError;
use arrow_array::{ArrayRef, cast::AsArray as _, types::Int64Type};
use arrow_schema::DataType;
use std::path::Path;

const BATCH_ROWS: usize = 1 << 14;
const COLUMNS: [&str; 3] = ["index", "episode_index", "frame_index"];

/// The numbers of every frame of a LeRobot dataset, in the order in which its states are read.
/// Extra columns are float32, which is not exact above 2^24.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameNumbers {
    /// The number of the frame in the dataset.
    pub index: Vec<i64>,
    /// The number of its episode.
    pub episode_index: Vec<i64>,
    /// The number of the frame in its episode.
    pub frame_index: Vec<i64>,
}

impl FrameNumbers {
    /// Reads the numbers of a dataset.
    ///
    /// # Errors
    /// If the dataset cannot be read, or one of the columns is missing or holds no integers.
    pub fn read(dataset: &Path) -> Result<Self, DataError> {
        let mut numbers = Self::default();
        for file in parquet_files(&dataset.join("data"))? {
            numbers.append(&file)?;
        }
        Ok(numbers)
    }

    /// Returns the first frame of each episode, as places in the lists.
    pub(crate) fn first_frames(&self) -> Vec<usize> {
        let episode = &self.episode_index;
        (0..episode.len()).filter(|&at| at == 0 || episode[at] != episode[at - 1]).collect()
    }

    fn append(&mut self, path: &Path) -> Result<(), DataError> {
        let table =
            ParquetTable { path: path.into(), metadata: ParquetTable::load(path)?, columns: Vec::new() };
        for (name, into) in
            COLUMNS.into_iter().zip([&mut self.index, &mut self.episode_index, &mut self.frame_index])
        {
            let fields = table.metadata.schema().fields();
            let at = fields.iter().position(|field| field.name() == name);
            let at = at.ok_or_else(|| DataError::malformed(path, format!("no column '{name}'"), HINT))?;
            let groups = 0..table.metadata.metadata().num_row_groups();
            let mut batches = table.batches_of(groups, &[at], BATCH_ROWS)?;
            while let Some(batch) = table.next_batch(&mut batches)? {
                let integers = table.run(|| integers(batch.column(0)));
                into.extend(integers.map_err(|_| {
                    DataError::malformed(path, format!("column '{name}' holds no integers"), HINT)
                })?);
            }
        }
        Ok(())
    }
}

fn integers(array: &ArrayRef) -> Result<Vec<i64>, String> {
    if array.data_type() == &DataType::Int64 && array.null_count() == 0 {
        return Ok(array.as_primitive::<Int64Type>().values().to_vec());
    }
    let parse = |text: String| text.parse().map_err(|_| format!("'{text}'"));
    cells::strings(array)?.into_iter().map(parse).collect()
}
