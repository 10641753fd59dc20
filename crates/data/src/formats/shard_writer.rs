//! Writes a dataset as shards: files of the isochrone Arrow format, and a manifest.

use super::{
    arrow::ArrowWriter,
    shard_manifest::{ShardEntry, ShardManifest},
};
use crate::{
    ContentHasher, DataError, EpisodeSink, EpisodeView, Spec, atomic::AtomicFolder, file_hash::file_sha256,
};
use std::path::{Path, PathBuf};

/// Writes episodes as they arrive. The folder appears when [`finish`](Self::finish) is called, and
/// not at all otherwise.
pub(super) struct ShardWriter {
    folder: PathBuf,
    rows_per_shard: u64,
    open: Option<Open>,
}

struct Open {
    /// The folder under a temporary name.
    temporary: AtomicFolder,
    spec: Spec,
    written: Vec<ShardEntry>,
    shard: Option<Shard>,
}

/// The shard that is being written.
struct Shard {
    name: String,
    writer: ArrowWriter,
    hasher: ContentHasher,
    rows: u64,
}

impl ShardWriter {
    /// Creates a writer for a folder that does not exist yet.
    pub fn new(folder: &Path, rows_per_shard: u64) -> Result<Self, DataError> {
        if rows_per_shard == 0 {
            return Err(DataError::setting("0 rows per shard", "give at least 1"));
        }
        Ok(Self { folder: folder.into(), rows_per_shard, open: None })
    }

    /// Completes the last shard, writes the manifest, and moves the folder to its final path.
    pub fn finish(self, content_hash: String) -> Result<(), DataError> {
        let Self { folder, open, .. } = self;
        let Some(mut open) = open else {
            return Err(DataError::setting("nothing was written", "send a dataset to the writer"));
        };
        if open.written.is_empty() && open.shard.is_none() {
            // A dataset without episodes still has columns.
            open.start()?;
        }
        open.complete()?;
        let manifest = ShardManifest::new(content_hash, open.written).to_json();
        let fail = DataError::write(&folder);
        open.temporary.write(ShardManifest::NAME, manifest.as_bytes()).map_err(fail)?;
        open.temporary.commit().map_err(fail)
    }
}

impl Open {
    fn start(&mut self) -> Result<&mut Shard, DataError> {
        let name = format!("part-{:05}.arrow", self.written.len());
        let mut writer = ArrowWriter::new(&self.temporary.path().join(&name));
        writer.begin(&self.spec)?;
        let hasher = ContentHasher::of(&self.spec);
        Ok(self.shard.insert(Shard { name, writer, hasher, rows: 0 }))
    }

    /// Completes the present shard, if there is one.
    fn complete(&mut self) -> Result<(), DataError> {
        let Some(shard) = self.shard.take() else { return Ok(()) };
        shard.writer.finish(&shard.hasher.hashes())?;
        let path = self.temporary.path().join(&shard.name);
        let (bytes, sha256) = file_sha256(&path).map_err(DataError::read(&path))?;
        self.written.push(ShardEntry { name: shard.name, bytes, sha256 });
        Ok(())
    }
}

impl EpisodeSink for ShardWriter {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        let temporary = AtomicFolder::create(&self.folder).map_err(DataError::write(&self.folder))?;
        self.open = Some(Open { temporary, spec: spec.clone(), written: Vec::new(), shard: None });
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let open = self.open.as_mut().expect("begin is called first");
        let rows = episode.steps as u64 + 1;
        if open.shard.as_ref().is_some_and(|shard| shard.rows + rows > self.rows_per_shard) {
            open.complete()?;
        }
        let shard = match &mut open.shard {
            Some(shard) => shard,
            None => open.start()?,
        };
        shard.rows += rows;
        shard.hasher.episode(episode)?;
        shard.writer.episode(episode)
    }
}
