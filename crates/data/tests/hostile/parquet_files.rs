//! Parquet files that the tests write, as small as their numbers allow.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding, ZstdLevel},
    file::{
        properties::{EnabledStatistics, WriterProperties},
        reader::{FileReader as _, SerializedFileReader},
    },
};
use std::{path::Path, sync::Arc};

/// The name of a column and its number in each row.
type Column<'a> = (&'a str, fn(i64) -> i64);

/// Writes columns of integers. Numbers with a fixed distance take nearly no room.
pub fn write_integers(path: &Path, rows: i64, columns: &[Column<'_>]) {
    const CHUNK_ROWS: i64 = 1 << 20;
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(9).unwrap()))
        .set_data_page_size_limit(64 << 20)
        .set_data_page_row_count_limit(1 << 30)
        .set_max_row_group_row_count(Some(1 << 30))
        .build();
    let batch = |first: i64| {
        let last = rows.min(first + CHUNK_ROWS);
        let column = |value: fn(i64) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values((first..last).map(value)))
        };
        RecordBatch::try_from_iter(columns.iter().map(|(name, value)| (*name, column(*value)))).unwrap()
    };
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch(0).schema(), Some(properties)).unwrap();
    for first in (0..rows).step_by(CHUNK_ROWS as usize) {
        writer.write(&batch(first)).unwrap();
    }
    writer.close().unwrap();
}

/// Appends bytes before the footer, so that the file seems large enough for what it declares.
pub fn pad(path: &Path, bytes: usize) {
    let file = std::fs::read(path).unwrap();
    let end = file.len() - 8;
    let footer = end - u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
    let padded = [&file[..footer], &vec![0; bytes], &file[footer..]].concat();
    std::fs::write(path, padded).unwrap();
}

/// Makes the header of the last page declare that the page is expanded to a gibibyte.
pub fn expand_last_page(path: &Path) {
    const GIBIBYTE: [u8; 5] = [0x80, 0x80, 0x80, 0x80, 0x08];
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let start = reader.metadata().row_groups().last().unwrap().columns().last().unwrap().byte_range().0;
    let bytes = std::fs::read(path).unwrap();
    // Field 1 is the type of the page; field 2 the number, of which the last byte is below 128.
    let number = start as usize + 3;
    assert_eq!(bytes[number - 1], 0x15);
    let end = number + bytes[number..].iter().position(|byte| *byte < 128).unwrap() + 1;
    std::fs::write(path, [&bytes[..number], &GIBIBYTE, &bytes[end..]].concat()).unwrap();
}
