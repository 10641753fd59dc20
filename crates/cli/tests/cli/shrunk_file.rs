//! Mapped files that another process truncates.

use isochrone::data::{Dataset, formats::Writer};
use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const WIDTH: usize = 64;
const EPISODES: usize = 100;
const STEPS: usize = 2800;
/// Larger files are mapped.
const MAX_COPY_BYTES: u64 = 64 << 20;

fn write(path: &Path) {
    let states = |episode: usize| (0..(STEPS + 1) * WIDTH).map(move |value| (episode + value) as f32);
    let episodes = (0..EPISODES).map(|episode| (states(episode).collect::<Vec<_>>(), vec![0.5; STEPS]));
    let data = Dataset::from_arrays(WIDTH, 1, episodes).unwrap();
    let mut writer = Writer::for_path(path).unwrap();
    data.send(&mut writer).unwrap();
    writer.finish().unwrap();
}

/// Training ends with an error that names the file, not by a signal without a message.
#[cfg(unix)]
#[test]
fn training_on_a_file_that_shrinks_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("states.arrow");
    write(&path);
    assert!(path.metadata().unwrap().len() > MAX_COPY_BYTES, "the file is mapped");
    let arguments = "train --data states.arrow --size small --threads 1 --run r steps=1000000000 batch_size=16 metrics.every=1 metrics.evaluate_every=0 checkpoints.every=1000000";
    let mut child = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(arguments.split_whitespace())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(File::create(folder.path().join("stderr")).unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let is_training =
        || std::fs::metadata(folder.path().join("r/metrics.jsonl")).is_ok_and(|file| file.len() > 0);
    while !is_training() {
        assert!(child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(20));
    }
    File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    let status = child.wait().unwrap();
    let stderr = std::fs::read_to_string(folder.path().join("stderr")).unwrap();
    assert_eq!(status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("states.arrow: the file became shorter while it was in use; hint: "), "{stderr}");
}
