//! The isochrone Arrow format: an Arrow IPC file with one row per episode.
//!
//! | column | type | an episode of T steps has |
//! |---|---|---|
//! | `observations` | list of fixed-size lists of float32 | T + 1 entries |
//! | `actions` (if any) | list of fixed-size lists of float32 | T entries |
//! | `rewards` (if any) | list of float32 | T entries |
//! | `timestamps` (if any) | list of float64, seconds | T + 1 entries |
//! | `extra.NAME` | list of fixed-size lists of float32 | T + 1 entries |
//! | `ending` | string | `terminated`, `truncated` or `unknown` |
//!
//! The schema's metadata hold the [`Spec`] as JSON under `isochrone.spec`. The footer's metadata
//! hold the content hash under `isochrone.sha256` and a checksum of the entire file under
//! `isochrone.checksum`; both are verified whenever a file is opened or read. Nothing is compressed
//! and record batches end between episodes, so that each row is a slice of the mapped file.
//! `docs/guides/data.md` compares the format with Parquet. Any Arrow library reads the file:
//! `pyarrow.ipc.open_file("x.arrow").read_all()`.

use crate::{
    Access, ContentHasher, DataError, Dataset, Defect, EpisodeIndex, EpisodeSink, EpisodeView, Remedy, Spec,
    atomic,
    catch_panics::catch_panic,
    column_buffers::ColumnBuffers,
    content_hash::{Hashes, hexadecimal},
    dataset::{Block, Columns},
    dataset_hash,
    episode::Ending,
    formats::{ReadOptions, arrow_layout, flat::MAX_EPISODE_BYTES, shards},
    join::Join,
    mapping::{MappedFile, Mapping},
};
use arrow_array::{
    Array as _, ArrayRef, FixedSizeListArray, Float32Array, Float64Array, ListArray, RecordBatch,
    StringArray,
    cast::AsArray as _,
    types::{ArrowPrimitiveType, Float32Type, Float64Type},
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::{
    convert::try_fb_to_schema,
    reader::{FileDecoder, read_footer_length},
    root_as_footer, root_as_message,
    writer::FileWriter,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use sha2::{Digest as _, Sha256};
use std::{
    io::{BufWriter, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::NamedTempFile;

const SPEC_KEY: &str = "isochrone.spec";
const HASH_KEY: &str = "isochrone.sha256";
const CHECKSUM_KEY: &str = "isochrone.checksum";
/// The placeholder for the checksum until everything else is written.
const NO_CHECKSUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// A record batch is written when its episodes reach this size: large enough that there are few
/// batches, small enough to be buffered in memory.
const BATCH_BYTES: usize = 16 << 20;

/// The alignment that Arrow requires of buffers; a mapped file starts at a page boundary.
const ALIGNMENT: usize = 8;

fn vectors(name: &str, width: usize) -> Field {
    let row = DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Float32, false)), width as i32);
    Field::new(name, DataType::List(Arc::new(Field::new("row", row, false))), false)
}

fn scalars(name: &str, kind: DataType) -> Field {
    Field::new(name, DataType::List(Arc::new(Field::new("row", kind, false))), false)
}

/// Returns the schema of files with this spec.
fn schema_of(spec: &Spec) -> Schema {
    let mut fields = vec![vectors("observations", spec.observation.width)];
    fields.extend((spec.action.width > 0).then(|| vectors("actions", spec.action.width)));
    fields.extend(spec.has_rewards.then(|| scalars("rewards", DataType::Float32)));
    fields.extend(spec.has_timestamps.then(|| scalars("timestamps", DataType::Float64)));
    fields.extend(spec.extras.iter().map(|extra| vectors(&format!("extra.{}", extra.name), extra.width)));
    fields.push(Field::new("ending", DataType::Utf8, false));
    let text = serde_json::to_string(spec).expect("a spec is plain data");
    Schema::new_with_metadata(fields, std::collections::HashMap::from([(SPEC_KEY.to_owned(), text)]))
}

/// Writes episodes as they arrive. The file is removed unless [`finish`](Self::finish) is called.
pub(super) struct ArrowWriter {
    path: PathBuf,
    open: Option<Open>,
}

struct Open {
    writer: FileWriter<BufWriter<NamedTempFile>>,
    spec: Spec,
    /// The episodes of the next record batch, and their size.
    batch: ColumnBuffers,
    batch_bytes: usize,
}

impl ArrowWriter {
    /// Creates a writer for a file that does not have to exist yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.into(), open: None }
    }

    /// Completes the file with the hashes of its contents and moves it to its final path.
    pub fn finish(self, hashes: &Hashes) -> Result<(), DataError> {
        let Self { path, open } = self;
        let Some(mut open) = open else {
            return Err(DataError::setting("nothing was written", "send a dataset to the writer"));
        };
        open.flush().map_err(DataError::refused(&path))?;
        open.writer.write_metadata(HASH_KEY, &hashes.content);
        open.writer.write_metadata(CHECKSUM_KEY, NO_CHECKSUM);
        open.writer.finish().map_err(DataError::refused(&path))?;
        let buffered = open.writer.into_inner().map_err(DataError::refused(&path))?;
        let fail = DataError::write(&path);
        let mut file = buffered.into_inner().map_err(|error| fail(error.into_error()))?;
        let written = Mapped::new(&path, MappedFile::of(file.as_file(), &path)?, &ReadOptions::default())?;
        file.seek(SeekFrom::Start(written.declared.checksum_at as u64)).map_err(fail)?;
        file.write_all(written.checksum(hashes).as_bytes()).map_err(fail)?;
        atomic::commit(file, &path).map_err(fail)
    }
}

