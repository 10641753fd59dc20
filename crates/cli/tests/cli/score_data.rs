//! Parquet datasets for the tests of `isochrone score` and `isochrone graph`.

use crate::run::{isochrone_in, workspace};
use isochrone::data::{
    shards::{Part, RowReader, Shards, StateColumns},
    tables::{Column, write_parquet},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Writes the walks of the examples in shards of `shard_rows` rows, which end within episodes, with
/// observations in the columns `x` and `y` after a prefix. Returns the number of shards.
pub fn write_shards(folder: &Path, prefix: &str, shard_rows: usize) -> usize {
    let table = std::fs::read_to_string(workspace().join("examples/walks.csv")).unwrap();
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let columns = [at("episode"), at("x"), at("y")];
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    std::fs::create_dir_all(folder).unwrap();
    let shards = rows.chunks(shard_rows).enumerate();
    for (shard, rows) in shards.clone() {
        let numbers =
            |at: usize| Column::Numbers(rows.iter().map(|row| row[at].parse::<f64>().unwrap()).collect());
        let episodes = Column::Texts(rows.iter().map(|row| row[columns[0]]).collect());
        let (x, y) = (format!("{prefix}x"), format!("{prefix}y"));
        let table =
            [("episode", episodes), (x.as_str(), numbers(columns[1])), (y.as_str(), numbers(columns[2]))];
        write_parquet(&folder.join(format!("{shard:03}.parquet")), &table).unwrap();
    }
    shards.len()
}

/// Trains a short run on the walks of the examples.
pub fn train(folder: &Path) {
    std::fs::copy(workspace().join("examples/walks.csv"), folder.join("walks.csv")).unwrap();
    let arguments = "train --data walks.csv --observations x,y --size small --threads 1 --steps 20 batch_size=32 --run runs/a";
    let trained = isochrone_in(folder, arguments);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
}

/// Returns all files of a folder by name.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().into(), std::fs::read(&path).unwrap())).collect()
}

/// Returns a column of all shards of a folder, which also have the column of episodes.
pub fn column(folder: &Path, name: &str) -> Vec<f32> {
    let shards = Shards::open(folder).unwrap();
    let columns = StateColumns { observations: vec![name.into()], episode: Some("episode".into()), width: 1 };
    let mut reader = RowReader::new(&shards, &columns, &shards.units(Part::ALL)[0]);
    let mut values = Vec::new();
    while let Some(rows) = reader.next().unwrap() {
        values.extend(rows.states);
    }
    values
}
