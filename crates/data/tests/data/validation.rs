//! Every rule finds its problem, names the location, and finds nothing in clean data.

use crate::support::{gather, random_walks, write};
use hdf5_pure::FileBuilder;
use isochrone_data::{
    Bounds, Episode, Spec,
    formats::{Ends, Format, ReadOptions},
    validate::{Finding, Rule, Severity, Validation, validate},
};
use std::path::{Path, PathBuf};

/// A table of walks: episode, frame, time, state, action.
struct Table {
    rows: Vec<[f64; 6]>,
}

impl Table {
    /// Returns three walks of twelve states without repetition.
    fn clean() -> Self {
        let mut rows = Vec::new();
        for episode in 0..3 {
            for frame in 0..12 {
                let phase = f64::from(frame) * 0.3 + f64::from(episode) * 7.1;
                let (x, y) = (phase.sin() + 0.01 * phase, (1.3 * phase).cos());
                rows.push([
                    f64::from(episode),
                    f64::from(frame),
                    f64::from(frame) / 10.0,
                    x,
                    y,
                    0.5 * phase.cos(),
                ]);
            }
        }
        Self { rows }
    }

    /// Changes a row of an episode.
    fn with(mut self, episode: usize, row: usize, change: impl FnOnce(&mut [f64; 6])) -> Self {
        change(&mut self.rows[12 * episode + row]);
        self
    }

    fn validate(&self, options: &ReadOptions) -> Validation {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let mut text = "episode,frame_index,time,obs_x,obs_y,action\n".to_owned();
        for row in &self.rows {
            text += &row.map(|value| value.to_string()).join(",");
            text += "\n";
        }
        std::fs::write(&path, text).unwrap();
        validate(&path, Format::Csv, options).unwrap()
    }
}

/// Returns the findings, all of which must be of this rule.
fn only(found: &Validation, rule: Rule) -> &[Finding] {
    assert!(!found.findings.is_empty(), "{rule:?} finds nothing");
    assert!(found.findings.iter().all(|finding| finding.rule == rule), "{:#?}", found.findings);
    assert!(found.findings.iter().all(|finding| !finding.hint.text.is_empty()));
    &found.findings
}

fn location(finding: &Finding) -> (Option<usize>, Option<usize>, Severity) {
    (finding.episode, finding.row, finding.severity)
}

#[test]
fn clean_data_pass() {
    let found = Table::clean().validate(&ReadOptions::default());
    assert_eq!(found.findings, [], "{:#?}", found.findings);
    assert!(found.unchecked.is_empty(), "{:?}", found.unchecked);
}

