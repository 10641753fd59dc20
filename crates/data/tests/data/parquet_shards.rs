//! Parquet datasets in shards: the same output for any number of parts, nothing half-written.

use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Int64Array, RecordBatch, StringArray, cast::AsArray as _,
    types::Float32Type,
};
use isochrone_data::{
    DataError,
    atomic::UNFINISHED,
    shards::{AddColumns, Goals, Keep, Part, RowReader, Shards, StateColumns, Written},
};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::properties::WriterProperties,
};
use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The numbers of rows of episodes.
const LENGTHS: [usize; 5] = [3, 8, 1, 7, 5];

/// Returns a table of episodes: row `i` of all has the state `[i, -i]` and the goal `[100, i]`.
fn table() -> RecordBatch {
    let episodes =
        LENGTHS.iter().enumerate().flat_map(|(episode, &n)| std::iter::repeat_n(7 * episode as i64, n));
    let n = LENGTHS.iter().sum::<usize>();
    let vectors = |second: fn(f32) -> f32, first: fn(f32) -> f32| -> ArrayRef {
        let rows = (0..n).map(|row| Some(vec![Some(first(row as f32)), Some(second(row as f32))]));
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 2))
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("name", Arc::new(StringArray::from_iter_values((0..n).map(|row| format!("row {row}"))))),
        ("episode", Arc::new(Int64Array::from_iter_values(episodes))),
        ("observation", vectors(|row| -row, |row| row)),
        ("goal", vectors(|row| row, |_| 100.0)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write(path: &Path, table: &RecordBatch, group_rows: usize) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
}

/// Writes shards that end within episodes.
fn shards(folder: &Path) -> Shards {
    let table = table();
    let n = table.num_rows();
    for (name, first, end) in
        [("a", 0, 5), ("b", 5, 9), ("sub/c", 9, 10), ("sub/d", 10, n), ("sub/empty", n, n)]
    {
        write(&folder.join(format!("{name}.parquet")), &table.slice(first, end - first), 2);
    }
    Shards::open(folder).unwrap()
}

fn job(goals: Goals) -> AddColumns {
    let states = StateColumns { width: 2, ..StateColumns::default() };
    AddColumns {
        states,
        goals,
        keep: Keep::All,
        names: vec!["sum".into(), "first".into()],
        computed: "1".into(),
    }
}

/// The sum of all differences, and the first value of the goal.
fn differences(from: &[f32], goals: &[f32]) -> Vec<Vec<f32>> {
    if goals.is_empty() {
        return vec![from.chunks_exact(2).map(|row| row[0]).collect(); 2];
    }
    let rows = || from.chunks_exact(2).zip(goals.chunks_exact(2));
    vec![
        rows().map(|(from, to)| to[0] - from[0] + to[1] - from[1]).collect(),
        rows().map(|(_, to)| to[0]).collect(),
    ]
}

fn run(job: &AddColumns, shards: &Shards, part: Part, folder: &Path) -> Result<Vec<Written>, DataError> {
    let units = shards.units(part);
    job.prepare(shards, &units, folder)?;
    units.iter().map(|unit| job.write(shards, unit, folder, &mut differences)).collect()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    found
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder)
        .into_iter()
        .map(|(path, bytes)| (path.strip_prefix(folder).unwrap().into(), bytes))
        .collect()
}

fn read(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    assert!(batches.len() <= 1);
    batches.into_iter().next().unwrap_or_else(|| RecordBatch::new_empty(schema))
}

#[test]
fn outputs_have_the_same_bytes_for_any_number_of_parts() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards(&folder.path().join("in"));
    for goals in [Goals::Fixed, Goals::Columns(vec!["goal".into()]), Goals::LastState] {
        let job = job(goals.clone());
        let once = folder.path().join(format!("once {goals:?}"));
        assert_eq!(run(&job, &shards, Part::ALL, &once).unwrap(), [Written::New; 5]);
        for count in [2, 3, 7] {
            let parts = folder.path().join(format!("parts {count} {goals:?}"));
            for index in 0..count {
                run(&job, &shards, Part::new(index, count).unwrap(), &parts).unwrap();
            }
            assert!(contents(&parts) == contents(&once), "{goals:?} in {count} parts");
        }
        assert_eq!(run(&job, &shards, Part::ALL, &once).unwrap(), [Written::Skipped; 5]);
    }
}

#[test]
fn goals_are_columns_or_the_last_state_of_an_episode_in_any_shard() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let shards = shards(&input);
    run(&job(Goals::LastState), &shards, Part::ALL, &output).unwrap();
    let table = table();
    let mut row = 0;
    for shard in shards.shards() {
        let (found, source) = (read(&output.join(&shard.name)), read(&input.join(&shard.name)));
        assert_eq!(found.columns()[..4], source.columns()[..], "{}", shard.name.display());
        assert_eq!(found.num_columns(), 6);
        for &last in found.column(5).as_primitive::<Float32Type>().values() {
            let episode = table.column(1).as_primitive::<arrow_array::types::Int64Type>();
            let end = (row..table.num_rows())
                .take_while(|&other| episode.value(other) == episode.value(row))
                .last();
            assert_eq!(last, end.unwrap() as f32, "row {row}");
            row += 1;
        }
    }
    assert_eq!(row, table.num_rows());
    let output = folder.path().join("columns");
    let job =
        AddColumns { keep: Keep::Named(vec!["name".into()]), ..job(Goals::Columns(vec!["goal".into()])) };
    run(&job, &shards, Part::ALL, &output).unwrap();
    let found = read(&output.join("a.parquet"));
    assert_eq!((found.num_columns(), found.column(2).as_primitive::<Float32Type>().value(3)), (3, 100.0));
}

