//! LeRobot datasets: what their metadata add to the frames.

use crate::support::{episodes, read, write};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, Float32Array, Int64Array, ListArray,
    RecordBatch, StringArray, StructArray,
    builder::{ListBuilder, StringBuilder},
    types::{Float32Type, Int64Type},
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use isochrone_core::rng;
use isochrone_data::{
    Dataset,
    formats::{
        EmbeddingOptions, Extras, ReadOptions,
        lerobot::{Camera, FrameNumbers},
    },
};
use parquet::arrow::ArrowWriter;
use serde_json::json;
use std::{fs, path::Path, sync::Arc};

type Columns = Vec<(&'static str, ArrayRef)>;

/// Writes a Parquet table.
fn parquet(path: &Path, columns: Columns) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// The index of the first frame: float32 cannot represent all integers from here on.
const FIRST: i64 = 1 << 24;

/// Returns the columns of three episodes of three frames; the first two are of task 1.
fn frames() -> Columns {
    let of =
        |value: fn(i64) -> i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values((0..9).map(value))) };
    let states = (0..9).map(|frame| Some(vec![Some(frame as f32), Some(-frame as f32)]));
    vec![
        (
            "observation.state",
            Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(states, 2)),
        ),
        (
            "timestamp",
            Arc::new(Float32Array::from_iter_values((0..9).map(|frame| (frame % 3) as f32 / 10.0))),
        ),
        ("frame_index", of(|frame| frame % 3)),
        ("episode_index", of(|frame| frame / 3)),
        ("index", of(|frame| FIRST + frame)),
        ("task_index", of(|frame| i64::from(frame < 6))),
    ]
}

/// Returns the success flags of the frames: the first and the last episode succeed at the end.
fn successes() -> (&'static str, ArrayRef) {
    (
        "next.success",
        Arc::new(BooleanArray::from((0..9).map(|frame| frame == 2 || frame == 8).collect::<Vec<_>>())),
    )
}

/// Writes a dataset of one file.
fn dataset(root: &Path, frames: Columns) {
    parquet(&root.join("data/chunk-000/file-000.parquet"), frames);
    fs::create_dir_all(root.join("meta")).unwrap();
    let names = json!({"observation.state": {"dtype": "float32", "shape": [2], "names": ["arm", "gripper"]}});
    let info = json!({"codebase_version": "v3.0", "fps": 10, "total_episodes": 3, "total_frames": 9, "features": names});
    fs::write(root.join("meta/info.json"), info.to_string()).unwrap();
}

fn tasks(root: &Path) {
    let names: ArrayRef = Arc::new(StringArray::from(vec!["open the drawer", "close the drawer"]));
    // The order of rows is not that of the numbers.
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 0]));
    parquet(&root.join("meta/tasks.parquet"), vec![("task_index", numbers), ("task", names)]);
}

fn load(root: &Path) -> Dataset {
    read(root, &ReadOptions::default()).unwrap()
}

#[test]
fn tasks_and_successes_are_labels_of_episodes() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames().into_iter().chain([successes()]).collect());
    tasks(folder.path());
    let data = load(folder.path());
    let labels = data.labels();
    assert_eq!(labels.tasks, ["close the drawer", "open the drawer"]);
    assert_eq!(labels.task, [1, 1, 0]);
    assert_eq!(labels.success, [Some(true), Some(false), Some(true)]);

    let converted = folder.path().join("converted.arrow");
    write(&data, &converted);
    let mapped = Dataset::load(&converted, ReadOptions::default()).unwrap();
    assert_eq!(mapped.spec(), data.spec());
    assert_eq!(mapped.labels(), labels);
}

#[test]
fn tasks_of_version_2_are_lines_of_json() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let lines = "{\"task_index\": 0, \"task\": \"push\"}\n\n{\"task_index\": 1, \"task\": \"pull\"}\n";
    fs::write(folder.path().join("meta/tasks.jsonl"), lines).unwrap();
    let labels = load(folder.path()).labels();
    assert_eq!((labels.tasks, labels.success), (vec!["push".into(), "pull".into()], vec![None; 3]));

    fs::write(folder.path().join("meta/tasks.jsonl"), "{\"task_index\": 123456789012, \"task\": \"push\"}")
        .unwrap();
    let error = read(folder.path(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("task_index '123456789012' is not a number below 65536"), "{error}");
}

#[test]
fn datasets_without_names_of_tasks_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let without = load(folder.path());
    assert!(without.spec().extras.is_empty() && without.spec().tasks.is_empty());
    assert!(!serde_json::to_string(without.spec()).unwrap().contains("tasks"));
    tasks(folder.path());
    let with = load(folder.path());
    assert_eq!(with.spec().tasks.len(), 2);
    assert_eq!(with.content_hash(), without.content_hash());
    let options = ReadOptions::default().extras(Extras::Named(Vec::new()));
    assert_eq!(read(folder.path(), &options).unwrap().spec(), without.spec());
}

