//! Minari datasets: a folder with `data/main_data.hdf5`, a group for each episode, and
//! `data/metadata.json`.
//!
//! `observations` has T + 1 rows, `actions, rewards, terminations, truncations` have T. Of
//! dictionary observations, `observation` is the observation and the rest (`achieved_goal`,
//! `desired_goal`) become extra columns, as do `infos` with T + 1 rows.

use super::{
    ReadOptions,
    flags::flags,
    hdf5::{self, Column},
};
use crate::{
    Bounds, DataError, Defect, DefectKind, Episode, EpisodeSink, EpisodeView, Feature, Spec,
    atomic::AtomicFolder, episode::Ending, formats::flat::MAX_EPISODE_BYTES, regular_file,
};
use hdf5_pure::{
    AttrValue, EnumTypeBuilder, File, FileAccessProperties, FileBuilder, Group, SyncPolicy, make_i8_type,
};
use serde_json::{Value, json};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

const HINT: &str = "a Minari dataset is a folder with data/main_data.hdf5 and data/metadata.json";
const MAIN_FILE: &str = "main_data.hdf5";
/// The maximum size of metadata, which are read into memory.
const MAX_METADATA_BYTES: u64 = 64 << 20;

/// Returns the HDF5 file of a path: the path itself, or the file in that folder or in its `data`
/// folder.
pub(super) fn main_file(path: &Path) -> Option<PathBuf> {
    let places = [path.to_owned(), path.join(MAIN_FILE), path.join("data").join(MAIN_FILE)];
    places.into_iter().find(|place| place.is_file())
}

/// Reads a dataset, one episode at a time.
pub fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let main = main_file(path)
        .ok_or_else(|| DataError::malformed(path, format!("it contains no {MAIN_FILE}"), HINT))?;
    let fail = |problem: String| DataError::malformed(&main, problem, HINT);
    let file = hdf5::open(&main, HINT)?;
    let groups = file.root().iter_groups().map_err(|error| fail(error.to_string()))?;
    let number = |name: &str| name.strip_prefix("episode_")?.parse::<u64>().ok();
    let mut episodes: Vec<(u64, Group)> =
        groups.filter_map(|(name, group)| Some((number(&name)?, group))).collect();
    episodes.sort_by_key(|(number, _)| *number);
    let Some((_, first)) = episodes.first() else {
        return Err(fail("it has no group episode_0".into()));
    };
    let layout =
        Layout::of(&file, first, options).map_err(|problem| fail(format!("episode_0: {problem}")))?;
    let mut spec = layout.spec.clone();
    // Null if the metadata are missing or cannot be read.
    let metadata = read_small(&main.with_file_name("metadata.json"));
    let metadata: Value = metadata.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    describe_actions(&metadata, &mut spec);
    options.complete(&main, &mut spec)?;
    sink.begin(&spec)?;
    if let Some(declared) = metadata["total_episodes"].as_u64().map(|declared| declared as usize)
        && declared != episodes.len()
    {
        sink.defect(Defect::miscounted(&main, episodes.len(), "episodes", (declared, episodes.len())))?;
    }
    for (at, (number, group)) in episodes.iter().enumerate() {
        let defect = |kind, problem: String, hint: &str| Defect::of_episode(&main, at, kind, problem, hint);
        let episode = match layout.episode(&file, group, *number) {
            Ok(episode) => episode,
            Err(ReadFailure::File(problem)) => return Err(fail(format!("episode_{number}: {problem}"))),
            Err(ReadFailure::Episode(kind, problem)) => {
                let hint = match kind {
                    DefectKind::Ends => "an episode ends at its last step: split it there, or clear the flag",
                    _ => "an episode of T actions has T + 1 observations, including its last state",
                };
                sink.defect(defect(kind, problem, hint))?;
                continue;
            }
        };
        match episode.view(&spec) {
            Ok(view) if view.steps > 0 => sink.episode(&view.numbered(at))?,
            Ok(_) => {
                let problem = "it has a single state and no transition".to_owned();
                sink.defect(defect(DefectKind::Empty, problem, "remove it"))?;
            }
            Err(problem) => {
                let problem = format!("its columns differ from those of the first episode: {problem}");
                let hint = "every episode must have the same columns";
                sink.defect(defect(DefectKind::Lengths, problem, hint))?;
            }
        }
    }
    Ok(())
}

/// The roles of the HDF5 datasets in an episode's group.
struct Layout {
    spec: Spec,
    observations: Vec<String>,
    actions: Vec<String>,
    extras: Vec<String>,
}

/// The reason why an episode could not be read: the file is malformed, or only the episode is.
enum ReadFailure {
    File(String),
    Episode(DefectKind, String),
}

