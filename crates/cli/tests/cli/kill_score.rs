//! Scoring processes that are killed.
//!
//! Every test run kills a few; `just kill-test` kills 200.

use crate::score_data::{contents, train};
use isochrone::{
    data::tables::{Column, write_parquet},
    rng,
};
use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const SHARDS: usize = 12;
const SHARD_ROWS: usize = 20_000;

fn write(folder: &Path) {
    let mut random = rng::stream(1, 0);
    std::fs::create_dir_all(folder).unwrap();
    for shard in 0..SHARDS {
        let mut draw =
            || Column::Numbers((0..SHARD_ROWS).map(|_| 10.0 * rng::unit_f64(&mut random)).collect());
        let (x, y) = (draw(), draw());
        // Episodes of 700 rows continue in the next shard.
        let episodes = (0..SHARD_ROWS).map(|row| ((shard * SHARD_ROWS + row) / 700) as f64).collect();
        let columns = [("episode", Column::Numbers(episodes)), ("x", x), ("y", y)];
        write_parquet(&folder.join(format!("{shard:03}.parquet")), &columns).unwrap();
    }
}

/// Starts one of two parts.
fn start(folder: &Path, output: &str, part: usize) -> Child {
    let arguments =
        format!("score in {output} --run runs/a --to last --distance learned --threads 1 --part {part}/2");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

fn is_unfinished(name: &Path) -> bool {
    name.to_string_lossy().starts_with(".unfinished")
}

/// After a kill at any time, every file that is visible is complete, and the files of all parts are
/// finally bit-identical to those of processes that were not killed.
#[test]
fn killed_scores_continue() {
    let kills: u32 = std::env::var("ISOCHRONE_KILLS").map_or(8, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    train(path);
    write(&path.join("in"));
    let began = Instant::now();
    for part in [1, 2] {
        assert!(start(path, "once", part).wait().unwrap().success());
    }
    let (expected, duration) = (contents(&path.join("once")), began.elapsed() / 2);
    assert_eq!(expected.len(), SHARDS);

    let mut random = rng::stream(2, 0);
    let (mut killed, mut in_a_file, mut completed) = (0, 0, 0);
    while killed < kills {
        // Both parts write to the same folder at the same time.
        let mut parts = [1, 2].map(|part| start(path, "out", part));
        for child in &mut parts {
            std::thread::sleep(duration.mul_f64(0.6 * rng::unit_f64(&mut random)));
            killed += u32::from(child.try_wait().unwrap().is_none());
            let _ = child.kill();
            child.wait().unwrap();
        }
        if !path.join("out").exists() {
            continue;
        }
        let found = contents(&path.join("out"));
        let complete = found.iter().filter(|(name, _)| !is_unfinished(name));
        for (name, bytes) in complete.clone() {
            assert!(expected.get(name) == Some(bytes), "kill {killed}: {} is not complete", name.display());
        }
        in_a_file += u32::from(complete.count() < found.len());
        let is_finished = found.keys().filter(|name| !is_unfinished(name)).count() == SHARDS;
        if is_finished || killed >= kills {
            for part in [1, 2] {
                assert!(start(path, "out", part).wait().unwrap().success());
            }
            assert!(contents(&path.join("out")) == expected, "kill {killed}: the same files, and no others");
            std::fs::remove_dir_all(path.join("out")).unwrap();
            completed += 1;
        }
    }
    println!(
        "{killed} killed, {in_a_file} times while a file was written; {completed} times all files were completed"
    );
    assert!(completed > 0 && duration > Duration::ZERO);
    assert!(in_a_file > 0 || kills < 100, "some were killed while a file was written");
}