#[test]
fn numbers_of_frames_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let numbers = FrameNumbers::read(folder.path()).unwrap();
    assert_eq!(numbers.index, (FIRST..FIRST + 9).collect::<Vec<_>>());
    assert_eq!(numbers.episode_index, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    assert_eq!(numbers.frame_index, [0, 1, 2, 0, 1, 2, 0, 1, 2]);

    dataset(folder.path(), frames().into_iter().filter(|(name, _)| *name != "index").collect());
    let error = FrameNumbers::read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("file-000.parquet: no column 'index'"), "{error}");
}

/// Returns a column of lists, one list per row.
fn lists(rows: [&[i64]; 3]) -> ArrayRef {
    let rows = rows.map(|row| Some(row.iter().map(|&value| Some(value)).collect::<Vec<_>>()));
    Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(rows))
}

#[test]
fn the_last_row_keeps_its_reward_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    let rewards: ArrayRef = Arc::new(Float32Array::from_iter_values((0..9).map(|frame| frame as f32)));
    let done: ArrayRef = Arc::new(BooleanArray::from((0..9).map(|frame| frame % 3 == 2).collect::<Vec<_>>()));
    let outcomes = [("next.reward", rewards), ("next.done", done), successes()];
    dataset(folder.path(), frames().into_iter().chain(outcomes).collect());
    let data = load(folder.path());
    let names: Vec<&str> = data.spec().extras.iter().map(|extra| extra.name.as_str()).collect();
    assert_eq!(names, ["next.reward", "next.done", "next.success"]);
    let last = data.episode(2);
    assert_eq!(last.rewards, [6.0, 7.0], "the reward of each action");
    assert_eq!(last.extras[0], [6.0, 7.0, 8.0], "the rewards of all frames");
    assert_eq!(last.extras[1], [0.0, 0.0, 1.0]);
    assert_eq!(last.extras[2], [0.0, 0.0, 1.0]);
}

#[test]
fn several_columns_keep_the_names_of_their_dimensions() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = |width: i32| -> ArrayRef {
        let rows = (0..9).map(|_| Some(vec![Some(0.5); width as usize]));
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, width))
    };
    let more = [("observation.environment_state", vectors(2)), ("observation.embedding", vectors(3))];
    dataset(folder.path(), frames().into_iter().chain(more).collect());
    let named = |environment: [&str; 2]| {
        let path = folder.path().join("meta/info.json");
        let mut info: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        info["features"]["observation.environment_state"] = json!({"dtype": "float32", "names": environment});
        fs::write(&path, info.to_string()).unwrap();
        let columns = ["observation.state", "observation.environment_state", "observation.embedding"];
        let data = read(folder.path(), &ReadOptions::default().observations(columns)).unwrap();
        data.spec().observation.dimensions.clone()
    };
    let indexed = ["observation.embedding[0]", "observation.embedding[1]", "observation.embedding[2]"];
    assert_eq!(named(["cube_x", "cube_y"])[..4], ["arm", "gripper", "cube_x", "cube_y"]);
    assert_eq!(named(["cube_x", "cube_y"])[4..], indexed);
    assert_eq!(
        named(["arm", "cube"])[..4],
        [
            "observation.state.arm",
            "observation.state.gripper",
            "observation.environment_state.arm",
            "observation.environment_state.cube"
        ],
        "equal names start with those of their columns"
    );
}

#[test]
fn annotated_subtasks_are_an_extra_column() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let mut names = ListBuilder::new(StringBuilder::new());
    for row in [vec!["reach", "grasp"], vec!["grasp"], vec![]] {
        row.into_iter().for_each(|name| names.values().append_value(name));
        names.append(true);
    }
    let episodes: Columns = vec![
        ("episode_index", Arc::new(Int64Array::from(vec![0, 1, 2]))),
        ("length", Arc::new(Int64Array::from(vec![3; 3]))),
        ("sparse_subtask_names", Arc::new(names.finish())),
        ("sparse_subtask_start_frames", lists([&[0, 1], &[2], &[]])),
        ("sparse_subtask_end_frames", lists([&[1, 2], &[2], &[]])),
    ];
    parquet(&folder.path().join("meta/episodes/chunk-000/file-000.parquet"), episodes);
    let data = load(folder.path());
    assert_eq!(data.spec().subtasks, ["reach", "grasp"]);
    assert_eq!(data.spec().extras.last().unwrap().name, "subtask");
    let found: Vec<Vec<f32>> = (0..3).map(|episode| data.episode(episode).extras[0].to_vec()).collect();
    assert_eq!(found, [[0.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, -1.0, -1.0]]);
    let options = ReadOptions::default().extras(Extras::Named(Vec::new()));
    assert!(read(folder.path(), &options).unwrap().spec().subtasks.is_empty());
}