#[test]
fn rules_without_the_data_they_need_are_reported_as_unchecked() {
    let spec = Spec::new(2, 1);
    let mut walks = random_walks(&spec, [30, 30], 1);
    walks.iter_mut().for_each(|walk| walk.actions.iter_mut().for_each(|action| *action *= 40.0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.arrow");
    write(&gather(&spec, &walks), &path);
    let found = validate(&path, Format::Arrow, &ReadOptions::default()).unwrap();
    assert_eq!(found.findings, []);
    assert_eq!(found.unchecked.keys().copied().collect::<Vec<_>>(), [Rule::ActionRange, Rule::FrameRate]);
}

#[test]
fn not_finite() {
    let found = Table::clean().with(1, 4, |row| row[4] = f64::NAN).validate(&ReadOptions::default());
    let findings = only(&found, Rule::NotFinite);
    assert_eq!(location(&findings[0]), (Some(1), Some(4), Severity::Error));
    assert!(findings[0].problem.contains("obs_y is NaN"), "{}", findings[0].problem);
    let found = Table::clean().with(2, 0, |row| row[5] = f64::INFINITY).validate(&ReadOptions::default());
    assert_eq!(location(&only(&found, Rule::NotFinite)[0]), (Some(2), Some(0), Severity::Error));
}

#[test]
fn a_missing_last_action_is_not_a_defect() {
    let found = Table::clean().with(1, 11, |row| row[5] = f64::NAN).validate(&ReadOptions::default());
    assert_eq!(found.findings, []);
}

#[test]
fn constant() {
    let mut table = Table::clean();
    table.rows.iter_mut().for_each(|row| row[4] = 7.0);
    let found = table.validate(&ReadOptions::default());
    let findings = only(&found, Rule::Constant);
    assert_eq!(location(&findings[0]), (None, None, Severity::Warning));
    assert!(findings[0].problem.contains("obs_y is always 7"), "{}", findings[0].problem);
}

#[test]
fn duplicate() {
    let mut table = Table::clean();
    let first: Vec<[f64; 6]> = table.rows[..12].to_vec();
    table.rows.extend(first.into_iter().map(|mut row| {
        row[0] = 3.0;
        row
    }));
    let found = table.validate(&ReadOptions::default());
    let findings = only(&found, Rule::Duplicate);
    assert_eq!(location(&findings[0]), (Some(3), Some(0), Severity::Error));
    assert!(findings[0].problem.contains("episode 0"), "{}", findings[0].problem);
}

#[test]
fn overlap() {
    let mut table = Table::clean();
    // A window that begins at row 3 of the last walk.
    let tail: Vec<[f64; 6]> = table.rows[27..36].to_vec();
    table.rows.extend(tail.into_iter().enumerate().map(|(frame, mut row)| {
        (row[0], row[1], row[2]) = (9.0, frame as f64, frame as f64 / 10.0);
        row
    }));
    let found = table.validate(&ReadOptions::default());
    let findings = only(&found, Rule::Overlap);
    assert_eq!(location(&findings[0]), (Some(2), Some(3), Severity::Warning));
    assert!(findings[0].problem.contains("episode 3 begins with"), "{}", findings[0].problem);
}

#[test]
fn a_robot_at_rest_does_not_overlap() {
    let mut table = Table::clean();
    for episode in 0..3 {
        (0..9).for_each(|frame| table.rows[12 * episode + frame][3..5].copy_from_slice(&[0.0, 1.0]));
    }
    let found = table.validate(&ReadOptions::default());
    assert_eq!(found.count_of(Rule::Overlap), 0, "{:#?}", found.findings);
}

#[test]
fn action_range() {
    let options = ReadOptions {
        action_bounds: Some(Bounds { low: Some(-0.5), high: Some(0.5) }),
        ..ReadOptions::default()
    };
    assert_eq!(Table::clean().validate(&options).findings, []);
    let found = Table::clean().with(1, 2, |row| row[5] = -0.51).validate(&options);
    assert_eq!(location(&only(&found, Rule::ActionRange)[0]), (Some(1), Some(2), Severity::Error));
}

#[test]
fn actions_that_look_bounded_are_checked_against_the_bounds() {
    let spec = Spec::new(2, 1);
    let mut walks = random_walks(&spec, [200, 200], 6);
    walks[1].actions[17] = 1.5;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.arrow");
    write(&gather(&spec, &walks), &path);
    let found = validate(&path, Format::Arrow, &ReadOptions::default()).unwrap();
    assert_eq!(location(&only(&found, Rule::ActionRange)[0]), (Some(1), Some(17), Severity::Warning));
}

#[test]
fn jump() {
    let mut table = Table::clean();
    // The environment was reset in the middle of an episode, and the rest of it is elsewhere.
    (6..12).for_each(|row| table.rows[12 + row][3] += 60.0);
    let found = table.validate(&ReadOptions::default());
    let findings = only(&found, Rule::Jump);
    assert_eq!((findings.len(), location(&findings[0])), (1, (Some(1), Some(5), Severity::Warning)));
    assert!(findings[0].problem.contains("obs_x goes from"), "{}", findings[0].problem);
}

#[test]
fn frame_rate() {
    let mut table = Table::clean();
    (5..12).for_each(|row| table.rows[row][2] += 0.4);
    let found = table.validate(&ReadOptions::default());
    let findings = only(&found, Rule::FrameRate);
    assert_eq!((findings.len(), location(&findings[0])), (1, (Some(0), Some(4), Severity::Warning)));
    assert!(findings[0].problem.contains("0.5000 s"), "{}", findings[0].problem);
    let found = Table::clean().with(2, 7, |row| row[2] = 0.0).validate(&ReadOptions::default());
    let backwards = found.findings.iter().find(|finding| finding.severity == Severity::Error).unwrap();
    assert_eq!((backwards.rule, backwards.episode, backwards.row), (Rule::FrameRate, Some(2), Some(6)));
    // A rate that differs from the timestamps is one error, not one for every row.
    let options = ReadOptions { frames_per_second: Some(50.0), ..ReadOptions::default() };
    let found = Table::clean().validate(&options);
    let findings = only(&found, Rule::FrameRate);
    assert_eq!((findings.len(), location(&findings[0])), (1, (None, None, Severity::Error)));
    assert!(
        findings[0]
            .problem
            .contains("declared frame rate is 50 per second, but that of the timestamps is 10.00"),
        "{}",
        findings[0].problem
    );
}

#[test]
fn frames() {
    let mut table = Table::clean();
    table.rows.remove(12 + 5);
    let found = table.validate(&ReadOptions::default());
    let finding = found.findings.iter().find(|finding| finding.rule == Rule::Frames).unwrap();
    assert_eq!((location(finding), found.count_of(Rule::Frames)), ((Some(1), Some(5), Severity::Error), 1));
    assert!(finding.problem.contains("frame_index 6"), "{}", finding.problem);
}

#[test]
fn empty() {
    let mut table = Table::clean();
    table.rows.push([4.0, 0.0, 0.0, 0.3, 0.3, 0.1]);
    let found = table.validate(&ReadOptions::default());
    assert_eq!(location(&only(&found, Rule::Empty)[0]), (Some(3), Some(0), Severity::Error));
}

#[test]
fn ends_of_tables() {
    let mut table = Table::clean();
    // The number of the first episode occurs again.
    (24..36).for_each(|row| table.rows[row][0] = 0.0);
    let found = table.validate(&ReadOptions::default());
    assert_eq!(location(&only(&found, Rule::Ends)[0]), (Some(2), Some(0), Severity::Error));
}

/// Writes a D4RL file of 40 rows that increase by 0.1 and are reset by 5 at row 20.
fn d4rl(folder: &Path, terminal: Option<usize>, timeouts: &[usize], has_goal: bool) -> PathBuf {
    let path = folder.join("x.hdf5");
    let flags = |rows: &[usize]| -> Vec<u8> { (0..40).map(|row| u8::from(rows.contains(&row))).collect() };
    let states: Vec<f32> = (0..40u8)
        .flat_map(|row| {
            [0.1 * f32::from(row) + if row >= 20 { 5.0 } else { 0.0 }, (0.5 * f32::from(row)).sin()]
        })
        .collect();
    let actions: Vec<f32> = (0..40u8).map(|row| f32::from(row).cos()).collect();
    let mut file = FileBuilder::new();
    file.create_dataset("observations").with_f32_data(&states).with_shape(&[40, 2]);
    file.create_dataset("actions").with_f32_data(&actions).with_shape(&[40, 1]);
    file.create_dataset("rewards").with_f32_data(&[0.0; 40]);
    let terminals: Vec<usize> = terminal.into_iter().collect();
    file.create_dataset("terminals").with_u8_data(&flags(&terminals));
    file.create_dataset("timeouts").with_u8_data(&flags(timeouts));
    if has_goal {
        let mut infos = file.create_group("infos");
        infos.create_dataset("goal").with_f32_data(&states).with_shape(&[40, 2]);
        file.add_group(infos.finish());
    }
    file.write(&path).unwrap();
    path
}

#[test]
fn terminals_against_timeouts() {
    let folder = tempfile::tempdir().unwrap();
    // Terminal at the reset, timeout at the end: split at timeouts alone, the two halves would be
    // one episode.
    let path = d4rl(folder.path(), Some(19), &[39], false);
    let found = validate(&path, Format::D4rl, &ReadOptions::default()).unwrap();
    let finding = only(&found, Rule::Ends).first().unwrap();
    assert_eq!(location(finding), (Some(0), Some(19), Severity::Error));
    assert!(finding.hint.text.contains("`ReadOptions::ends` to either"), "{}", finding.hint);
    // Following the hint resolves the error.
    let options = ReadOptions { ends: Ends::Either, ..ReadOptions::default() };
    assert_eq!(validate(&path, Format::D4rl, &options).unwrap().findings, []);
    // If the file stores a goal, a terminal is a visit to it.
    let path = d4rl(folder.path(), Some(7), &[19, 39], true);
    assert_eq!(validate(&path, Format::D4rl, &ReadOptions::default()).unwrap().findings, []);
    // If the environment was reset there after all, the jump is found.
    let path = d4rl(folder.path(), Some(19), &[39], true);
    let found = validate(&path, Format::D4rl, &ReadOptions::default()).unwrap();
    assert_eq!(location(&only(&found, Rule::Jump)[0]), (Some(0), Some(19), Severity::Warning));
}

#[test]
fn no_ends_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = d4rl(folder.path(), None, &[], false);
    let found = validate(&path, Format::D4rl, &ReadOptions::default()).unwrap();
    assert_eq!(found.findings[0].rule, Rule::Ends);
    assert!(found.findings[0].problem.contains("none of its 40 rows"), "{}", found.findings[0].problem);
}

#[test]
fn terminals_on_the_last_two_rows() {
    // OGBench's compact in-memory form, saved by mistake.
    let spec = Spec::new(2, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    write(&gather(&spec, &random_walks(&spec, [20, 20], 3)), &path);
    set_terminals(&path, &[19, 20, 40, 41]);
    let found = validate(&path, Format::OgBench, &ReadOptions::default()).unwrap();
    let findings = only(&found, Rule::Empty);
    assert_eq!(findings.len(), 2);
    assert!(findings[0].hint.text.contains("on its last row only"));
    set_terminals(&path, &[20]);
    let found = validate(&path, Format::OgBench, &ReadOptions::default()).unwrap();
    assert_eq!(location(&only(&found, Rule::Ends)[0]), (Some(1), Some(20), Severity::Error));
}

/// Replaces an archive's terminals.
fn set_terminals(path: &Path, set: &[usize]) {
    use std::io::Write as _;
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let entry = archive.by_index_raw(at).unwrap();
        if !entry.name().unwrap().starts_with("terminals") {
            writer.raw_copy_file(entry).unwrap();
        }
    }
    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (42,), }\n";
    writer.start_file("terminals.npy", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(b"\x93NUMPY\x01\x00").unwrap();
    writer.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    writer.write_all(header.as_bytes()).unwrap();
    writer.write_all(&(0..42).map(|row| u8::from(set.contains(&row))).collect::<Vec<u8>>()).unwrap();
    std::fs::write(path, writer.finish().unwrap().into_inner()).unwrap();
}

#[test]
fn lengths() {
    // As many observations as actions: the last state was not saved.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main_data.hdf5");
    let mut file = FileBuilder::new();
    for (number, states) in [11u64, 10, 11].into_iter().enumerate() {
        let mut group = file.create_group(&format!("episode_{number}"));
        let values =
            |n: u64| -> Vec<f32> { (0..n).map(|at| (at as f32 + number as f32 * 100.0).sin()).collect() };
        group.create_dataset("observations").with_f32_data(&values(states * 2)).with_shape(&[states, 2]);
        group.create_dataset("actions").with_f32_data(&values(10)).with_shape(&[10, 1]);
        file.add_group(group.finish());
    }
    file.write(&path).unwrap();
    let found = validate(&path, Format::Minari, &ReadOptions::default()).unwrap();
    let findings = only(&found, Rule::Lengths);
    assert_eq!(location(&findings[0]), (Some(1), None, Severity::Error));
    assert!(
        findings[0].problem.contains("10 observations for 10 actions, not 11"),
        "{}",
        findings[0].problem
    );
}

#[test]
fn content_hash() {
    let spec = Spec::new(2, 1);
    let walks: Vec<Episode> = random_walks(&spec, [50, 60], 8);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.arrow");
    write(&gather(&spec, &walks), &path);
    assert_eq!(validate(&path, Format::Arrow, &ReadOptions::default()).unwrap().findings, []);
    let mut bytes = std::fs::read(&path).unwrap();
    let value = walks[1].observations[31].to_le_bytes();
    let at = bytes.windows(4).position(|window| window == value).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let found = validate(&path, Format::Arrow, &ReadOptions::default()).unwrap();
    assert_eq!(location(&only(&found, Rule::ContentHash)[0]), (None, None, Severity::Error));
}

#[test]
fn every_rule_has_a_name() {
    let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Rule::ALL.len());
}