impl Open {
    /// Writes the buffered episodes as a record batch.
    fn flush(&mut self) -> Result<(), ArrowError> {
        if self.batch.steps.is_empty() {
            return Ok(());
        }
        let gathered = std::mem::replace(&mut self.batch, ColumnBuffers::new(&self.spec));
        self.batch_bytes = 0;
        let batch = record_batch(gathered, &self.spec, self.writer.schema().clone());
        self.writer.write(&batch)
    }
}

impl EpisodeSink for ArrowWriter {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        let file = atomic::create(&self.path).map_err(DataError::write(&self.path))?;
        let writer = FileWriter::try_new(BufWriter::with_capacity(1 << 20, file), &schema_of(spec))
            .map_err(DataError::refused(&self.path))?;
        self.open =
            Some(Open { writer, spec: spec.clone(), batch: ColumnBuffers::new(spec), batch_bytes: 0 });
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let open = self.open.as_mut().expect("begin is called first");
        let bytes = open.spec.episode_bytes(episode.steps);
        // Offsets inside a batch have 31 bits, which is enough for the episodes of any reader.
        if bytes > MAX_EPISODE_BYTES {
            let problem = format!("an episode of {} steps takes {} MiB", episode.steps, bytes >> 20);
            return Err(DataError::setting(problem, "split episodes above 1 GiB"));
        }
        if open.batch_bytes + bytes > BATCH_BYTES {
            open.flush().map_err(DataError::refused(&self.path))?;
        }
        open.batch_bytes += bytes;
        open.batch.push(episode);
        Ok(())
    }
}

fn record_batch(episodes: ColumnBuffers, spec: &Spec, schema: SchemaRef) -> RecordBatch {
    let states = OffsetBuffer::from_lengths(episodes.steps.iter().map(|steps| steps + 1));
    let steps = OffsetBuffer::from_lengths(episodes.steps.iter().copied());
    let list = |name: &str, offsets: &OffsetBuffer<i32>, values: ArrayRef| -> ArrayRef {
        let DataType::List(row) = schema.field_with_name(name).expect("a column of the schema").data_type()
        else {
            unreachable!("every column but the last is a list")
        };
        Arc::new(ListArray::new(row.clone(), offsets.clone(), values, None))
    };
    let vectors = |name: &str, offsets: &OffsetBuffer<i32>, values: Vec<f32>, width: usize| {
        let item = Arc::new(Field::new("item", DataType::Float32, false));
        let rows = FixedSizeListArray::new(item, width as i32, Arc::new(Float32Array::from(values)), None);
        list(name, offsets, Arc::new(rows))
    };
    let mut columns = vec![vectors("observations", &states, episodes.observations, spec.observation.width)];
    if spec.action.width > 0 {
        columns.push(vectors("actions", &steps, episodes.actions, spec.action.width));
    }
    if spec.has_rewards {
        columns.push(list("rewards", &steps, Arc::new(Float32Array::from(episodes.rewards))));
    }
    if spec.has_timestamps {
        columns.push(list("timestamps", &states, Arc::new(Float64Array::from(episodes.timestamps))));
    }
    for (extra, values) in spec.extras.iter().zip(episodes.extras) {
        columns.push(vectors(&format!("extra.{}", extra.name), &states, values, extra.width));
    }
    columns
        .push(Arc::new(StringArray::from_iter_values(episodes.endings.iter().map(|ending| ending.name()))));
    RecordBatch::try_new(schema, columns).expect("columns made from the schema")
}

