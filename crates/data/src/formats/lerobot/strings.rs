//! Columns of a Parquet file with all their digits: strings, and integers as strings.

use super::{
    super::{cells, parquet::ParquetTable},
    listing,
};
use crate::DataError;
use arrow_array::{Array as _, ArrayRef, cast::AsArray};
use arrow_schema::DataType;
use std::path::Path;

/// Rows are converted to strings this many at a time.
const BATCH_ROWS: usize = 1024;

/// A Parquet file whose values are read as strings.
pub(super) struct TextTable {
    table: ParquetTable,
}

impl TextTable {
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let (metadata, columns) = (ParquetTable::load(path)?, Vec::new());
        Ok(Self { table: ParquetTable { path: path.into(), metadata, columns } })
    }

    /// Returns the number of a column, if the file has it.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.table.metadata.schema().fields().iter().position(|field| field.name() == name)
    }

    /// Opens a file that lists something, such as episodes or tasks, of which all is read into
    /// memory.
    pub fn open_listing(path: &Path) -> Result<Self, DataError> {
        let table = Self::open(path)?;
        listing::check(path, &table.table.metadata)?;
        Ok(table)
    }

    /// Returns all rows of some columns.
    pub fn read<const N: usize>(&self, columns: [usize; N]) -> Result<[Vec<String>; N], DataError> {
        let mut found = [const { Vec::new() }; N];
        self.visit(columns, |at, array| {
            found[at].extend(cells::strings(array)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns all rows of some columns of lists; `None` if a column holds something else.
    pub fn read_lists<const N: usize>(
        &self,
        columns: [usize; N],
    ) -> Result<Option<[Vec<Vec<String>>; N]>, DataError> {
        let fields = self.table.metadata.schema().fields();
        if !columns.iter().all(|&at| is_list(fields[at].data_type())) {
            return Ok(None);
        }
        let mut found = [const { Vec::new() }; N];
        self.visit(columns, |at, array| {
            for row in 0..array.len() {
                let list = match array.data_type() {
                    _ if array.is_null(row) => None,
                    DataType::LargeList(_) => Some(array.as_list::<i64>().value(row)),
                    _ => Some(array.as_list::<i32>().value(row)),
                };
                found[at].push(list.map_or(Ok(Vec::new()), |list| cells::strings(&list))?);
            }
            Ok(())
        })?;
        Ok(Some(found))
    }

    /// Passes the entries of a column of lists of structures, with one list per row, to `each`,
    /// where the identifier in another column changes: the identifier and the named fields of the
    /// list as strings, or `None` for a missing list. Does nothing if the column has another type.
    pub fn visit_entries<const N: usize>(
        &self,
        [column, identifier]: [usize; 2],
        fields: [&str; N],
        mut each: impl FnMut(String, Option<[Vec<String>; N]>),
    ) -> Result<(), DataError> {
        let is_entry = |kind: &DataType| matches!(kind, DataType::List(item) if matches!(item.data_type(), DataType::Struct(_)));
        if !is_entry(self.table.metadata.schema().field(column).data_type()) {
            return Ok(());
        }
        self.visit_batches([column, identifier], |[array, identifiers]| {
            // Nothing is held for the other rows of an episode.
            for row in cells::changes(identifiers)? {
                let identifier = cells::strings(&identifiers.slice(row, 1))?.pop().unwrap_or_default();
                let lists = array.as_list::<i32>();
                let list = lists.is_valid(row).then(|| lists.value(row));
                let entries = list.as_ref().map(AsArray::as_struct);
                let field = |name: &str| cells::strings(entries?.column_by_name(name)?).ok();
                let found = fields.map(field);
                let is_complete = found.iter().all(Option::is_some);
                each(identifier, is_complete.then(|| found.map(Option::unwrap_or_default)));
            }
            Ok(())
        })
    }

    /// Passes the arrays of some columns to `each`, with the places of the columns in the list.
    fn visit<const N: usize>(
        &self,
        columns: [usize; N],
        mut each: impl FnMut(usize, &ArrayRef) -> Result<(), String>,
    ) -> Result<(), DataError> {
        let mut each = |(at, array): (usize, &ArrayRef)| each(at, array);
        self.visit_batches(columns, |arrays| arrays.into_iter().enumerate().try_for_each(&mut each))
    }

    /// Passes the arrays of some columns to `each`, some rows at a time.
    fn visit_batches<const N: usize>(
        &self,
        columns: [usize; N],
        mut each: impl FnMut([&ArrayRef; N]) -> Result<(), String>,
    ) -> Result<(), DataError> {
        let groups = 0..self.table.metadata.metadata().num_row_groups();
        let mut batches = self.table.batches_of(groups, &columns, BATCH_ROWS)?;
        // A batch has the chosen columns in the order of the file.
        let place = |column: usize| columns.iter().filter(|&&other| other < column).count();
        while let Some(batch) = self.table.next_batch(&mut batches)? {
            self.table.run(|| each(columns.map(|column| batch.column(place(column)))))?;
        }
        Ok(())
    }
}

fn is_list(kind: &DataType) -> bool {
    match kind {
        DataType::List(item) | DataType::LargeList(item) => {
            let kind = item.data_type();
            kind.is_integer() || matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        _ => false,
    }
}
