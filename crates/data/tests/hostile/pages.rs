//! Headers of pages that declare more than the pages have.

use crate::{
    parquet_files::{expand_last_page, write_integers},
    support::{alone, read, refused, within_memory},
};
use isochrone_data::{formats::ReadOptions, tables::NumberTable};

#[test]
fn a_page_of_a_gibibyte_in_a_small_file_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write_integers(&path, 100, &[("episode", |row| row / 50), ("obs_x", |row| row)]);
    read(&path, &ReadOptions::default()).unwrap();
    expand_last_page(&path);
    for error in [
        within_memory("dataset", || refused(read(&path, &ReadOptions::default()))),
        within_memory("table", || refused(NumberTable::read(&path))),
    ] {
        assert!(error.contains("column 'obs_x': it declares more than 4096 times its size"), "{error}");
    }
}