/// A mapped file whose structure is valid, but whose checksum is not yet verified.
struct Mapped {
    /// The dataset, without a content hash, which has to be computed.
    data: Dataset,
    file: MappedFile,
    declared: Declared,
}

/// The hashes that the footer declares.
struct Declared {
    content_hash: String,
    checksum: String,
    /// The offset of the checksum's digits in the file.
    checksum_at: usize,
}

impl Mapped {
    fn new(path: &Path, file: MappedFile, options: &ReadOptions) -> Result<Self, DataError> {
        file.advise(Access::Sequential);
        let (mut columns, declared) = parse(path, Buffer::from(file.bytes()))?;
        columns.mapping = Some(Mapping::new(vec![file.clone()]));
        options.complete(path, &mut columns.spec)?;
        Ok(Self { data: Dataset::new(columns), file, declared })
    }

    /// Returns the checksum of the file: of the hashes of all its numbers and of every other byte,
    /// except for the digits of the checksum itself.
    fn checksum(&self, hashes: &Hashes) -> String {
        let bytes = self.file.bytes();
        let digits = self.declared.checksum_at..self.declared.checksum_at + NO_CHECKSUM.len();
        let mut hashed = vec![digits];
        for block in self.data.blocks() {
            let columns = [&block.observations, &block.actions, &block.rewards];
            hashed.extend(columns.into_iter().chain(&block.extras).map(|values| self.file.range_of(values)));
            hashed.push(self.file.range_of(&block.timestamps));
        }
        hashed.retain(|range| !range.is_empty());
        hashed.sort_by_key(|range| range.start);
        let mut state = Sha256::new();
        state.update(&hashes.content);
        state.update(&hashes.rest);
        let mut at = 0;
        for range in hashed {
            // The columns of a file from another writer may overlap.
            state.update(&bytes[at.min(range.start)..range.start]);
            at = at.max(range.end);
        }
        state.update(&bytes[at..]);
        hexadecimal(state)
    }

    /// Returns whether the contents match the declared hashes.
    fn is_intact(&self, hashes: &Hashes) -> bool {
        self.declared.content_hash == hashes.content && self.declared.checksum == self.checksum(hashes)
    }
}

/// Maps one or more files after verifying their checksums, as one dataset with the episodes of all
/// files.
pub(crate) fn open(
    paths: &[impl AsRef<Path>],
    options: &ReadOptions,
    access: Access,
) -> Result<Dataset, DataError> {
    let mut all: Option<Join> = None;
    for path in paths {
        let path = path.as_ref();
        let mapped = Mapped::new(path, MappedFile::open(path)?, options)?;
        let all = all.get_or_insert_with(|| Join::new(mapped.data.spec().clone()));
        shards::require_same_spec(path, all.spec(), mapped.data.spec())?;
        let hashes = dataset_hash::hashes(&mapped.data, &mut all.hasher);
        if !mapped.is_intact(&hashes) {
            return Err(Defect::corrupt(path).into());
        }
        mapped.file.release();
        mapped.file.advise(access);
        all.push(mapped.data.into_columns());
    }
    let all = all.ok_or_else(|| DataError::setting("no file to map", "give at least one file"))?;
    Ok(all.finish())
}

/// Reads a file from front to back. If it is corrupt, the sink receives a defect after the last
/// episode.
pub(super) fn read(path: &Path, options: &ReadOptions, sink: &mut dyn EpisodeSink) -> Result<(), DataError> {
    let mapped = Mapped::new(path, MappedFile::open(path)?, options)?;
    let (data, mut hasher) = (&mapped.data, ContentHasher::default());
    hasher.begin(data.spec())?;
    sink.begin(data.spec())?;
    for number in 0..data.n_episodes() {
        let episode = data.episode(number);
        hasher.episode(&episode)?;
        sink.episode(&episode)?;
        data.touched(number);
    }
    if mapped.is_intact(&hasher.hashes()) { Ok(()) } else { sink.defect(Defect::corrupt(path)) }
}