impl Layout {
    /// Determines the roles from the first episode.
    fn of(file: &File, group: &Group, options: &ReadOptions) -> Result<Self, String> {
        let open = |name: &str| -> Result<Column, String> {
            let data = group.dataset(name).map_err(|_| format!("no array '{name}'"))?;
            Column::open(file, name, data)
        };
        let inside = |parent: &str| -> Vec<String> {
            let mut names = group.group(parent).and_then(|group| group.datasets()).unwrap_or_default();
            names.sort();
            names.into_iter().map(|name| format!("{parent}/{name}")).collect()
        };
        // A plain dataset, or the members of a dictionary.
        let parts = |name: &str, wanted: &[String]| -> Vec<String> {
            let members = inside(name);
            if !wanted.is_empty() {
                // A member of the dictionary may be given without the name of the dictionary.
                let full = |wanted: &String| {
                    let member = format!("{name}/{wanted}");
                    if members.contains(&member) { member } else { wanted.clone() }
                };
                return wanted.iter().map(full).collect();
            }
            let main = format!("{name}/observation");
            match members.is_empty() {
                true => vec![name.to_owned()],
                false if members.contains(&main) => vec![main],
                false => members,
            }
        };
        let observations = parts("observations", &options.observations);
        let actions = parts("actions", &options.actions);
        let width = |names: &[String]| -> Result<usize, String> {
            names.iter().map(|name| open(name).map(|column| column.width)).sum()
        };
        let mut spec = Spec::new(width(&observations)?, width(&actions)?);
        let states = open(&observations[0])?.rows;
        spec.has_rewards = open("rewards").is_ok_and(|rewards| rewards.width == 1);
        let extras = inside("observations").into_iter().chain(inside("infos"));
        let extras: Vec<Column> = extras
            .filter(|name| !observations.contains(name))
            .filter_map(|name| open(&name).ok())
            .filter(|column| column.is_extra(states, options))
            .collect();
        // The last part of a path is the name, unless two columns share it.
        let name = |column: &Column| {
            let is_shared =
                extras.iter().filter(|other| other.short_name() == column.short_name()).count() > 1;
            if is_shared { column.name.replace('/', ".") } else { column.short_name().to_owned() }
        };
        spec.extras = extras.iter().map(|column| Feature::new(name(column), column.width)).collect();
        let extras = extras.into_iter().map(|column| column.name).collect();
        Ok(Self { spec, observations, actions, extras })
    }

    fn episode(&self, file: &File, group: &Group, number: u64) -> Result<Episode, ReadFailure> {
        let open = |name: &str| -> Result<Column, ReadFailure> {
            let lost = |_| ReadFailure::Episode(DefectKind::Lengths, format!("no array '{name}'"));
            Column::open(file, name, group.dataset(name).map_err(lost)?).map_err(ReadFailure::File)
        };
        let columns = |names: &[String]| names.iter().map(|name| open(name)).collect::<Result<Vec<_>, _>>();
        let (observations, actions) = (columns(&self.observations)?, columns(&self.actions)?);
        let (states, steps) = (observations[0].rows, actions[0].rows);
        let lengths = |problem: String| ReadFailure::Episode(DefectKind::Lengths, problem);
        let expect = |column: &Column, rows: u64| match column.rows == rows {
            true => Ok(()),
            false => {
                Err(lengths(format!("'{}' has {} rows, but {rows} are needed", column.name, column.rows)))
            }
        };
        let rows_of = |column: &Column, rows: u64| {
            expect(column, rows)?;
            column.read_all().map_err(ReadFailure::File)
        };
        if states != steps + 1 {
            let problem = format!("it has {states} observations for {steps} actions, not {}", steps + 1);
            return Err(lengths(problem));
        }
        observations.iter().try_for_each(|column| expect(column, states))?;
        actions.iter().try_for_each(|column| expect(column, steps))?;
        if self.spec.episode_bytes(steps as usize) > MAX_EPISODE_BYTES {
            return Err(ReadFailure::File(format!("it takes more than {} MiB", MAX_EPISODE_BYTES >> 20)));
        }
        let attributes = group.attrs().unwrap_or_default();
        let declared = attributes.get("total_steps").and_then(AttrValue::as_i64);
        if let Some(declared) = declared.filter(|declared| *declared != steps as i64) {
            return Err(lengths(format!("total_steps is {declared}, but it has {steps} actions")));
        }
        let optional = |name: &str| match group.dataset(name) {
            Ok(data) => rows_of(&Column::open(file, name, data).map_err(ReadFailure::File)?, steps),
            Err(_) => Ok(Vec::new()),
        };
        let ends = |name: &str| flags(name, 0, &optional(name)?).map_err(ReadFailure::File);
        let (terminations, truncations) = (ends("terminations")?, ends("truncations")?);
        let is_end =
            |row: usize| [&terminations, &truncations].iter().any(|flags| flags.get(row) == Some(&true));
        if let Some(row) = (0..steps.saturating_sub(1) as usize).find(|&row| is_end(row)) {
            let problem = format!("episode_{number} is marked as ended at step {row} of {steps}");
            return Err(ReadFailure::Episode(DefectKind::Ends, problem));
        }
        Ok(Episode {
            observations: concatenate_rows(&observations).map_err(ReadFailure::File)?,
            actions: concatenate_rows(&actions).map_err(ReadFailure::File)?,
            rewards: if self.spec.has_rewards { optional("rewards")? } else { Vec::new() },
            timestamps: Vec::new(),
            extras: self.extras.iter().map(|name| rows_of(&open(name)?, states)).collect::<Result<_, _>>()?,
            ending: match (terminations.last() == Some(&true), truncations.last() == Some(&true)) {
                (true, _) => Ending::Terminated,
                (false, true) => Ending::Truncated,
                (false, false) => Ending::Unknown,
            },
        })
    }
}