#[test]
fn subtasks_of_language_columns_start_at_their_times() {
    let folder = tempfile::tempdir().unwrap();
    // The first episode has two subtasks and a plan, the second none, the third one.
    let of_episode = [
        vec![("subtask", "reach", 0.0), ("plan", "all", 0.0), ("subtask", "grasp", 0.2)],
        vec![],
        vec![("subtask", "grasp", 0.1)],
    ];
    let entries: Vec<(&str, &str, f32)> =
        of_episode.iter().flat_map(|entries| [entries; 3]).flatten().copied().collect();
    let text = |pick: fn(&(&'static str, &'static str, f32)) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(entries.iter().map(pick)))
    };
    let times: ArrayRef = Arc::new(Float32Array::from_iter_values(entries.iter().map(|entry| entry.2)));
    let fields = [("style", text(|entry| entry.0)), ("content", text(|entry| entry.1)), ("timestamp", times)];
    let fields =
        fields.map(|(name, array)| (Arc::new(Field::new(name, array.data_type().clone(), true)), array));
    let entries = StructArray::from(fields.to_vec());
    let lengths = of_episode.iter().flat_map(|entries| [entries.len(); 3]);
    let item = Arc::new(Field::new("item", entries.data_type().clone(), true));
    let language = ListArray::new(item, OffsetBuffer::from_lengths(lengths), Arc::new(entries), None);
    let language: ArrayRef = Arc::new(language);
    dataset(folder.path(), frames().into_iter().chain([("language_persistent", language)]).collect());
    let data = load(folder.path());
    assert_eq!(data.spec().subtasks, ["reach", "grasp"]);
    let found: Vec<Vec<f32>> = (0..3).map(|episode| data.episode(episode).extras[0].to_vec()).collect();
    assert_eq!(found, [[0.0, 0.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]]);
}

#[test]
fn columns_that_cannot_be_read_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut notes = ListBuilder::new(StringBuilder::new());
    (0..9).for_each(|_| notes.append(true));
    let odd: [(&str, ArrayRef); 3] = [
        ("language_events", Arc::new(notes.finish())),
        ("observation.image", Arc::new(BinaryArray::from_vec(vec![b"png"; 9]))),
        ("comment", Arc::new(StringArray::from(vec!["fine"; 9]))),
    ];
    dataset(folder.path(), frames().into_iter().chain(odd).collect());
    assert!(load(folder.path()).spec().extras.is_empty());
}

#[test]
fn cameras_are_known_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    let path = folder.path().join("meta/info.json");
    let mut info: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    info["features"]["observation.images.top"] = json!({"dtype": "video", "shape": [480, 640, 3]});
    info["features"]["observation.images.front"] = json!({"dtype": "image"});
    fs::write(&path, info.to_string()).unwrap();
    let cameras: Vec<_> = Camera::of_dataset(folder.path()).unwrap();
    let camera = |name: &str, kind: &str, shape: &[u64]| Camera {
        name: format!("observation.images.{name}"),
        kind: kind.into(),
        shape: shape.to_vec(),
    };
    assert_eq!(cameras, [camera("front", "image", &[]), camera("top", "video", &[480, 640, 3])]);
}

/// Returns episodes of a random walk in 5 joints, and a table of 768 numbers per frame.
fn joints_and_noise(n_episodes: usize, steps: usize) -> (Dataset, Vec<f32>) {
    let mut random = rng::stream(3, 0);
    let mut draw = |scale: f64| (scale * rng::normal(&mut random)) as f32;
    let episode = |_| {
        let mut row: Vec<f32> = (0..5).map(|_| draw(1.0)).collect();
        let mut rows = Vec::new();
        for _ in 0..=steps {
            rows.extend(&row);
            row.iter_mut().for_each(|joint| *joint += draw(0.05));
        }
        (rows, Vec::new())
    };
    let episodes: Vec<_> = (0..n_episodes).map(episode).collect();
    let noise = (0..n_episodes * (steps + 1) * 768).map(|_| draw(1.0)).collect();
    (Dataset::from_arrays(5, 0, episodes).unwrap(), noise)
}

/// Writes a matrix as a NumPy array.
fn npy(path: &Path, width: usize, values: &[f32]) {
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {width}), }}", values.len() / width);
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.bytes());
    values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

