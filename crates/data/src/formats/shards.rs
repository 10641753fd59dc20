//! Datasets of several files: the episodes of all files of a folder, in the order of their names.

use super::shard_manifest::ShardManifest;
use crate::{ContentHasher, DataError, Defect, EpisodeSink, EpisodeView, Spec};
use std::path::{Path, PathBuf};

/// The extensions of files that hold episodes. Other files of the folder are ignored.
pub(crate) const EXTENSIONS: [&str; 8] = ["arrow", "feather", "ipc", "npz", "hdf5", "h5", "parquet", "csv"];

/// The shards of a folder, in the order of their names.
#[derive(Debug)]
pub(crate) struct Shards {
    folder: PathBuf,
    paths: Vec<PathBuf>,
    /// The content hash that the manifest declares.
    declared_hash: Option<String>,
}

/// Lists the shards of a folder. Hidden files, and files that start with an underscore, are no
/// shards. A manifest, if there is one, must list exactly the files of the folder.
///
/// # Errors
/// If there is no shard, shards have different formats, or the manifest does not match.
pub(crate) fn list(folder: &Path) -> Result<Shards, DataError> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(DataError::read(folder))? {
        let path = entry.map_err(DataError::read(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_shard(&name) && path.is_file() {
            names.push(name);
        }
    }
    names.sort_unstable();
    let Some(first) = names.first() else {
        let hint =
            "give a Minari or LeRobot folder, or a folder of .arrow, .npz, .hdf5, .parquet or .csv files";
        return Err(DataError::malformed(folder, "the folder contains no dataset", hint));
    };
    if let Some(other) = names.iter().find(|name| extension(name) != extension(first)) {
        let problem = format!("shards of different formats: {first} and {other}");
        return Err(DataError::malformed(folder, problem, "keep one dataset per folder"));
    }
    let manifest = ShardManifest::of_folder(folder)?;
    if let Some(manifest) = &manifest {
        require_listed(folder, &names, manifest)?;
    }
    let paths = names.iter().map(|name| folder.join(name)).collect();
    Ok(Shards { folder: folder.into(), paths, declared_hash: manifest.map(|manifest| manifest.sha256) })
}

/// Returns whether a file with this name is a shard.
pub(crate) fn is_shard(name: &str) -> bool {
    !name.starts_with(['.', '_'])
        && extension(name).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

fn extension(name: &str) -> Option<String> {
    Path::new(name).extension()?.to_str().map(str::to_ascii_lowercase)
}

/// Checks that the folder has the files of the manifest, with their sizes, and no others.
fn require_listed(folder: &Path, names: &[String], manifest: &ShardManifest) -> Result<(), DataError> {
    let mut listed: Vec<&str> = manifest.shards.iter().map(|shard| shard.name.as_str()).collect();
    listed.sort_unstable();
    let hint = "copy the folder again; its manifest lists every shard";
    let fail = |problem: String| DataError::malformed(&folder.join(ShardManifest::NAME), problem, hint);
    if let Some(missing) = listed.iter().find(|name| !names.iter().any(|found| found == *name)) {
        return Err(fail(format!("shard {missing} is missing")));
    }
    if let Some(extra) = names.iter().find(|name| listed.binary_search(&name.as_str()).is_err()) {
        return Err(fail(format!("it does not list {extra}")));
    }
    for shard in &manifest.shards {
        let path = folder.join(&shard.name);
        let bytes = std::fs::metadata(&path).map_err(DataError::read(&path))?.len();
        if bytes != shard.bytes {
            return Err(fail(format!("{} has {bytes} bytes instead of {}", shard.name, shard.bytes)));
        }
    }
    Ok(())
}

/// Checks that a shard has the columns of the shards before it.
pub(crate) fn require_same_spec(path: &Path, expected: &Spec, found: &Spec) -> Result<(), DataError> {
    if expected == found {
        return Ok(());
    }
    let fields = |spec: &Spec| match serde_json::to_value(spec) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => unreachable!("a spec is a structure of plain data"),
    };
    let (expected, found) = (fields(expected), fields(found));
    let differs = expected.iter().find(|(name, value)| found.get(*name) != Some(value));
    let problem = match differs {
        Some((name, value)) => {
            let found = found.get(name).unwrap_or(&serde_json::Value::Null);
            format!("{name} is {found}, but {value} in the shards before it")
        }
        None => "its columns differ from those of the shards before it".into(),
    };
    Err(DataError::malformed(path, problem, "all shards of a folder must have the same columns"))
}

impl Shards {
    /// Returns the first shard.
    pub fn first(&self) -> &Path {
        &self.paths[0]
    }

    /// Returns all shards.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Reads all shards into one sink; `read` reads one of them.
    pub fn read(
        &self,
        read: impl Fn(&Path, &mut dyn EpisodeSink) -> Result<(), DataError>,
        sink: &mut dyn EpisodeSink,
    ) -> Result<(), DataError> {
        let mut joined = JoinedSink {
            sink,
            spec: None,
            shard: self.first(),
            first: 0,
            next: 0,
            hasher: self.declared_hash.is_some().then(ContentHasher::default),
        };
        for shard in &self.paths {
            (joined.shard, joined.first) = (shard, joined.next);
            read(shard, &mut joined)?;
        }
        match joined.hasher {
            Some(hasher) => self.require_hash(&hasher.finish()),
            None => Ok(()),
        }
    }

    /// Compares the content hash with that of the manifest, if there is one.
    pub fn require_hash(&self, content_hash: &str) -> Result<(), DataError> {
        match &self.declared_hash {
            Some(declared) if declared != content_hash => {
                let problem = format!("the content hash is {content_hash} instead of {declared}");
                let hint = "a shard was replaced by another; copy the folder again";
                Err(DataError::malformed(&self.folder.join(ShardManifest::NAME), problem, hint))
            }
            _ => Ok(()),
        }
    }
}

/// Forwards the episodes of all shards to one sink, numbered across shards.
struct JoinedSink<'a> {
    sink: &'a mut dyn EpisodeSink,
    spec: Option<Spec>,
    shard: &'a Path,
    /// The number of the first episode of this shard.
    first: usize,
    /// The number of the next episode.
    next: usize,
    /// The hash of all episodes so far, if it has to be compared with a manifest.
    hasher: Option<ContentHasher>,
}

impl EpisodeSink for JoinedSink<'_> {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        match &self.spec {
            Some(expected) => require_same_spec(self.shard, expected, spec),
            None => {
                self.spec = Some(spec.clone());
                if let Some(hasher) = &mut self.hasher {
                    hasher.begin(spec)?;
                }
                self.sink.begin(spec)
            }
        }
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let number = self.first + episode.number;
        self.next = self.next.max(number + 1);
        if let Some(hasher) = &mut self.hasher {
            hasher.episode(episode)?;
        }
        self.sink.episode(&EpisodeView { number, ..episode.clone() })
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        if let Some(episode) = defect.episode {
            self.next = self.next.max(self.first + episode + 1);
        }
        // The sink learns from the defect that the contents are not those of the manifest.
        self.hasher = None;
        self.sink.defect(defect)
    }
}
