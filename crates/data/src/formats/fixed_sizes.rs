//! The memory that rows take however few bytes a file has for them: a missing list of a fixed size
//! is filled in.

use arrow_schema::{DataType, Field};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

/// The maximum size of a value of a fixed size.
const MAX_VALUE_BYTES: u64 = 16 << 20;
/// The maximum size of the values of fixed sizes that are read at a time, unless a row has more.
const MAX_BATCH_BYTES: u64 = 64 << 20;

/// Returns the number of bytes that a row of a column takes at least; 0 if it has no fixed size.
fn bytes_per_row(kind: &DataType) -> u64 {
    match kind {
        DataType::FixedSizeList(item, width) => size(*width).saturating_mul(bytes_per_item(item)),
        DataType::FixedSizeBinary(width) => size(*width),
        DataType::Struct(fields) => {
            fields.iter().map(|field| bytes_per_row(field.data_type())).fold(0, u64::saturating_add)
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            bytes_per_row(item.data_type())
        }
        _ => 0,
    }
}

fn bytes_per_item(item: &Field) -> u64 {
    let kind = item.data_type();
    bytes_per_row(kind).max(kind.primitive_width().map_or(4, |bytes| bytes as u64))
}

/// A size that is not possible is refused like one that is too large.
fn size(width: i32) -> u64 {
    u64::try_from(width).unwrap_or(u64::MAX)
}

/// Rejects columns whose values of a fixed size take more than `limit` bytes.
pub(super) fn check(metadata: &ArrowReaderMetadata, limit: u64) -> Result<(), String> {
    let parquet = metadata.metadata();
    let rows = u64::try_from(parquet.file_metadata().num_rows()).unwrap_or(u64::MAX);
    let schema = parquet.file_metadata().schema_descr();
    for (at, field) in metadata.schema().fields().iter().enumerate() {
        let bytes = bytes_per_row(field.data_type());
        if bytes == 0 {
            continue;
        }
        // Lists of any length have more values than rows.
        let leaves = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == at);
        let count = |leaf: usize| {
            let groups = parquet.row_groups().iter();
            groups.map(|group| group.column(leaf).num_values().max(0) as u64).fold(0, u64::saturating_add)
        };
        let values = match has_lists(field.data_type()) {
            true => leaves.map(count).max().unwrap_or(0).max(rows),
            false => rows,
        };
        if bytes > MAX_VALUE_BYTES || values.saturating_mul(bytes) > limit {
            let name = field.name();
            return Err(format!(
                "column '{name}' has {values} values of {bytes} bytes, more than it can hold"
            ));
        }
    }
    Ok(())
}

fn has_lists(kind: &DataType) -> bool {
    match kind {
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(..) => true,
        DataType::FixedSizeList(item, _) => has_lists(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_lists(field.data_type())),
        _ => false,
    }
}

/// Returns the number of rows of the chosen columns to read at a time, up to `batch_rows`.
pub(super) fn batch_rows(metadata: &ArrowReaderMetadata, chosen: &[usize], batch_rows: usize) -> usize {
    let fields = metadata.schema().fields();
    let bytes = chosen.iter().map(|&at| bytes_per_row(fields[at].data_type())).fold(0, u64::saturating_add);
    let most = MAX_BATCH_BYTES.checked_div(bytes).unwrap_or(u64::MAX);
    batch_rows.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
}
