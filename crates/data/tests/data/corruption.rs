//! A file that differs from what was written is rejected, wherever the difference is.

use crate::support::{gather, random_walks, write};
use isochrone_data::{
    DataError, Dataset, DatasetBuilder, DefectKind, Ending, Feature, Spec,
    formats::{Format, ReadOptions, Writer},
    tables::NumberTable,
    validate::{Rule, validate},
};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use std::path::{Path, PathBuf};

/// Writes a file with every kind of column.
fn intact_file(folder: &Path) -> (PathBuf, Vec<u8>) {
    let mut spec = Spec::new(3, 2);
    (spec.has_rewards, spec.has_timestamps) = (true, true);
    spec.extras = vec![Feature::new("speed", 1), Feature::new("joints", 2)];
    spec.frames_per_second = Some(10.0);
    let mut walks = random_walks(&spec, [12, 1, 7], 3);
    walks[1].ending = Ending::Terminated;
    let path = folder.join("x.arrow");
    write(&gather(&spec, &walks), &path);
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn with_flipped_bit(intact: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = intact.to_vec();
    bytes[at] ^= 1 << (at % 8);
    bytes
}

#[test]
fn no_file_with_a_flipped_bit_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (path, intact) = intact_file(folder.path());
    assert!(Dataset::load(&path, ReadOptions::default()).is_ok());
    let mut corrupt = 0;
    for at in (0..intact.len()).step_by(5) {
        std::fs::write(&path, with_flipped_bit(&intact, at)).unwrap();
        match Dataset::load(&path, ReadOptions::default()) {
            Ok(_) => panic!("byte {at} of {} was changed, and the file was loaded", intact.len()),
            Err(DataError::Defect(defect)) if defect.kind == DefectKind::Corrupt => corrupt += 1,
            // The structure is invalid, too.
            Err(_) => {}
        }
    }
    assert!(10 * corrupt > intact.len(), "{corrupt} changes of {} leave the structure valid", intact.len());
}

#[test]
fn validation_reports_that_a_file_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let (path, intact) = intact_file(folder.path());
    for at in (0..intact.len()).step_by(13) {
        std::fs::write(&path, with_flipped_bit(&intact, at)).unwrap();
        match validate(&path, Format::Arrow, &ReadOptions::default()) {
            Ok(found) => assert_eq!(found.count_of(Rule::ContentHash), 1, "byte {at}"),
            Err(error) => assert!(error.to_string().contains("x.arrow: "), "byte {at}: {error}"),
        }
    }
}

#[test]
fn a_file_of_an_earlier_version_is_rejected_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut bytes) = intact_file(folder.path());
    let key = b"isochrone.checksum";
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    bytes[at] = b'_';
    std::fs::write(&path, bytes).unwrap();
    let message = Dataset::load(&path, ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("earlier version") && !message.contains('\n'), "{message}");
}

/// What runs learn from, bit for bit: observations and actions, episode by episode.
fn learned_from(data: &Dataset) -> Vec<String> {
    let episodes = (0..data.n_episodes()).map(|episode| data.episode(episode));
    episodes.map(|one| format!("{:?} {:?}", one.observations, one.actions)).collect()
}