/// Returns the dataset in the bytes of a file, without copying, and the hashes that its footer
/// declares. Everything that the file declares is checked.
fn parse(path: &Path, bytes: Buffer) -> Result<(Columns, Declared), DataError> {
    let fail = |problem: String| {
        let hint = Remedy::Writer
            .hint(|tool| format!("write the file with {tool}, or check that it was copied completely"));
        DataError::malformed(path, problem, hint)
    };
    let wrong = |error: &dyn std::fmt::Display| fail(format!("not a readable Arrow file: {error}"));
    let end = bytes.len().checked_sub(10).ok_or_else(|| fail("too short for an Arrow file".into()))?;
    let trailer = bytes[end..].try_into().expect("ten bytes");
    let footer_length = read_footer_length(trailer).map_err(|error| wrong(&error))?;
    let footer_start =
        end.checked_sub(footer_length).ok_or_else(|| fail("its footer is longer than the file".into()))?;
    let footer = root_as_footer(&bytes[footer_start..end]).map_err(|error| wrong(&error))?;
    let schema = footer.schema().ok_or_else(|| fail("it has no schema".into()))?;
    let schema = try_fb_to_schema(schema).map_err(|error| wrong(&error))?;
    let spec = schema.metadata().get(SPEC_KEY).ok_or_else(|| {
        let hint = "export it as Parquet or CSV, which are read by column names";
        DataError::malformed(path, "an Arrow file without trajectories", hint)
    })?;
    let spec: Spec = serde_json::from_str(spec).map_err(|error| fail(format!("{SPEC_KEY}: {error}")))?;
    spec.check().map_err(|problem| fail(problem.to_string()))?;
    if schema_of(&spec).fields() != schema.fields() {
        return Err(fail("its columns do not match its spec".into()));
    }
    let declared = |key: &str| {
        let entries = footer.custom_metadata()?;
        entries.iter().find(|entry| entry.key() == Some(key))?.value()
    };
    let content_hash = declared(HASH_KEY).ok_or_else(|| fail(format!("it has no {HASH_KEY}")))?.to_owned();
    let checksum =
        declared(CHECKSUM_KEY).filter(|digits| digits.len() == NO_CHECKSUM.len()).ok_or_else(|| {
            let hint = "convert or generate it again from its source";
            DataError::malformed(path, "it was written by an earlier version, without a checksum", hint)
        })?;
    let checksum_at = checksum.as_ptr() as usize - bytes.as_ptr() as usize;
    let declared = Declared { content_hash, checksum: checksum.to_owned(), checksum_at };

    let schema: SchemaRef = Arc::new(schema);
    let decoder = FileDecoder::new(schema, footer.version()).with_require_alignment(true);
    let (mut blocks, mut steps, mut first_state) = (Vec::new(), Vec::new(), 0);
    let mut places = Vec::new();
    for (number, place) in footer.recordBatches().iter().flatten().enumerate() {
        let broken = |problem: String| fail(format!("record batch {number}: {problem}"));
        let message = checked_message(&bytes[..footer_start], place).map_err(broken)?;
        let data = bytes.slice_with_length(place.offset() as usize, message);
        places.push(place.offset() as usize..place.offset() as usize + message);
        let batch = catch_panic(|| decoder.read_record_batch(place, &data)).map_err(broken)?;
        let batch = batch.ok_or_else(|| fail(format!("record batch {number} is empty")))?;
        let first_episode = steps.len();
        blocks.push(block_of(&spec, &batch, first_episode, first_state, &mut steps).map_err(broken)?);
        first_state += steps[first_episode..].iter().map(|&steps| steps as u64 + 1).sum::<u64>();
    }
    arrow_layout::check(&bytes, footer_start..end, &places).map_err(fail)?;
    let index = EpisodeIndex::new(steps.into_iter());
    Ok((Columns { spec, blocks, index, content_hash: String::new(), mapping: None }, declared))
}

