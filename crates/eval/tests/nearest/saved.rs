use super::slope::{Slope, WIDTH};
use isochrone_core::LatentDistance as _;
use isochrone_eval::nearest::{Direction, IndexConfig, NearestError, NearestIndex, Neighbor, SliceStates};
use std::{fs, path::Path};

const CONFIG: IndexConfig =
    IndexConfig { shard_rows: 1500, connectivity: 8, expansion_add: 32, expansion_search: 32 };

fn saved(folder: &Path, fingerprint: &str) -> NearestIndex {
    let (slope, rows) = (Slope::new(1), Slope::positions(2000, 2));
    let states = SliceStates { values: &rows, width: WIDTH };
    let index = NearestIndex::build(&slope, &states, CONFIG, &|_| ()).unwrap();
    index.save(folder, fingerprint).unwrap();
    index
}

fn open(folder: &Path, fingerprint: &str) -> Result<Option<NearestIndex>, NearestError> {
    NearestIndex::open(folder, fingerprint, Slope::new(1).metric(), CONFIG)
}

fn found(index: &NearestIndex) -> Vec<Vec<Neighbor>> {
    let query = Slope::new(1).embed(&[0.4; WIDTH]);
    Direction::ALL.map(|direction| index.nearest(&query, direction, 20)).to_vec()
}

#[test]
fn a_saved_index_gives_the_same_results() {
    let run = tempfile::tempdir().unwrap();
    let folder = run.path().join("nearest");
    let built = saved(&folder, "first");
    let opened = open(&folder, "first").unwrap().unwrap();
    assert_eq!(opened.n_rows(), 2000);
    assert_eq!(found(&opened), found(&built));
    // Nothing else is left in the run.
    assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1);
}

#[test]
fn saved_files_are_the_same_every_time() {
    let run = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| {
        saved(&run.path().join(name), "first");
        fs::read(run.path().join(name).join("index.json")).unwrap()
    });
    // The list contains the checksums of all files.
    assert!(a == b);
}

#[test]
fn an_index_of_something_else_is_not_used_and_can_be_replaced() {
    let run = tempfile::tempdir().unwrap();
    let folder = run.path().join("nearest");
    assert!(open(&folder, "first").unwrap().is_none());
    saved(&folder, "first");
    assert!(open(&folder, "second").unwrap().is_none());
    let config = IndexConfig { connectivity: 9, ..CONFIG };
    assert!(NearestIndex::open(&folder, "first", Slope::new(1).metric(), config).unwrap().is_none());
    saved(&folder, "second");
    assert!(open(&folder, "first").unwrap().is_none());
    assert!(open(&folder, "second").unwrap().is_some());
}

#[test]
fn corrupt_files_are_errors_that_name_them() {
    let run = tempfile::tempdir().unwrap();
    let folder = run.path().join("nearest");
    let shard = folder.join("shard-0001.usearch");
    saved(&folder, "first");
    let bytes = fs::read(&shard).unwrap();
    for position in [0, 8, bytes.len() / 2, bytes.len() - 1] {
        let mut corrupt = bytes.clone();
        corrupt[position] ^= 0x40;
        fs::write(&shard, &corrupt).unwrap();
        let error = open(&folder, "first").err().unwrap().to_string();
        assert!(error.contains("shard-0001.usearch: its checksum differs"), "{error}");
    }
    for length in [0, 1, 100, bytes.len() - 1] {
        fs::write(&shard, &bytes[..length]).unwrap();
        assert!(matches!(open(&folder, "first"), Err(NearestError::Corrupt { .. })));
    }
    fs::remove_file(&shard).unwrap();
    assert!(matches!(open(&folder, "first"), Err(NearestError::Corrupt { .. })));
    fs::write(folder.join("index.json"), b"{").unwrap();
    let error = open(&folder, "first").err().unwrap().to_string();
    assert!(error.contains("index.json"), "{error}");
}
