//! Files made by the packages of each format (`tests/fixtures/make.py`) match their summary by
//! NumPy.

use crate::support::{assert_summary, episodes, fixture_json, fixtures, read};
use isochrone_data::{
    Bounds, Dataset, Ending,
    formats::{Ends, Extras, Format, ReadOptions},
};

fn fixture(name: &str) -> Dataset {
    read(&fixtures().join(name), &ReadOptions::default()).unwrap()
}

/// Asserts that a fixture holds the same three walks as every other.
fn assert_same_walks(data: &Dataset, what: &str) {
    let summary = fixture_json("summary.json");
    assert_summary(data, &summary, what);
    if data.spec().has_rewards {
        let found: Vec<f32> = episodes(data).into_iter().flat_map(|episode| episode.rewards).collect();
        let expected = summary["rewards"].as_array().unwrap().iter();
        assert_eq!(found, expected.map(|value| value.as_f64().unwrap() as f32).collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn ogbench() {
    let data = fixture("ogbench.npz");
    assert_same_walks(&data, "ogbench");
    assert!(data.spec().has_rewards);
    let names: Vec<_> = data.spec().extras.iter().map(|extra| (extra.name.as_str(), extra.width)).collect();
    assert_eq!(names, [("qpos", 2)], "an array without a row for every state is not a column");
    let episode = data.episode(1);
    assert_eq!(episode.extras[0][..2], episode.observations[..2]);
}

#[test]
fn d4rl() {
    for name in ["d4rl.hdf5", "d4rl-contiguous.hdf5"] {
        assert_eq!(Format::detect(&fixtures().join(name)).unwrap(), Format::D4rl);
        let data = fixture(name);
        assert_same_walks(&data, name);
        let extras: Vec<_> = data.spec().extras.iter().map(|extra| extra.name.as_str()).collect();
        assert_eq!(extras, ["goal", "qpos"]);
        assert_eq!(data.episode(0).ending, Ending::Truncated);
    }
}

#[test]
fn d4rl_can_end_at_terminals() {
    let options = ReadOptions { ends: Ends::Either, ..ReadOptions::default() };
    let data = read(&fixtures().join("d4rl.hdf5"), &options).unwrap();
    let steps: Vec<usize> = (0..data.n_episodes()).map(|episode| data.index().steps(episode)).collect();
    assert_eq!(steps, [3, 3, 4, 12], "the visit at row 3 of the first walk now ends an episode");
    assert_eq!(data.episode(0).ending, Ending::Terminated);
}

#[test]
fn minari() {
    for (name, extras) in
        [("plain-v0", vec!["speed"]), ("goal-v0", vec!["achieved_goal", "desired_goal", "speed"])]
    {
        let path = format!("minari/{name}");
        let data = fixture(&path);
        assert_same_walks(&data, name);
        assert_eq!(data.spec().extras.iter().map(|extra| extra.name.as_str()).collect::<Vec<_>>(), extras);
        let endings: Vec<Ending> = episodes(&data).iter().map(|episode| episode.ending).collect();
        assert_eq!(endings, [Ending::Terminated, Ending::Truncated, Ending::Truncated]);
        assert_eq!(data.spec().action.bounds, [Bounds { low: Some(-1.0), high: Some(1.0) }; 2]);
        // The path of the file itself works as well.
        assert_same_walks(&fixture(&format!("{path}/data/main_data.hdf5")), name);
    }
}

#[test]
fn lerobot() {
    let data = fixture("lerobot");
    assert_same_walks(&data, "lerobot");
    let spec = data.spec();
    assert_eq!(spec.frames_per_second, Some(10.0));
    assert_eq!(spec.observation.dimensions, ["x", "y", "height"]);
    assert_eq!(spec.action.dimension(1), "push_y");
    assert!(spec.has_timestamps);
    assert_eq!(
        spec.extras.iter().map(|extra| (extra.name.as_str(), extra.width)).collect::<Vec<_>>(),
        [("observation.embedding", 6)]
    );
    let times = data.episode(2).timestamps.to_vec();
    assert!(times.iter().enumerate().all(|(frame, time)| (time - frame as f64 / 10.0).abs() < 1e-6));
}

#[test]
fn an_embedding_can_be_the_observation() {
    let options = ReadOptions {
        observations: vec!["observation.embedding".into()],
        extras: Extras::Named(vec!["observation.state".into()]),
        ..ReadOptions::default()
    };
    let data = read(&fixtures().join("lerobot"), &options).unwrap();
    assert_eq!((data.spec().observation.width, data.spec().extras[0].width), (6, 3));
    let episode = data.episode(0);
    assert_eq!(episode.observations[..3], episode.extras[0][..3]);
}

#[test]
fn tables() {
    let options = ReadOptions {
        observations: ["x", "y", "height"].map(String::from).to_vec(),
        ..ReadOptions::default()
    };
    let kinds = ["snappy", "zstd", "gzip", "checksums"].map(|kind| format!("table-{kind}.parquet"));
    for name in ["table.csv"].into_iter().chain(kinds.iter().map(String::as_str)) {
        let data = read(&fixtures().join(name), &options).unwrap();
        assert_same_walks(&data, name);
        assert_eq!(data.spec().observation.dimension(2), "height");
        assert_eq!(data.spec().action.dimensions, ["action_x", "action_y"]);
        assert!(data.spec().has_timestamps && data.spec().has_rewards);
    }
}

#[test]
fn the_same_episodes_have_the_same_hash_in_every_format() {
    let hash = |name: &str, observations: &[&str]| {
        let options = ReadOptions::default().observations(observations.iter().copied());
        read(&fixtures().join(name), &options).unwrap().content_hash().to_owned()
    };
    assert_eq!(hash("table.csv", &["x", "y", "height"]), hash("table-zstd.parquet", &["x", "y", "height"]));
    assert_eq!(hash("d4rl.hdf5", &[]), hash("d4rl-contiguous.hdf5", &[]));
    // Only one of them has rewards.
    assert_eq!(hash("ogbench.npz", &[]), hash("lerobot", &[]));
}

/// A table, read with default options.
fn table(text: &str) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    read(&path, &ReadOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn long_episode_numbers_are_distinguished() {
    let text =
        "episode,obs_x\n20240101123000001,1\n20240101123000001,2\n20240101123000002,3\n20240101123000002,4\n";
    assert_eq!(table(text).unwrap().n_episodes(), 2, "as float64, the two numbers would be equal");
}

#[test]
fn missing_flags_do_not_end_an_episode() {
    let data = table("done,obs_x\n,1\n,2\n1,3\n,4\n1,5\n").unwrap();
    assert_eq!((0..2).map(|episode| data.index().steps(episode)).collect::<Vec<_>>(), [2, 1]);
    assert!(
        table("done,obs_x\n0,1\n0,2\n1,3\n0,4\n0,5\n").unwrap_err().contains("lack an end-of-episode flag")
    );
}

#[test]
fn dates_and_remarks_are_skipped() {
    let data = table("case,timestamp,obs_x,remark\na,2024-01-01,1,fine\na,2024-01-02,2,fine\n").unwrap();
    assert!(!data.spec().has_timestamps && data.spec().extras.is_empty());
}

#[test]
fn columns_with_the_same_name_are_rejected() {
    let error = table("episode,obs_x,v,v\n1,1,2,3\n1,2,3,4\n").unwrap_err();
    assert!(error.contains("two columns are called 'v'"), "{error}");
}

#[test]
fn a_flipped_bit_in_an_archive_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut source =
        zip::ZipArchive::new(std::fs::File::open(fixtures().join("ogbench.npz")).unwrap()).unwrap();
    for at in 0..source.len() {
        let mut entry = source.by_index(at).unwrap();
        zip.start_file(entry.name().unwrap().into_owned(), stored).unwrap();
        std::io::copy(&mut entry, &mut zip).unwrap();
    }
    zip.finish().unwrap();
    let intact = read(&path, &ReadOptions::default()).unwrap();
    let value = intact.episode(1).observations[4].to_le_bytes();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|window| window == value).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("array 'observations' is corrupt"), "{error}");
}

#[test]
fn an_excessive_width_is_rejected_before_memory_is_allocated() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let arrays = [("observations", "(2, 900000000000000)"), ("actions", "(2, 1)"), ("terminals", "(2,)")];
    for (name, shape) in arrays {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(header.as_bytes()).unwrap();
        zip.write_all(&[0; 8]).unwrap();
    }
    zip.finish().unwrap();
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("the width of the observation is 900000000000000"), "{error}");
}
