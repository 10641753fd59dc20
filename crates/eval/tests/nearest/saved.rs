use super::slope::{Slope, WIDTH};
use isochrone_core::LatentDistance as _;
use isochrone_data::sha256;
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

#[test]
fn edges_of_a_file_with_a_valid_checksum_are_checked() {
    let run = tempfile::tempdir().unwrap();
    let folder = run.path().join("nearest");
    let (list, shard) = (folder.join("index.json"), folder.join("shard-0001.usearch"));
    saved(&folder, "first");
    let (contents, bytes) = (fs::read_to_string(&list).unwrap(), fs::read(&shard).unwrap());
    let open_with = |changes: &[(usize, [u8; 4])]| {
        let mut changed = bytes.clone();
        for (at, number) in changes {
            changed[*at..*at + 4].copy_from_slice(number);
        }
        fs::write(&shard, &changed).unwrap();
        fs::write(&list, contents.replace(&sha256(&bytes), &sha256(&changed))).unwrap();
        open(&folder, "first")
    };
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (rows, row_bytes) = (number(0) as usize, number(4) as usize);
    let graph = 8 + rows * row_bytes + 64;
    let first_node = graph + 5 * 8 + 2 * rows;
    let (neighbors, first_neighbor) = (first_node + 10, first_node + 14);
    assert!(number(graph) as usize == rows && (1..=16).contains(&number(neighbors)), "the layout is known");
    open_with(&[]).unwrap().unwrap();
    for (at, value, problem) in [
        (4, 8, "its rows have 8 bytes"),
        (graph, 3, "it has 3 nodes and 500 rows"),
        (graph + 8, u32::MAX, "it ends within its graph"),
        (graph + 32, 500, "searches start at node 500"),
        (first_node, 500, "node 0 is row 500 of 500"),
        (neighbors, 17, "node 0 has 17 neighbors of at most 16"),
        (first_neighbor, 500, "node 0 has the neighbor 500 on level 0"),
        (first_neighbor, u32::MAX, "node 0 has the neighbor 4294967295 on level 0"),
    ] {
        let error = open_with(&[(at, u32::to_le_bytes(value))]).err().unwrap().to_string();
        assert!(error.contains("shard-0001.usearch") && error.contains(problem), "{problem}: {error}");
    }
    // What is not refused is searched within its bounds.
    for at in (8 + rows * row_bytes..bytes.len() - 4).step_by(331) {
        if let Ok(Some(index)) = open_with(&[(at, [0xff; 4])]) {
            found(&index);
        }
    }
}

#[test]
fn shards_before_the_last_have_all_their_rows() {
    let run = tempfile::tempdir().unwrap();
    let folder = run.path().join("nearest");
    let list = folder.join("index.json");
    saved(&folder, "first");
    let mut contents: serde_json::Value = serde_json::from_slice(&fs::read(&list).unwrap()).unwrap();
    // The short shard comes first, under checksums that fit.
    contents["shards"].as_array_mut().unwrap().reverse();
    fs::write(&list, contents.to_string()).unwrap();
    let shard = |number: u32| folder.join(format!("shard-000{number}.usearch"));
    for (from, to) in [(0, 2), (1, 0), (2, 1)] {
        fs::rename(shard(from), shard(to)).unwrap();
    }
    let error = open(&folder, "first").err().unwrap().to_string();
    assert!(error.contains("shard-0000.usearch: it has 500 rows in shards of 1500"), "{error}");
}

#[test]
fn files_of_others_in_the_folder_of_an_index_are_kept() {
    let run = tempfile::tempdir().unwrap();
    let folder = run.path().join("nearest");
    let index = saved(&folder, "first");
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    let error = index.save(&folder, "second").unwrap_err().to_string();
    assert!(error.contains("notes.txt is not a part of an index"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("notes.txt")).unwrap(), "mine");
}
