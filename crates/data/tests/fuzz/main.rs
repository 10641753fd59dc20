//! Damaged files of every format: an error or a dataset, never a panic, never an allocation beyond the stated multiple of the file.
//!
//! `cargo nextest run` tries a few thousand; `just fuzz` a million of each. An input that fails is left under `target/fuzz`.

mod allocation;
mod mutation;

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

/// What every reader may hold at once: this, and a multiple of the file.
const FREE_BYTES: usize = 64 << 20;

/// Takes everything, as a validator would, and holds what it learns.
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

/// Memory if there is a file system for it, so that a million files do not wear out a disk.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Makes a damaged file of a whole one.
type Damage = fn(&[u8], &mut ChaCha8Rng) -> Vec<u8>;

/// Damages one of `targets` again and again and reads `root` each time.
struct Campaign<'a> {
    format: Format,
    options: &'a ReadOptions,
    /// What is given to the reader.
    root: PathBuf,
    /// The file that is damaged, and what it holds when whole.
    targets: Vec<(PathBuf, Vec<u8>)>,
    /// Bytes that may be held for each byte of the file.
    multiple: usize,
    /// Damages the contents of an archive rather than the archive, half of the time.
    inside: Option<Damage>,
}

impl Campaign<'_> {
    fn run(&self) {
        let (inputs, seed) = (setting("ISOCHRONE_FUZZ_INPUTS", 2_000), setting("ISOCHRONE_FUZZ_SEED", 1));
        let mut random = rng::stream(seed, self.format as u64);
        let (mut accepted, mut most_bytes, mut most_multiple) = (0u64, 0, 0.0f64);
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        for input in 0..inputs {
            let (path, whole) = &self.targets[rng::below(&mut random, self.targets.len())];
            let bytes = match self.inside {
                Some(inside) if rng::below(&mut random, 2) == 0 => inside(whole, &mut random),
                _ => {
                    let mut bytes = whole.clone();
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
                let kept = self.keep(input, &bytes);
                match outcome {
                    Err(_) => panic!(
                        "{}: input {input} of seed {seed} panics: {}",
                        self.format.name(),
                        kept.display()
                    ),
                    Ok(_) => panic!(
                        "{}: input {input} of seed {seed} ({} bytes) takes {peak} bytes: {}",
                        self.format.name(),
                        bytes.len(),
                        kept.display()
                    ),
                }
            }
            accepted += u64::from(matches!(outcome, Ok(Ok(()))));
            most_bytes = most_bytes.max(peak);
            most_multiple = most_multiple.max(peak as f64 / bytes.len().max(1) as f64);
            if self.targets.len() > 1 {
                // One damaged file at a time.
                std::fs::write(path, whole).unwrap();
            }
        }
        std::panic::set_hook(quiet);
        println!(
            "{}: {inputs} inputs of seed {seed}, {accepted} accepted; at most {} KiB held, {most_multiple:.0} times the file",
            self.format.name(),
            most_bytes >> 10
        );
        // Otherwise the damages are too heavy to reach anything.
        assert!(accepted > 0 || inputs < 1000, "no input was accepted");
    }

    fn keep(&self, input: u64, bytes: &[u8]) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{}-{input}", self.format.name()));
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// One file.
fn single(format: Format, file: &str, options: &ReadOptions, multiple: usize) {
    let folder = scratch();
    let whole = std::fs::read(fixtures().join(file)).unwrap();
    let name = Path::new(file).file_name().unwrap();
    let root = folder.path().join(name);
    let targets = vec![(root.clone(), whole)];
    Campaign { format, options, root, targets, multiple, inside: None }.run();
}

#[test]
fn ogbench() {
    let folder = scratch();
    let whole = std::fs::read(fixtures().join("ogbench.npz")).unwrap();
    let root = folder.path().join("x.npz");
    let targets = vec![(root.clone(), whole)];
    let options = &ReadOptions::default();
    // Deflate expands 1032 times, bytes become float32, and vectors grow by doubling.
    Campaign { format: Format::OgBench, options, root, targets, multiple: 8300, inside: Some(damage_array) }
        .run();
}

/// An archive in which one array is damaged and the checksums are right.
fn damage_array(whole: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(whole)).unwrap();
    let damaged = rng::below(random, archive.len());
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if at == damaged {
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
fn layout() {
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