/// Concatenates several columns row by row.
fn concatenate_rows(columns: &[Column]) -> Result<Vec<f32>, String> {
    if let [column] = columns {
        return column.read_all();
    }
    let values: Vec<Vec<f32>> = columns.iter().map(Column::read_all).collect::<Result<_, _>>()?;
    let mut rows = Vec::with_capacity(values.iter().map(Vec::len).sum());
    for row in 0..columns[0].rows as usize {
        for (column, values) in columns.iter().zip(&values) {
            rows.extend(&values[row * column.width..(row + 1) * column.width]);
        }
    }
    Ok(rows)
}

/// Takes the bounds of actions from the metadata, if present. Python writes infinities, which JSON
/// does not have.
fn describe_actions(metadata: &Value, spec: &mut Spec) {
    let Some(space) = metadata["action_space"].as_str() else { return };
    let space = space.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null");
    let Ok(space) = serde_json::from_str::<Value>(&space) else { return };
    let numbers = |name: &str| -> Option<Vec<Option<f32>>> {
        let values = space[name].as_array()?;
        Some(values.iter().map(|value| value.as_f64().map(|value| value as f32)).collect())
    };
    let width = spec.action.width;
    if let (Some(low), Some(high)) = (numbers("low"), numbers("high"))
        && (low.len(), high.len()) == (width, width)
    {
        spec.action.bounds = low.into_iter().zip(high).map(|(low, high)| Bounds { low, high }).collect();
    }
}

/// Reads a text file, unless it is larger than any metadata.
pub(super) fn read_small(path: &Path) -> Option<String> {
    String::from_utf8(regular_file::read_at_most(path, MAX_METADATA_BYTES).ok()?).ok()
}

/// Writes a dataset, committing episodes to the file as they arrive.
pub(super) struct MinariWriter {
    folder: PathBuf,
    open: Option<Open>,
}

struct Open {
    /// The dataset under a temporary name next to its destination.
    temporary: AtomicFolder,
    file: File,
    spec: Spec,
    episodes: usize,
    steps: usize,
    uncommitted_bytes: usize,
}

/// Episodes are committed to the file when they reach this size.
const COMMIT_BYTES: usize = 32 << 20;

impl MinariWriter {
    /// Creates a writer for a folder that does not exist yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.into(), open: None }
    }

    /// Completes the dataset and moves it to its final path.
    pub fn finish(self) -> Result<(), DataError> {
        let Self { folder, open } = self;
        let Some(open) = open else {
            return Err(DataError::setting("nothing was written", "send a dataset to the writer"));
        };
        let fail = DataError::write(&folder);
        open.file.commit().map_err(DataError::refused(&folder))?;
        open.file.close().map_err(DataError::refused(&folder))?;
        let data = open.temporary.path().join("data");
        let size = std::fs::metadata(data.join(MAIN_FILE)).map_err(fail)?.len();
        let name = folder.file_name().map_or_else(|| "data".into(), |name| name.to_string_lossy());
        let metadata = json!({
            "total_episodes": open.episodes,
            "total_steps": open.steps,
            "data_format": "hdf5",
            "observation_space": space(&open.spec.observation),
            "action_space": space(&open.spec.action),
            // Minari's names end in a version.
            "dataset_id": if name.contains("-v") { name.to_string() } else { format!("{name}-v0") },
            "minari_version": "0.5.4",
            "author": [],
            "dataset_size": (size as f64 / 1e5).round() / 10.0,
        });
        let metadata_file = data.join("metadata.json");
        std::fs::write(&metadata_file, metadata.to_string()).map_err(fail)?;
        for written in [metadata_file.as_path(), &data.join(MAIN_FILE), &data] {
            std::fs::File::open(written).and_then(|file| file.sync_all()).map_err(fail)?;
        }
        open.temporary.commit().map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => {
                DataError::Io { path: folder.clone(), source, hint: "choose a new name" }
            }
            _ => fail(source),
        })
    }
}

