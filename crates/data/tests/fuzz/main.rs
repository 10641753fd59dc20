//! Corrupt files of every format give an error or a dataset, but never a panic or an allocation
//! beyond the documented multiple of the file.
//!
//! `cargo nextest run` tests a few thousand inputs, `just fuzz` a million of each format. An input
//! that fails is saved under `target/fuzz`.

mod allocation;
mod mutation;
mod reproducers;

use isochrone_core::rng;
use isochrone_data::{
    DataError, Dataset, DatasetSummary, Defect, EpisodeSink, EpisodeView, Spec,
    formats::{Format, ReadOptions, Writer},
};
use rand_chacha::ChaCha8Rng;
use std::{
    io::{Read as _, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

/// The number of bytes that every reader may hold at once, in addition to a multiple of the file.
const FREE_BYTES: usize = 64 << 20;

/// A sink that accepts everything, as a validator does, and holds a summary.
#[derive(Default)]
struct Drain(DatasetSummary);

impl EpisodeSink for Drain {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.0.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        assert!(episode.steps > 0 && episode.observations.len().is_multiple_of(episode.steps + 1));
        self.0.episode(episode)
    }

    fn defect(&mut self, _: Defect) -> Result<(), DataError> {
        Ok(())
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Returns a temporary folder, in memory if possible, so that a million files do not wear out a
/// disk.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Returns a corrupt copy of an intact file.
type Corruption = fn(&[u8], &mut ChaCha8Rng) -> Vec<u8>;

/// Corrupts one of `targets` repeatedly and reads `root` each time.
struct Campaign<'a> {
    format: Format,
    options: &'a ReadOptions,
    /// The path that the reader receives.
    root: PathBuf,
    /// The files to corrupt, with their intact contents.
    targets: Vec<(PathBuf, Vec<u8>)>,
    /// The number of bytes that may be held for each byte of the file.
    multiple: usize,
    /// Corrupts the contents of an archive rather than the archive, half of the time.
    inside: Option<Corruption>,
}

impl Campaign<'_> {
    fn run(&self) {
        let (inputs, seed) = (setting("ISOCHRONE_FUZZ_INPUTS", 2_000), setting("ISOCHRONE_FUZZ_SEED", 1));
        let mut random = rng::stream(seed, self.format as u64);
        let (mut accepted, mut max_bytes, mut max_multiple) = (0u64, 0, 0.0f64);
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        for input in 0..inputs {
            let (path, intact) = &self.targets[rng::below(&mut random, self.targets.len())];
            let bytes = match self.inside {
                Some(inside) if rng::below(&mut random, 2) == 0 => inside(intact, &mut random),
                _ => {
                    let mut bytes = intact.clone();
                    mutation::mutate(&mut bytes, &mut random);
                    bytes
                }
            };
            std::fs::write(path, &bytes).unwrap();
            let read = || {
                catch_unwind(AssertUnwindSafe(|| {
                    self.format.read(&self.root, self.options, &mut Drain::default())
                }))
            };
            let (outcome, peak) = allocation::peak_of(read);
            let limit = FREE_BYTES + self.multiple * bytes.len();
            if outcome.is_err() || peak > limit {
                std::panic::set_hook(quiet);
                let saved = self.save(input, &bytes);
                match outcome {
                    Err(_) => panic!(
                        "{}: input {input} of seed {seed} panics: {}",
                        self.format.name(),
                        saved.display()
                    ),
                    Ok(_) => panic!(
                        "{}: input {input} of seed {seed} ({} bytes) takes {peak} bytes: {}",
                        self.format.name(),
                        bytes.len(),
                        saved.display()
                    ),
                }
            }
            accepted += u64::from(matches!(outcome, Ok(Ok(()))));
            max_bytes = max_bytes.max(peak);
            max_multiple = max_multiple.max(peak as f64 / bytes.len().max(1) as f64);
            if self.targets.len() > 1 {
                // Only one file is corrupt at a time.
                std::fs::write(path, intact).unwrap();
            }
        }
        std::panic::set_hook(quiet);
        println!(
            "{}: {inputs} inputs of seed {seed}, {accepted} accepted; at most {} KiB held, {max_multiple:.0} times the file",
            self.format.name(),
            max_bytes >> 10
        );
        // Otherwise the corruption is too strong to test anything beyond the first checks.
        assert!(accepted > 0 || inputs < 1000, "no input was accepted");
    }

    fn save(&self, input: u64, bytes: &[u8]) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{}-{input}", self.format.name()));
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Corrupts a format that consists of a single file.
fn single(format: Format, file: &str, options: &ReadOptions, multiple: usize) {
    let folder = scratch();
    let intact = std::fs::read(fixtures().join(file)).unwrap();
    let name = Path::new(file).file_name().unwrap();
    let root = folder.path().join(name);
    let targets = vec![(root.clone(), intact)];
    Campaign { format, options, root, targets, multiple, inside: None }.run();
}

#[test]
fn ogbench() {
    let folder = scratch();
    let intact = std::fs::read(fixtures().join("ogbench.npz")).unwrap();
    let root = folder.path().join("x.npz");
    let targets = vec![(root.clone(), intact)];
    let options = &ReadOptions::default();
    // Deflate expands 1032 times, bytes become float32, and vectors grow by doubling.
    Campaign { format: Format::OgBench, options, root, targets, multiple: 8300, inside: Some(corrupt_array) }
        .run();
}

/// Returns an archive in which one array is corrupt and the checksums are valid.
fn corrupt_array(intact: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(intact)).unwrap();
    let corrupt = rng::below(random, archive.len());
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if at == corrupt {
            mutation::mutate(&mut bytes, random);
        }
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let name = entry.name().unwrap().into_owned();
        writer.start_file(name, options).unwrap();
        writer.write_all(&bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn d4rl_chunked() {
    single(Format::D4rl, "d4rl.hdf5", &ReadOptions::default(), 8300);
}

#[test]
fn d4rl_contiguous() {
    single(Format::D4rl, "d4rl-contiguous.hdf5", &ReadOptions::default(), 8300);
}

#[test]
fn minari() {
    let folder = scratch();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let targets = ["main_data.hdf5", "metadata.json"].map(|name| {
        let bytes = std::fs::read(fixtures().join("minari/goal-v0/data").join(name)).unwrap();
        let path = folder.path().join("data").join(name);
        std::fs::write(&path, &bytes).unwrap();
        (path, bytes)
    });
    let targets = targets.into_iter().collect();
    let root = folder.path().to_owned();
    let options = &ReadOptions::default();
    Campaign { format: Format::Minari, options, root, targets, multiple: 8300, inside: None }.run();
}

#[test]
fn lerobot() {
    let folder = scratch();
    let names =
        ["meta/info.json", "meta/episodes/chunk-000/file-000.parquet", "data/chunk-000/file-000.parquet"];
    let targets = names.map(|name| {
        let bytes = std::fs::read(fixtures().join("lerobot").join(name)).unwrap();
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        (path, bytes)
    });
    let targets = targets.into_iter().collect();
    let root = folder.path().to_owned();
    let options = &ReadOptions::default();
    Campaign { format: Format::LeRobot, options, root, targets, multiple: 16_400, inside: None }.run();
}

fn table_options() -> ReadOptions {
    ReadOptions { observations: ["x", "y", "height"].map(String::from).to_vec(), ..ReadOptions::default() }
}

#[test]
fn parquet_snappy() {
    single(Format::Parquet, "table-snappy.parquet", &table_options(), 16_400);
}

#[test]
fn parquet_zstd() {
    single(Format::Parquet, "table-zstd.parquet", &table_options(), 16_400);
}

#[test]
fn csv() {
    single(Format::Csv, "table.csv", &table_options(), 64);
}

#[test]
fn arrow() {
    let folder = scratch();
    let root = folder.path().join("x.arrow");
    let mut builder = isochrone_data::DatasetBuilder::default();
    Format::Minari.read(&fixtures().join("minari/goal-v0"), &ReadOptions::default(), &mut builder).unwrap();
    let data: Dataset = builder.finish();
    let mut writer = Writer::for_path(&root).unwrap();
    data.send(&mut writer).unwrap();
    writer.finish().unwrap();
    let targets = vec![(root.clone(), std::fs::read(&root).unwrap())];
    let options = &ReadOptions::default();
    Campaign { format: Format::Arrow, options, root, targets, multiple: 64, inside: None }.run();
}