/// Files of other programs may have no checksum. A flipped bit that changes what is read also
/// changes the content hash, which runs record and compare.
#[test]
fn no_flipped_bit_changes_data_under_the_same_hash() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let flips: usize = std::env::var("ISOCHRONE_FLIPS").map_or(60, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (arrow, _) = intact_file(folder.path());
    let columns = ReadOptions { observations: vec!["x".into(), "y".into()], ..ReadOptions::default() };
    let shards = folder.path().join("shards");
    let mut writer = Writer::shards(&shards, 8).unwrap();
    Dataset::load(&arrow, ReadOptions::default()).unwrap().send(&mut writer).unwrap();
    writer.finish().unwrap();
    let files = [
        (arrow, ReadOptions::default()),
        (fixtures.join("ogbench.npz"), ReadOptions::default()),
        (fixtures.join("d4rl.hdf5"), ReadOptions::default()),
        (fixtures.join("d4rl-contiguous.hdf5"), ReadOptions::default()),
        (fixtures.join("table.csv"), columns.clone()),
        (fixtures.join("table-snappy.parquet"), columns.clone()),
        (fixtures.join("table-zstd.parquet"), columns.clone()),
        (fixtures.join("table-checksums.parquet"), columns),
        (fixtures.join("minari/plain-v0"), ReadOptions::default()),
        (fixtures.join("lerobot"), ReadOptions::default()),
        (shards, ReadOptions::default()),
    ];
    for (dataset, options) in files {
        let name = dataset.file_name().unwrap().to_str().unwrap();
        let path = folder.path().join(format!("flipped-{name}"));
        copy(&dataset, &path);
        let original =
            Dataset::load(&path, options.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (hash, contents) = (original.content_hash().to_owned(), learned_from(&original));
        drop(original);
        for file in files_of(&path) {
            let within = file.strip_prefix(&path).unwrap();
            let name = Path::new(name).join(within).to_string_lossy().trim_end_matches('/').to_owned();
            let intact = std::fs::read(&file).unwrap();
            let (mut refused, mut noticed, mut equal) = (0, 0, 0);
            let mut random = isochrone_core::rng::stream(9, 0);
            for _ in 0..flips {
                let bit = isochrone_core::rng::below(&mut random, 8 * intact.len());
                let mut bytes = intact.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                std::fs::write(&file, bytes).unwrap();
                match Dataset::load(&path, options.clone()) {
                    Err(_) => refused += 1,
                    Ok(data) if data.content_hash() != hash => noticed += 1,
                    Ok(data) => {
                        assert!(learned_from(&data) == contents, "{name}: bit {bit} is used silently");
                        equal += 1;
                    }
                }
            }
            std::fs::write(&file, intact).unwrap();
            println!(
                "{name}: of {flips} flipped bits {refused} were refused, {noticed} changed the hash, {equal} changed nothing"
            );
            assert!(refused + noticed > 0, "{name}");
        }
    }
}

/// Copies a file or a folder.
fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::write(to, std::fs::read(from).unwrap()).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        copy(&path, &to.join(path.file_name().unwrap()));
    }
}

/// Returns a file, or the files of a folder, in order.
fn files_of(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).unwrap();
    let mut files: Vec<PathBuf> = entries.flat_map(|entry| files_of(&entry.unwrap().path())).collect();
    files.sort();
    files
}

#[test]
fn a_page_that_differs_from_its_checksum_is_refused() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/table-checksums.parquet");
    let (folder, mut bytes) = (tempfile::tempdir().unwrap(), std::fs::read(&fixture).unwrap());
    let reader = SerializedFileReader::new(std::fs::File::open(fixture).unwrap()).unwrap();
    let mut columns = reader.metadata().row_group(0).columns().iter();
    let column = columns.find(|column| column.column_path().string() == "x").unwrap();
    let (start, length) = column.byte_range();
    // The last page of a column ends with values.
    bytes[(start + length) as usize - 1] ^= 1;
    let path = folder.path().join("x.parquet");
    std::fs::write(&path, bytes).unwrap();
    let options = ReadOptions::default().observations(["x", "y"]);
    let error = Dataset::load(&path, options).unwrap_err().to_string();
    assert!(error.contains("CRC") && error.contains("hint: the file is damaged"), "{error}");
}

/// A list of 2^31 flags that a Parquet footer declares in seven bytes. The `parquet` crate counts
/// to this number for each of the thousand lists.
#[test]
fn a_footer_with_many_flags_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    // A version and a schema of one element, as in all files, then an unknown field, and then lists
    // of 2^31 flags.
    let schema = vec![0x15, 2, 0x19, 0x1c, 0x48, 1, b'r', 0, 0x85, 0];
    let footer = [schema, [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07].repeat(1000), vec![0]].concat();
    let length = (footer.len() as u32).to_le_bytes();
    std::fs::write(&path, [b"PAR1", &footer[..], &length, b"PAR1"].concat()).unwrap();
    let read = Format::Parquet.read(&path, &ReadOptions::default(), &mut DatasetBuilder::default());
    let error = read.unwrap_err().to_string();
    assert!(error.contains("a list of more flags than bytes"), "{error}");
    assert!(NumberTable::read(&path).unwrap_err().to_string().contains("more flags than bytes"));
}