/// Returns the share of the five nearest states of other episodes that two datasets agree on.
/// Dimensions are standardized and weighted.
fn agreement(a: &Dataset, b: &Dataset) -> f64 {
    let nearest = |data: &Dataset| -> Vec<Vec<usize>> {
        let width = data.spec().observation.width;
        let rows: Vec<f32> = episodes(data).into_iter().flat_map(|episode| episode.observations).collect();
        let n = rows.len() / width;
        let weight = |at: usize| data.spec().observation.weights.get(at).copied().unwrap_or(1.0);
        let scale = |at: usize| {
            let column = || rows.iter().skip(at).step_by(width).map(|&value| f64::from(value));
            let mean = column().sum::<f64>() / n as f64;
            let variance = column().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64;
            weight(at) / variance.sqrt() as f32
        };
        let scales: Vec<f32> = (0..width).map(scale).collect();
        let per_episode = n / data.n_episodes();
        let row = |at: usize| &rows[at * width..(at + 1) * width];
        let of = |from: usize| {
            let others = (0..n).filter(|to| to / per_episode != from / per_episode);
            let mut others: Vec<(f32, usize)> = others
                .map(|to| {
                    let terms = row(from).iter().zip(row(to)).zip(&scales);
                    (terms.map(|((a, b), scale)| ((a - b) * scale).powi(2)).sum(), to)
                })
                .collect();
            others.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            others[..5].iter().map(|(_, to)| *to).collect()
        };
        (0..n).step_by(29).map(of).collect()
    };
    let (a, b) = (nearest(a), nearest(b));
    let shared = a.iter().zip(&b).map(|(a, b)| a.iter().filter(|at| b.contains(at)).count()).sum::<usize>();
    shared as f64 / (5 * a.len()) as f64
}

#[test]
fn wide_embeddings_do_not_drown_joints() {
    let folder = tempfile::tempdir().unwrap();
    let (joints, noise) = joints_and_noise(40, 49);
    let (data, file) = (folder.path().join("joints.arrow"), folder.path().join("top.npy"));
    write(&joints, &data);
    npy(&file, 768, &noise);
    let with = |components: usize| {
        let embedding = EmbeddingOptions { components, ..EmbeddingOptions::new(&file) };
        Dataset::load(&data, ReadOptions::default().embeddings([embedding])).unwrap()
    };
    let reduced = with(EmbeddingOptions::COMPONENTS);
    assert_eq!(reduced.spec().observation.width, 5 + 16);
    assert_eq!(reduced.spec().observation.dimension(5), "top[0]");
    assert_eq!(reduced.content_hash(), with(16).content_hash(), "the same components every time");
    let (kept, unweighted) = (agreement(&joints, &reduced), {
        let mut spec = with(0).spec().clone();
        spec.observation.weights.clear();
        let plain = Dataset::from_episodes(&spec, episodes(&with(0))).unwrap();
        agreement(&joints, &plain)
    });
    println!("nearest neighbors kept: {kept:.3} with components, {unweighted:.3} with 768 plain dimensions");
    assert!(kept > 0.6 && unweighted < 0.2, "{kept} {unweighted}");
}

#[test]
fn embeddings_are_joined_by_the_index_of_the_frame() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), frames());
    // In another order than the frames, with a frame that the dataset does not have.
    let order: Vec<i64> = (0..10).rev().map(|frame| FIRST + frame).collect();
    let rows = order.iter().map(|index| Some(vec![Some((index - FIRST) as f32), Some(0.0), Some(0.0)]));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows));
    let file = folder.path().join("top.parquet");
    let write = |from: usize| {
        let table: Columns = vec![
            ("index", Arc::new(Int64Array::from(order[from..].to_vec()))),
            ("embedding", lists.slice(from, order.len() - from)),
        ];
        parquet(&file, table);
        read(folder.path(), &ReadOptions::default().embeddings([EmbeddingOptions::new(&file)]))
    };
    let data = write(0).unwrap();
    assert_eq!(data.spec().observation.dimensions, ["arm", "gripper", "top[0]", "top[1]", "top[2]"]);
    let of = |episode: usize| -> Vec<f32> {
        data.episode(episode).observations.chunks_exact(5).map(|row| row[2]).collect()
    };
    // The embedding is centered and scaled, and grows with the index.
    let scale = of(0)[1] - of(0)[0];
    assert!(scale > 0.0);
    for (episode, row) in [(0, 2), (1, 0), (2, 1)] {
        let expected = scale * (3.0 * episode as f32 + row as f32) + of(0)[0];
        assert!((of(episode)[row] - expected).abs() < 1e-5, "{:?}", of(episode));
    }
    let error = write(2).unwrap_err().to_string();
    assert!(error.contains("top.parquet: no row for index 16777224, frame 2 of episode 2"), "{error}");
}