#[test]
fn rows_without_a_complete_state_have_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let (path, output) = (folder.path().join("in.parquet"), folder.path().join("out"));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("obs_x", Arc::new(Float32Array::from(vec![Some(1.0), None, Some(3.0), Some(4.0)]))),
        ("obs_y", Arc::new(Float32Array::from(vec![1.0, 2.0, f32::INFINITY, 4.0]))),
    ];
    write(&path, &RecordBatch::try_from_iter(columns).unwrap(), 3);
    let shards = Shards::open(&path).unwrap();
    run(&job(Goals::Fixed), &shards, Part::ALL, &output).unwrap();
    let found = read(&output.join("in.parquet"));
    let found: Vec<Option<f32>> = found.column(2).as_primitive::<Float32Type>().iter().collect();
    assert_eq!(found, [Some(1.0), None, None, Some(4.0)]);
    let error = run(&job(Goals::LastState), &shards, Part::ALL, &folder.path().join("last")).unwrap_err();
    assert!(error.to_string().contains("no column identifies episodes"), "{error}");
    assert!(contents(&folder.path().join("last")).is_empty());
}

#[test]
fn other_data_columns_or_distances_are_errors_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let old = shards(&input);
    let job = job(Goals::LastState);
    run(&job, &old, Part::ALL, &output).unwrap();
    let before = contents(&output);
    let refused = |job: &AddColumns, shards: &Shards, expected: &str| {
        let error = run(job, shards, Part::ALL, &output).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("; hint: "), "{error}");
        assert!(contents(&output) == before);
    };
    refused(&AddColumns { computed: "2".into(), ..job.clone() }, &old, "another distance or goal");
    refused(&AddColumns { keep: Keep::Named(vec![]), ..job.clone() }, &old, "other columns");
    let states = StateColumns { width: 3, ..StateColumns::default() };
    std::fs::remove_file(output.join("a.parquet")).unwrap();
    let error = run(&AddColumns { states, ..job.clone() }, &old, Part::ALL, &output).unwrap_err().to_string();
    assert!(error.contains("observations (observation) of 2 dimensions, not 3"), "{error}");
    run(&job, &old, Part::ALL, &output).unwrap();
    // The last state of an episode in a.parquet is in b.parquet.
    let table = table();
    write(&input.join("b.parquet"), &table.slice(5, 3), 2);
    refused(&job, &Shards::open(&input).unwrap(), "a.parquet: the data changed");
    write(&input.join("b.parquet"), &table.slice(5, 4), 2);
    assert_eq!(run(&job, &Shards::open(&input).unwrap(), Part::ALL, &output).unwrap(), [Written::Skipped; 5]);
    // The last episode of the last shard could continue in a new one.
    write(&input.join("sub/new.parquet"), &table.slice(0, 1), 2);
    refused(&job, &Shards::open(&input).unwrap(), "the data changed");
}

#[test]
fn leftovers_are_removed_and_the_output_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let shards = shards(&input);
    std::fs::create_dir_all(output.join("sub")).unwrap();
    let left = [format!("{UNFINISHED}a.parquet-xyz123"), format!("sub/{UNFINISHED}d.parquet-xyz123")];
    let others = [format!("{UNFINISHED}other.parquet-xyz123"), "note.txt".into()];
    for name in left.iter().chain(&others) {
        std::fs::write(output.join(name), "half").unwrap();
    }
    run(&job(Goals::Fixed), &shards, Part::ALL, &output).unwrap();
    let found = contents(&output);
    assert!(left.iter().all(|name| !found.contains_key(Path::new(name))), "{:?}", found.keys());
    assert!(others.iter().all(|name| found.contains_key(Path::new(name))), "{:?}", found.keys());
    for inside in [&input.join("out"), &input, &input.join("sub")] {
        let error = run(&job(Goals::Fixed), &shards, Part::ALL, inside).unwrap_err().to_string();
        assert!(error.contains("would become part of the dataset"), "{error}");
    }
    std::fs::write(output.join("a.parquet"), "something else").unwrap();
    let error = run(&job(Goals::Fixed), &shards, Part::ALL, &output).unwrap_err().to_string();
    assert!(error.contains("a.parquet") && error.contains("hint:"), "{error}");
}

#[test]
fn rows_are_read_from_a_unit_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let shards = shards(folder.path());
    let columns = StateColumns { width: 2, ..StateColumns::default() };
    let units = shards.units(Part::ALL);
    assert_eq!(units.iter().map(|unit| unit.first_row).collect::<Vec<_>>(), [0, 5, 9, 10, 24]);
    let mut reader = RowReader::new(&shards, &columns, &units[1]);
    let (mut states, mut starts) = (Vec::new(), Vec::new());
    while let Some(rows) = reader.next().unwrap() {
        starts.extend(rows.starts.iter().map(|start| states.len() / 2 + start));
        states.extend(rows.states);
    }
    assert_eq!(
        states.iter().step_by(2).copied().collect::<Vec<_>>(),
        (5..24).map(|row| row as f32).collect::<Vec<_>>()
    );
    assert_eq!(starts, [0, 6, 7, 14]);
}
