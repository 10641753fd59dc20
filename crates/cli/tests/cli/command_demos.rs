//! Tests of `isochrone progress`, `isochrone doctor` and `isochrone gaps`.

use crate::run::{isochrone, isochrone_in, workspace};
use isochrone::data::ProgressFile;
use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path};

#[test]
fn help() {
    for command in ["progress", "doctor", "gaps"] {
        insta::assert_snapshot!(
            format!("help_{command}"),
            isochrone(&format!("{command} --help")).transcript()
        );
    }
}

/// Writes demonstrations along a line, with sideways noise: 12 that move on, one that stalls for 80
/// frames, a copy of the first, and one that ends halfway.
fn write_demos(path: &Path) {
    let mut text = String::from("episode,x,y,success\n");
    let mut episode = |number: usize, positions: &mut dyn Iterator<Item = f64>, seed: usize| {
        let positions: Vec<f64> = positions.collect();
        for (frame, x) in positions.iter().enumerate() {
            let noise = ((frame * 7919 + seed * 104_729) % 1009) as f64 / 1009.0 - 0.5;
            let y = (x * 0.1 + seed as f64).sin() + 0.01 * noise;
            let last = frame + 1 == positions.len();
            writeln!(text, "{number},{:.5},{y:.5},{}", x + 0.01 * noise, u8::from(last)).unwrap();
        }
    };
    let steps =
        |seed: usize| (0..100 + seed % 5).map(move |step| step as f64 * 100.0 / (99 + seed % 5) as f64);
    for number in 0..12 {
        episode(number, &mut steps(number), number);
    }
    let stalled = (0..50).chain(std::iter::repeat_n(50, 80)).chain(50..100).map(f64::from);
    episode(12, &mut stalled.into_iter(), 12);
    episode(13, &mut steps(0), 0);
    episode(14, &mut steps(14).take(50), 14);
    fs::write(path, text).unwrap();
}

fn succeeds(folder: &Path, arguments: &str) -> String {
    let outcome = isochrone_in(folder, arguments);
    assert_eq!(outcome.code, Some(0), "isochrone {arguments}: {}", outcome.stderr);
    outcome.stdout
}

const READ: &str = "demos.csv --observations x,y --fps 30";

#[test]
fn defects_are_found_with_their_frames_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    write_demos(&folder.path().join("demos.csv"));
    let found: Value =
        serde_json::from_str(&succeeds(folder.path(), &format!("doctor {READ} --html page.html --json")))
            .unwrap();
    let rules = |episode: usize| -> Vec<&str> {
        let findings = found["episodes"][episode]["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
    };
    for clean in 0..12 {
        assert!(rules(clean).is_empty(), "episode {clean}: {:?}", rules(clean));
    }
    assert_eq!((rules(12), rules(13), rules(14)), (vec!["stall"], vec!["duplicate"], vec!["end"]));
    let stall = &found["episodes"][12]["findings"][0];
    let frame = |name: &str| stall[name].as_u64().unwrap();
    assert!(frame("first_frame").abs_diff(50) < 15 && frame("end_frame").abs_diff(130) < 15, "{stall}");
    assert!(found["episodes"][13]["findings"][0]["message"].as_str().unwrap().contains("episode 0"));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("does not move for") && page.contains("episode 14"), "{}", page.len());
    let text = succeeds(folder.path(), &format!("doctor {READ}"));
    assert!(text.ends_with("3 of 15 episodes with findings\n"), "{text}");
}

#[test]
fn progress_rises_from_0_to_1_and_is_written_for_lerobot() {
    let folder = tempfile::tempdir().unwrap();
    write_demos(&folder.path().join("demos.csv"));
    let command = format!("progress {READ} -o progress.parquet --json");
    let report: Value = serde_json::from_str(&succeeds(folder.path(), &command)).unwrap();
    let file = ProgressFile::read(&folder.path().join("progress.parquet")).unwrap();
    assert_eq!(report["frames"], file.progress.len());
    let of = |episode: i64| -> Vec<f32> {
        let rows = file.frames.episode_index.iter().zip(&file.progress);
        rows.filter(|(own, _)| **own == episode).map(|(_, progress)| *progress).collect()
    };
    let clean = of(3);
    assert!(clean[0] < 0.1 && (clean[50] - 0.5).abs() < 0.15 && clean[clean.len() - 1] > 0.9, "{clean:?}");
    let stalled = of(12);
    assert!((stalled[125] - stalled[55]).abs() < 0.05, "{stalled:?}");
    assert!(report["rabc_zero_share"].as_f64().unwrap() < 0.2, "{report}");
    // A file of its own is replaced, with the same bytes for any number of threads.
    let before = fs::read(folder.path().join("progress.parquet")).unwrap();
    succeeds(folder.path(), &format!("{command} --threads 1"));
    assert!(fs::read(folder.path().join("progress.parquet")).unwrap() == before);
}

#[test]
fn lerobot_datasets_get_its_files_and_commands() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("arm");
    copy(&workspace().join("crates/data/tests/fixtures/lerobot"), &dataset);
    let text = succeeds(folder.path(), "progress arm --lerobot");
    assert!(text.contains("--sample_weighting.progress_path=arm/sarm_progress.parquet"), "{text}");
    let file = ProgressFile::read(&dataset.join("sarm_progress.parquet")).unwrap();
    assert_eq!(file.frames.index, (0..26).collect::<Vec<i64>>());
    succeeds(folder.path(), "progress arm");
    assert!(dataset.join("isochrone_progress.parquet").is_file());
    // A file of another program.
    fs::copy(
        workspace().join("crates/data/tests/fixtures/table-zstd.parquet"),
        dataset.join("sarm_progress.parquet"),
    )
    .unwrap();
    isochrone_in(folder.path(), "progress arm --lerobot").assert_refused("--lerobot", "another program");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn gaps_lists_connections_and_starts() {
    let folder = tempfile::tempdir().unwrap();
    write_demos(&folder.path().join("demos.csv"));
    let gaps: Value =
        serde_json::from_str(&succeeds(folder.path(), &format!("gaps {READ} --starts 2 --json"))).unwrap();
    assert_eq!(gaps["connected"], true, "{gaps}");
    assert_eq!(gaps["connections"][0]["from_task"], "");
    let text = succeeds(folder.path(), &format!("gaps {READ}"));
    assert!(text.contains("connected: hops of up to"), "{text}");
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_demos(&path.join("demos.csv"));
    fs::write(path.join("one.csv"), "episode,x\n0,1\n0,2\n0,3\n").unwrap();
    fs::write(path.join("page.html"), "mine").unwrap();
    for (arguments, expected) in [
        ("progress none -o p.parquet", "none"),
        ("progress demos.csv --observations x,y", "--output is missing"),
        ("progress demos.csv --observations z -o p.parquet", "'z'"),
        ("progress demos.csv --observations x,y -o p.parquet --chunk-size 0", "--chunk-size"),
        ("progress one.csv --observations x -o p.parquet", "at least 2 are needed"),
        ("doctor one.csv --observations x", "at least 2 are needed"),
        ("doctor demos.csv --observations x,y --html page.html", "already exists"),
        ("gaps none", "none"),
        ("gaps demos.csv --observations x,y --ends timeouts", "--ends"),
    ] {
        isochrone_in(path, arguments).assert_refused(arguments, expected);
    }
    assert!(!path.join("p.parquet").exists());
}
