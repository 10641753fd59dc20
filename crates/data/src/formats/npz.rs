//! OGBench archives: `observations`, `actions`, `terminals`, and other arrays with a row for every
//! state.
//!
//! Every trajectory has T + 1 rows, and `terminals` is 1 on its last row. The last row's action
//! leads nowhere; it is dropped when read and written as zeros. Arrays of the same length (`qpos`,
//! `qvel`) become extra columns, and `rewards` the rewards; arrays of other lengths are not per
//! state and are skipped.

use super::{
    ReadOptions,
    flags::flag,
    flat::{Assembler, Row},
};
use crate::{
    DataError, EpisodeSink, EpisodeView, Feature, Spec,
    atomic::{self, folder_of},
    content_hash::little_endian,
    episode::Ending,
    fused::Fused,
    npy::{Header, Rows},
    regular_file, zip_archive,
};
use std::{
    fs::File,
    io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

const HINT: &str =
    "an OGBench file is made with np.savez_compressed(name, observations=..., actions=..., terminals=...)";

/// The arrays that every archive of trajectories has.
const NEEDED: [&str; 3] = ["observations", "actions", "terminals"];
/// The maximum number of arrays of an archive: each is read through its own file handle.
const MAX_ARRAYS: usize = 64;

type Archive = ZipArchive<BufReader<File>>;

fn open(path: &Path) -> Result<Archive, DataError> {
    let file = regular_file::open(path).map_err(DataError::read(path))?;
    zip_archive::open(BufReader::new(file)).map_err(|problem| DataError::malformed(path, problem, HINT))
}

/// Reads all columns of an archive in parallel, so that at most one episode is in memory.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let fail = |problem: String| DataError::malformed(path, problem, HINT);
    let archive = open(path)?;
    let names: Vec<String> =
        archive.file_names().filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned())).collect();
    for needed in NEEDED {
        if !names.iter().any(|name| name == needed) {
            return Err(fail(format!("no array '{needed}', only {}", names.join(", "))));
        }
    }
    let has_meaning = |name: &str| NEEDED.contains(&name) || name == "rewards";
    let names: Vec<String> =
        names.into_iter().filter(|name| has_meaning(name) || options.wants_extra(name)).collect();
    if names.len() > MAX_ARRAYS {
        return Err(fail(format!("it has {} arrays; up to {MAX_ARRAYS} can be read", names.len())));
    }
    // Each array is read through its own archive, since an archive can only stream one entry at a
    // time.
    let mut archives: Vec<Archive> = names.iter().map(|_| open(path)).collect::<Result<_, _>>()?;
    let mut columns = Vec::new();
    for (archive, name) in archives.iter_mut().zip(&names) {
        let corrupt = |error: &dyn std::fmt::Display| fail(format!("array '{name}' is corrupt: {error}"));
        let entry_name = format!("{name}.npy");
        // Reads the entry once to its end to verify the checksum: a reader of rows stops before it.
        let mut entry = archive.by_name(&entry_name).map_err(|error| corrupt(&error))?;
        std::io::copy(&mut entry, &mut std::io::sink()).map_err(|error| corrupt(&error))?;
        drop(entry);
        let entry = archive.by_name(&entry_name).map_err(|error| corrupt(&error))?;
        match Rows::open(BufReader::with_capacity(1 << 16, entry)) {
            Ok(rows) => columns.push((name.as_str(), rows)),
            Err(problem) if has_meaning(name) => return Err(fail(format!("array '{name}': {problem}"))),
            // Not a column; perhaps a string or an image.
            Err(_) => {}
        }
    }
    let [mut observations, mut actions, mut terminals] =
        NEEDED.map(|name| take(&mut columns, name).expect("checked above"));
    let n = observations.rows;
    for (name, rows) in [("actions", &actions), ("terminals", &terminals)] {
        if rows.rows != n {
            let problem = format!("array '{name}' has {} rows, but observations have {n}", rows.rows);
            let hint =
                "every array has a row for every state, including the last one of each trajectory (T + 1)";
            return Err(DataError::malformed(path, problem, hint));
        }
    }
    let mut rewards = take(&mut columns, "rewards");
    for (name, rows) in [("terminals", Some(&terminals)), ("rewards", rewards.as_ref())] {
        if let Some(rows) = rows.filter(|rows| rows.rows != n || rows.width != 1) {
            let (rows, width) = (rows.rows, rows.width);
            return Err(fail(format!(
                "array '{name}' has shape ({rows}, {width}), not a number for each of {n} rows"
            )));
        }
    }
    columns.retain(|(_, rows)| rows.rows == n && rows.width > 0);
    columns.sort_by_key(|(name, _)| *name);

    let mut spec = Spec::new(observations.width, actions.width);
    spec.has_rewards = rewards.is_some();
    spec.extras = columns.iter().map(|(name, rows)| Feature::new(*name, rows.width)).collect();
    options.complete(path, &mut spec)?;
    let mut assembler = Assembler::begin(path, sink, &spec)?;
    let (mut observation, mut action, mut number) = (Vec::new(), Vec::new(), Vec::new());
    let mut extras = vec![Vec::new(); columns.len()];
    for row in 0..n {
        let cut = |name: &str| {
            let name = name.to_owned();
            move |error: std::io::Error| fail(format!("array '{name}', row {row}: {error}"))
        };
        observations.next_into(&mut observation).map_err(cut("observations"))?;
        actions.next_into(&mut action).map_err(cut("actions"))?;
        let mut reward = 0.0;
        if let Some(rewards) = &mut rewards {
            rewards.next_into(&mut number).map_err(cut("rewards"))?;
            reward = number[0];
        }
        for ((name, rows), extra) in columns.iter_mut().zip(&mut extras) {
            rows.next_into(extra).map_err(cut(name))?;
        }
        let values = Row { observation: &observation, action: &action, reward, timestamp: 0.0 };
        assembler.row(&values, extras.iter().map(Vec::as_slice))?;
        terminals.next_into(&mut number).map_err(cut("terminals"))?;
        if flag("terminals", row, number[0]).map_err(fail)? {
            assembler.end(Ending::Unknown)?;
        }
    }
    assembler.end_unclosed("set terminals to 1 on the last row of every trajectory, including the last one")
}

