//! The isochrone Arrow format compared with Parquet: the same episodes, with rows read at random.

use crate::synthetic::{STEPS, WIDTHS, sampler, send};
use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isochrone_data::{
    Access, DataError, Dataset, EpisodeSink, EpisodeView, Spec, formats::Writer, sampling::GoalBatch,
};
use parquet::{
    arrow::{
        ArrowWriter,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
            RowSelector,
        },
    },
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};
use std::{fs::File, path::Path, sync::Arc, time::Instant};

const EPISODES: usize = 300;
/// The number of episodes in a row group: few, so that little is decoded for a row.
const GROUP_EPISODES: usize = 10;

/// Writes a row per state, in row groups that end between episodes, with small pages and a page
/// index, which suits random reads best.
struct ParquetSink {
    writer: ArrowWriter<File>,
    schema: Arc<Schema>,
    episodes: usize,
}

fn vectors(values: &[f32], width: usize) -> ArrayRef {
    let item = Arc::new(Field::new("item", DataType::Float32, false));
    let values = Arc::new(Float32Array::from(values.to_vec()));
    Arc::new(FixedSizeListArray::new(item, width as i32, values, None))
}

impl ParquetSink {
    fn new(path: &Path, compression: Compression) -> Self {
        let kind = |width: usize| {
            DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Float32, false)), width as i32)
        };
        let schema = Arc::new(Schema::new(vec![
            Field::new("observations", kind(WIDTHS.0), false),
            Field::new("actions", kind(WIDTHS.1), false),
        ]));
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(64)
            .set_write_batch_size(64)
            .build();
        let writer =
            ArrowWriter::try_new(File::create(path).unwrap(), schema.clone(), Some(properties)).unwrap();
        Self { writer, schema, episodes: 0 }
    }
}

impl EpisodeSink for ParquetSink {
    fn begin(&mut self, _: &Spec) -> Result<(), DataError> {
        Ok(())
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        let mut actions = episode.actions.to_vec();
        actions.resize(actions.len() + WIDTHS.1, 0.0);
        let columns = vec![vectors(episode.observations, WIDTHS.0), vectors(&actions, WIDTHS.1)];
        let batch = RecordBatch::try_new(self.schema.clone(), columns).unwrap();
        self.writer.write(&batch).unwrap();
        self.episodes += 1;
        if self.episodes.is_multiple_of(GROUP_EPISODES) {
            self.writer.flush().unwrap();
        }
        Ok(())
    }
}

/// Returns the number of states per second that are read at random, one at a time.
fn parquet_states_per_second(path: &Path) -> f64 {
    let file = File::open(path).unwrap();
    let options =
        ArrowReaderOptions::new().with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Required);
    let metadata = ArrowReaderMetadata::load(&file, options).unwrap();
    let mut random = isochrone_core::rng::stream(1, 0);
    let start = Instant::now();
    let mut states = 0;
    while start.elapsed().as_secs_f64() < 2.0 {
        let state = isochrone_core::rng::below(&mut random, EPISODES * (STEPS + 1));
        let per_group = GROUP_EPISODES * (STEPS + 1);
        let selection =
            RowSelection::from(vec![RowSelector::skip(state % per_group), RowSelector::select(1)]);
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone().unwrap(), metadata.clone())
                .with_row_groups(vec![state / per_group])
                .with_row_selection(selection)
                .with_batch_size(1)
                .build()
                .unwrap();
        assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 1);
        states += 1;
    }
    f64::from(states) / start.elapsed().as_secs_f64()
}

pub fn run() {
    let folder = tempfile::tempdir().unwrap();
    println!("## The isochrone Arrow format and Parquet\n");
    println!(
        "{} transitions in the page cache; random reads of a state and its action by one thread.\n",
        EPISODES * STEPS
    );
    println!("| file | MiB | writing (s) | opening (ms) | states/s |\n|---|---|---|---|---|");
    let path = folder.path().join("x.arrow");
    let start = Instant::now();
    let mut writer = Writer::for_path(&path).unwrap();
    send(EPISODES, &mut writer);
    writer.finish().unwrap();
    let writing = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mapped = Dataset::open(&path, Access::Random).unwrap();
    let opening = start.elapsed().as_secs_f64() * 1e3;
    let size = |path: &Path| std::fs::metadata(path).unwrap().len() >> 20;
    let ours = sampler(mapped, 1024);
    let mut batch = GoalBatch::default();
    let (mut steps, start) = (0u64, Instant::now());
    while start.elapsed().as_secs_f64() < 2.0 {
        ours.fill(steps, &mut batch);
        steps += 1;
    }
    // A row has three states and two actions, at two places.
    let states = (2 * 1024 * steps) as f64 / start.elapsed().as_secs_f64();
    println!("| Arrow, mapped | {} | {writing:.2} | {opening:.2} | {states:.0} |", size(&path));
    let kinds = [
        ("plain", Compression::UNCOMPRESSED),
        ("Snappy", Compression::SNAPPY),
        ("Zstandard", Compression::ZSTD(ZstdLevel::default())),
    ];
    for (name, compression) in kinds {
        let path = folder.path().join(format!("{name}.parquet"));
        let start = Instant::now();
        let mut sink = ParquetSink::new(&path, compression);
        send(EPISODES, &mut sink);
        sink.writer.close().unwrap();
        let writing = start.elapsed().as_secs_f64();
        let start = Instant::now();
        ArrowReaderMetadata::load(&File::open(&path).unwrap(), ArrowReaderOptions::new()).unwrap();
        let opening = start.elapsed().as_secs_f64() * 1e3;
        let states = parquet_states_per_second(&path);
        println!("| Parquet, {name} | {} | {writing:.2} | {opening:.2} | {states:.0} |", size(&path));
    }
    println!();
}