#[test]
fn findings_count_broken_episodes() {
    let mut table = Table::clean().with(2, 3, |row| row[3] = f64::NAN);
    table.rows.drain(1..12);
    let found = table.validate(&ReadOptions::default());
    let places: Vec<_> = found.findings.iter().map(|finding| (finding.rule, finding.episode)).collect();
    assert_eq!(places, [(Rule::Empty, Some(0)), (Rule::NotFinite, Some(2))]);
}

#[test]
fn an_empty_table_is_an_error() {
    let found = Table { rows: Vec::new() }.validate(&ReadOptions::default());
    assert_eq!(location(&only(&found, Rule::Empty)[0]), (None, None, Severity::Error));
}

#[test]
fn constant_timestamps_are_errors() {
    let mut table = Table::clean();
    table.rows.iter_mut().for_each(|row| row[2] = 3.0);
    let found = table.validate(&ReadOptions::default());
    assert_eq!(only(&found, Rule::FrameRate).len(), 33, "none is left out");
    assert_eq!(found.count_of(Rule::FrameRate), 33);
    assert!(found.is_complete());
}

#[test]
fn missing_episodes_of_a_lerobot_dataset_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let root = crate::support::fixtures().join("lerobot");
    for name in
        ["meta/info.json", "meta/episodes/chunk-000/file-000.parquet", "data/chunk-000/file-000.parquet"]
    {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(root.join(name), path).unwrap();
    }
    let found = validate(folder.path(), Format::LeRobot, &ReadOptions::default()).unwrap();
    let finding = found.findings.iter().find(|finding| finding.rule == Rule::Lengths).unwrap();
    assert!(finding.problem.contains("declare 3 episodes, but the data have 1"), "{}", finding.problem);
}