fn take<'r>(columns: &mut Vec<(&str, Rows<'r>)>, name: &str) -> Option<Rows<'r>> {
    columns.iter().position(|(column, _)| *column == name).map(|at| columns.swap_remove(at).1)
}

/// Writes an archive. Columns are collected in temporary files next to it, since an archive stores
/// one column after another.
pub(super) struct NpzWriter {
    path: PathBuf,
    columns: Vec<Spool>,
    spec: Option<Spec>,
    rows: u64,
}

/// A column in a temporary file, before it is copied into the archive.
struct Spool {
    name: String,
    width: usize,
    file: BufWriter<File>,
}

impl Spool {
    fn push(&mut self, values: &[f32]) -> std::io::Result<()> {
        self.file.write_all(little_endian(values))
    }
}

impl NpzWriter {
    /// Creates a writer for a file that does not have to exist yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.into(), columns: Vec::new(), spec: None, rows: 0 }
    }

    /// Completes the archive and moves it to its final path.
    pub fn finish(self) -> Result<(), DataError> {
        let Self { path, columns, rows, .. } = self;
        let fail = DataError::write(&path);
        let mut archive = ZipWriter::new(BufWriter::new(Fused::new(atomic::create(&path).map_err(fail)?)));
        for Spool { name, width, file } in columns {
            let mut file = file.into_inner().map_err(|error| fail(error.into_error()))?;
            file.seek(SeekFrom::Start(0)).map_err(fail)?;
            let options =
                SimpleFileOptions::default().large_file(rows.saturating_mul(4 * width as u64 + 4) >> 32 > 0);
            archive.start_file(format!("{name}.npy"), options).map_err(|error| fail(error.into()))?;
            copy_array(&mut archive, &name, rows, width, &mut BufReader::new(file)).map_err(fail)?;
        }
        let buffered = archive.finish().map_err(|error| fail(error.into()))?;
        let file = buffered.into_inner().map_err(|error| fail(error.into_error()))?;
        atomic::commit(file.into_inner().map_err(fail)?, &path).map_err(fail)
    }
}

/// Copies a spooled column as an array: flags as booleans, vectors as a matrix, single numbers as a
/// vector.
fn copy_array(
    to: &mut dyn Write,
    name: &str,
    rows: u64,
    width: usize,
    from: &mut dyn Read,
) -> std::io::Result<()> {
    if name == "terminals" {
        Header::row_major("|b1", &[rows]).write(to)?;
        let mut value = [0; 4];
        return (0..rows).try_for_each(|_| {
            from.read_exact(&mut value)?;
            to.write_all(&[u8::from(f32::from_le_bytes(value) != 0.0)])
        });
    }
    // Observations and actions are matrices of any width; other single numbers are not.
    let is_matrix = width != 1 || name == "observations" || name == "actions";
    let shape: &[u64] = if is_matrix { &[rows, width as u64] } else { &[rows] };
    Header::row_major("<f4", shape).write(to)?;
    // A column that is shorter than its header would be an archive that no reader opens.
    match std::io::copy(from, to)? == 4 * rows * width as u64 {
        true => Ok(()),
        false => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
    }
}

impl EpisodeSink for NpzWriter {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        let mut names =
            vec![("observations", spec.observation.width), ("actions", spec.action.width), ("terminals", 1)];
        names.extend(spec.has_rewards.then_some(("rewards", 1)));
        names.extend(spec.extras.iter().map(|extra| (extra.name.as_str(), extra.width)));
        for (name, width) in names {
            let file = tempfile::tempfile_in(folder_of(&self.path)).map_err(DataError::write(&self.path))?;
            self.columns.push(Spool { name: name.replace('/', "."), width, file: BufWriter::new(file) });
        }
        self.spec = Some(spec.clone());
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let spec = self.spec.as_ref().expect("begin is called first");
        let zero_action = vec![0.0; spec.action.width];
        let mut columns = self.columns.iter_mut();
        let mut next = || columns.next().expect("begin created every column");
        let mut write = || {
            next().push(episode.observations)?;
            let actions = next();
            actions.push(episode.actions)?;
            actions.push(&zero_action)?;
            let terminals = next();
            (0..episode.steps).try_for_each(|_| terminals.push(&[0.0]))?;
            terminals.push(&[1.0])?;
            if spec.has_rewards {
                let rewards = next();
                rewards.push(episode.rewards)?;
                rewards.push(&[0.0])?;
            }
            episode.extras.iter().try_for_each(|rows| next().push(rows))
        };
        write().map_err(DataError::write(&self.path))?;
        self.rows += episode.steps as u64 + 1;
        Ok(())
    }
}
