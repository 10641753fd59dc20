//! Files with embeddings: a row of numbers for each frame.

use super::{
    rows::{HINT, Visit, check_width},
    safetensors,
};
use crate::{
    DataError,
    formats::{cells, columns::TableColumn, parquet::ParquetTable},
    npy::Rows,
    regular_file,
};
use std::{io::BufReader, path::Path};

const BATCH_ROWS: usize = 1024;
/// Passes all rows of a file to `visit`.
pub(super) fn read(path: &Path, visit: Visit<'_>) -> Result<(), DataError> {
    let fail = |problem: String| DataError::malformed(path, problem, HINT);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => {
            let file = regular_file::open(path).map_err(DataError::read(path))?;
            let mut rows = Rows::open(BufReader::new(file)).map_err(fail)?;
            check_width(path, rows.width)?;
            let mut row = Vec::with_capacity(rows.width);
            for index in 0..rows.rows {
                rows.next_into(&mut row).map_err(DataError::read(path))?;
                visit(index as i64, &row)?;
            }
            Ok(())
        }
        Some("parquet") => parquet(path, visit),
        Some("safetensors") => safetensors::read(path, visit),
        _ => Err(fail("its file name does not show its format".into())),
    }
}

fn parquet(path: &Path, visit: Visit<'_>) -> Result<(), DataError> {
    let fail = |problem: String| DataError::malformed(path, problem, HINT);
    let table = ParquetTable::open(path)?;
    let index = table.columns.iter().position(|column| column.name == "index");
    let is_list = |column: &&TableColumn| column.is_number() && column.width > 1;
    let lists: Vec<&TableColumn> = table.columns.iter().filter(is_list).collect();
    let (Some(index), [list]) = (index, &lists[..]) else {
        return Err(fail(format!(
            "{} columns of lists, and {} column 'index'",
            lists.len(),
            usize::from(index.is_some())
        )));
    };
    check_width(path, list.width)?;
    let at = table.columns.iter().position(|column| column == *list).expect("one of the columns");
    let groups = 0..table.metadata.metadata().num_row_groups();
    let mut batches = table.batches_of(groups, &[index, at], BATCH_ROWS)?;
    while let Some(batch) = table.next_batch(&mut batches)? {
        // A batch has the columns in the order of the file.
        let (indices, values) = if index < at { (0, 1) } else { (1, 0) };
        let indices = table.run(|| cells::strings(batch.column(indices)))?;
        let values = [(*list, batch.column(values))];
        let rows = table.run(|| cells::rows_f32(batch.num_rows(), values.into_iter()))?;
        for (index, row) in indices.iter().zip(rows.chunks_exact(list.width)) {
            let index = index.parse().map_err(|_| fail(format!("index '{index}' is no integer")))?;
            visit(index, row)?;
        }
    }
    Ok(())
}