/// Returns the length of a record batch's message and body, after checking that every declared
/// buffer lies inside the body.
fn checked_message(bytes: &[u8], place: &arrow_ipc::Block) -> Result<usize, String> {
    let outside = || "it lies outside the file".to_owned();
    let part = |number: i64| usize::try_from(number).map_err(|_| outside());
    let (offset, head, body) =
        (part(place.offset())?, part(place.metaDataLength().into())?, part(place.bodyLength())?);
    let length = head.checked_add(body).ok_or_else(outside)?;
    let end = offset.checked_add(length).filter(|&end| end <= bytes.len()).ok_or_else(outside)?;
    if !(offset + head).is_multiple_of(ALIGNMENT) {
        return Err("its body is not aligned".into());
    }
    let [0xff, 0xff, 0xff, 0xff, _, _, _, _, message @ ..] = &bytes[offset..end - body] else {
        return Err("its message has no prefix".into());
    };
    let message = root_as_message(message).map_err(|error| error.to_string())?;
    let batch = message.header_as_record_batch().ok_or("it is not a record batch")?;
    if batch.compression().is_some() {
        return Err("it is compressed, which cannot be mapped".into());
    }
    if batch.length() < 0 {
        return Err("it has a negative number of episodes".into());
    }
    for node in batch.nodes().iter().flatten() {
        if node.length() < 0 || node.null_count() != 0 {
            return Err("it has missing values".into());
        }
    }
    for buffer in batch.buffers().iter().flatten() {
        let (offset, length) = (part(buffer.offset())?, part(buffer.length())?);
        if offset.checked_add(length).is_none_or(|end| end > body) {
            return Err("a buffer lies outside its body".into());
        }
        if offset % ALIGNMENT != 0 {
            return Err("a buffer is not aligned".into());
        }
    }
    Ok(length)
}

/// Checks that the columns of a batch are consistent, and returns them without copying.
fn block_of(
    spec: &Spec,
    batch: &RecordBatch,
    first_episode: usize,
    first_state: u64,
    steps: &mut Vec<usize>,
) -> Result<Block, String> {
    let offsets =
        batch.column_by_name("observations").expect("a column of every spec").as_list::<i32>().offsets();
    for (from, to) in offsets.iter().zip(&offsets[1..]) {
        let states = (to - from) as usize;
        if states < 2 {
            return Err(format!("episode {} has no transition", steps.len()));
        }
        steps.push(states - 1);
    }
    let steps = &steps[first_episode..];
    // Returns None if the spec has no such column. The lengths of its lists must be those of the
    // observations, less `fewer`.
    let values_of = |name: &str, fewer: usize| -> Result<Option<&ArrayRef>, String> {
        let Some(column) = batch.column_by_name(name) else { return Ok(None) };
        let column = column.as_list::<i32>();
        let offsets = column.offsets();
        let mut lengths = offsets.iter().zip(&offsets[1..]).map(|(from, to)| (to - from) as usize).zip(steps);
        if let Some(episode) = lengths.position(|(length, &steps)| length != steps + 1 - fewer) {
            let (at, steps) = (first_episode + episode, steps[episode]);
            return Err(format!("column '{name}' of episode {at} has a wrong length for {steps} steps"));
        }
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        if first != 0 || last as usize != column.values().len() {
            return Err(format!("column '{name}' has values that belong to no episode"));
        }
        Ok(Some(column.values()))
    };
    let vectors = |name: &str, fewer: usize| -> Result<ScalarBuffer<f32>, String> {
        let rows = values_of(name, fewer)?.map(|rows| rows.as_fixed_size_list().values());
        Ok(numbers::<Float32Type>(rows))
    };
    let endings = batch.column_by_name("ending").expect("a column of every spec").as_string::<i32>().iter();
    let endings = endings
        .map(|name| name.and_then(Ending::from_name).ok_or_else(|| format!("unknown ending {name:?}")))
        .collect::<Result<_, _>>()?;
    let extras = spec.extras.iter().map(|extra| vectors(&format!("extra.{}", extra.name), 0));
    Ok(Block {
        file: 0,
        first_episode,
        first_state,
        observations: vectors("observations", 0)?,
        actions: vectors("actions", 1)?,
        rewards: numbers::<Float32Type>(values_of("rewards", 1)?),
        timestamps: numbers::<Float64Type>(values_of("timestamps", 0)?),
        extras: extras.collect::<Result<_, _>>()?,
        endings,
    })
}

/// Returns the numbers of a column without copying them; empty if there is no such column.
fn numbers<T: ArrowPrimitiveType>(column: Option<&ArrayRef>) -> ScalarBuffer<T::Native> {
    column.map_or_else(|| Vec::new().into(), |column| column.as_primitive::<T>().values().clone())
}