/// Returns a Gymnasium `Box` as Minari serializes it: JSON with Python's infinities.
fn space(feature: &Feature) -> String {
    let bound = |side: fn(&Bounds) -> Option<f32>, open: &str| -> String {
        let values = (0..feature.width).map(|index| match feature.bounds.get(index).and_then(side) {
            Some(value) => format!("{value:?}"),
            None => open.to_owned(),
        });
        values.collect::<Vec<_>>().join(", ")
    };
    format!(
        r#"{{"type": "Box", "dtype": "float32", "shape": [{}], "low": [{}], "high": [{}]}}"#,
        feature.width,
        bound(|bounds| bounds.low, "-Infinity"),
        bound(|bounds| bounds.high, "Infinity"),
    )
}

impl EpisodeSink for MinariWriter {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        let (fail, refused) = (DataError::write(&self.folder), DataError::refused(&self.folder));
        let temporary = AtomicFolder::create(&self.folder).map_err(fail)?;
        std::fs::create_dir(temporary.path().join("data")).map_err(fail)?;
        let path = temporary.path().join("data").join(MAIN_FILE);
        FileBuilder::new().write(&path).map_err(refused)?;
        // One flush at the end is enough for a file that is not visible before.
        let access = FileAccessProperties::new().with_sync_policy(SyncPolicy::OnClose);
        let file = File::open_rw_with_options(&path, access).map_err(refused)?;
        self.open =
            Some(Open { temporary, file, spec: spec.clone(), episodes: 0, steps: 0, uncommitted_bytes: 0 });
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let open = self.open.as_mut().expect("begin is called first");
        let written = open.write(episode).map_err(|error| format!("episode {}: {error}", open.episodes));
        written.map_err(DataError::refused(&self.folder))
    }
}

impl Open {
    fn write(&mut self, episode: &EpisodeView<'_>) -> Result<(), hdf5_pure::Error> {
        let root = self.file.root();
        let group = format!("episode_{}", self.episodes);
        root.create_group_with(&group, |attributes| {
            attributes.set_attr("id", AttrValue::I64(self.episodes as i64));
            attributes.set_attr("total_steps", AttrValue::I64(episode.steps as i64));
        })?;
        let (states, steps) = (episode.steps as u64 + 1, episode.steps as u64);
        let matrix = |name: &str, values: &[f32], rows: u64, width: usize| {
            root.create_dataset(&format!("{group}/{name}"), |data| {
                data.with_f32_data(values).with_shape(&[rows, width as u64]);
            })
        };
        matrix("observations", episode.observations, states, self.spec.observation.width)?;
        matrix("actions", episode.actions, steps, self.spec.action.width)?;
        // Minari expects rewards and keeps them as float64.
        let rewards: Vec<f64> = match self.spec.has_rewards {
            true => episode.rewards.iter().map(|&reward| f64::from(reward)).collect(),
            false => vec![0.0; episode.steps],
        };
        root.create_dataset(&format!("{group}/rewards"), |data| {
            data.with_f64_data(&rewards);
        })?;
        for (name, ending) in [("terminations", Ending::Terminated), ("truncations", Ending::Truncated)] {
            let mut flags = vec![0u8; episode.steps];
            *flags.last_mut().expect("an episode has a step") = u8::from(episode.ending == ending);
            // The type that h5py uses for NumPy's booleans.
            let boolean = EnumTypeBuilder::with_base(make_i8_type()).raw_value("FALSE", &[0]);
            let boolean = boolean.raw_value("TRUE", &[1]).build()?;
            root.create_dataset(&format!("{group}/{name}"), |data| {
                data.with_raw_data(boolean, flags, steps);
            })?;
        }
        if !self.spec.extras.is_empty() {
            root.create_group(&format!("{group}/infos"))?;
        }
        for (extra, rows) in self.spec.extras.iter().zip(&episode.extras) {
            let name = extra.name.rsplit('/').next().unwrap_or(&extra.name);
            matrix(&format!("infos/{name}"), rows, states, extra.width)?;
        }
        self.episodes += 1;
        self.steps += episode.steps;
        self.uncommitted_bytes += self.spec.episode_bytes(episode.steps);
        if self.uncommitted_bytes > COMMIT_BYTES {
            self.uncommitted_bytes = 0;
            self.file.commit()?;
        }
        Ok(())
    }
}
