//! Distillation of teachers with distances in closed form.

use crate::support::resealed;
use isochrone_core::{Discount, ShapeError, TemporalDistance, rng};
use isochrone_data::Dataset;
use isochrone_learn::{
    distill::{DistillConfig, DistillHead, DistilledDistance, distill},
    error::LearnError,
};
use std::f32::consts::TAU;

/// The number of steps around a one-way ring.
const CELLS: usize = 40;

/// A distance in steps, defined by a function.
struct Teacher {
    width: usize,
    steps: fn(&[f32], &[f32]) -> f32,
}

impl TemporalDistance for Teacher {
    fn width(&self) -> usize {
        self.width
    }

    fn discount(&self) -> Discount {
        Discount::new(0.99).unwrap()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_paired(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        let pairs = from.chunks(self.width).zip(to.chunks(self.width));
        pairs.map(|(from, to)| (self.steps)(from, to) * unit).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        self.check_all_pairs(from, to).unwrap_or_else(ShapeError::panic);
        let unit = self.discount().nats_per_step() as f32;
        let row = |from| to.chunks(self.width).map(move |to| (self.steps)(from, to) * unit);
        from.chunks(self.width).flat_map(row).collect()
    }
}

/// A one-way ring of [`CELLS`] steps; the third column is noise.
const RING: Teacher = Teacher {
    width: 3,
    steps: |from, to| {
        let turn = (to[1].atan2(to[0]) - from[1].atan2(from[0])).rem_euclid(TAU) / TAU;
        (turn * CELLS as f32).round() % CELLS as f32
    },
};

/// A one-way line.
const STREET: Teacher =
    Teacher { width: 1, steps: |from, to| if to[0] >= from[0] { to[0] - from[0] } else { f32::INFINITY } };

fn cell(number: usize, noise: f32) -> [f32; 3] {
    let (sin, cos) = (TAU * number as f32 / CELLS as f32).sin_cos();
    [cos, sin, noise]
}

fn drives() -> Dataset {
    let random = &mut rng::stream(3, 0);
    let episode = |_: usize| {
        let first = rng::below(random, CELLS);
        (0..60).flat_map(|step| cell(first + step, rng::unit_f64(random) as f32)).collect::<Vec<f32>>()
    };
    let episodes: Vec<_> = (0..50).map(episode).map(|rows| (rows, Vec::new())).collect();
    Dataset::from_arrays(3, 0, episodes).unwrap()
}

fn street() -> Dataset {
    let episode = |first: usize| ((0..40).map(|step| (first + step) as f32).collect::<Vec<_>>(), Vec::new());
    Dataset::from_arrays(1, 0, (0..20).map(episode)).unwrap()
}

fn short(head: DistillHead) -> DistillConfig {
    DistillConfig { head, updates: 3, column_scales: Some(vec![1.0, 1.0, 0.0]), ..DistillConfig::default() }
}

#[test]
fn a_pair_network_learns_asymmetric_distances() {
    let config = DistillConfig { updates: 300, ..short(DistillHead::Pair) };
    let mut distance = distill(&RING, &drives(), &config, |_, _| {}).unwrap();
    let (mut here, mut ahead, mut behind, mut half) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..CELLS {
        here.extend(cell(number, 0.1));
        ahead.extend(cell(number + 1, 0.9));
        behind.extend(cell(number + CELLS - 1, 0.5));
        half.extend(cell(number + CELLS / 2, 0.5));
    }
    for (goals, exact, slack) in [(ahead, 1.0, 0.3), (behind, 39.0, 5.0), (half, 20.0, 2.0)] {
        for steps in distance.paired_steps(&here, &goals).unwrap() {
            assert!((steps - exact).abs() < slack, "{steps} instead of {exact}");
        }
    }
    // Columns without a scale are ignored, so that these states are equal.
    assert_eq!(distance.steps(&cell(7, 0.1), &cell(7, 0.8)).unwrap(), 0.0);
    let agreement = distance.compare(&RING, &drives(), 0).unwrap();
    assert!(agreement.spearman > 0.99 && agreement.median_relative_difference < 0.05, "{agreement:?}");
    assert_eq!(agreement.same_reachability, 1.0);
}

#[test]
fn a_pair_network_predicts_unreachable_pairs() {
    let config = DistillConfig { updates: 150, ..DistillConfig::default() };
    let distance = distill(&STREET, &street(), &config, |_, _| {}).unwrap();
    assert!(distance.steps(&[40.0], &[10.0]).unwrap().is_infinite());
    assert!((distance.steps(&[10.0], &[40.0]).unwrap() - 30.0).abs() < 5.0);
}

#[test]
fn a_quasimetric_satisfies_the_triangle_inequality() {
    let config = DistillConfig { updates: 30, ..short(DistillHead::Mrn) };
    let distance = distill(&RING, &drives(), &config, |_, _| {}).unwrap();
    let rows: Vec<f32> = (0..CELLS).flat_map(|number| cell(number, 0.5)).collect();
    let all = distance.all_pairs_steps(&rows, &rows).unwrap();
    for i in 0..CELLS {
        assert_eq!(all[i * CELLS + i], 0.0);
        for (j, k) in (0..CELLS).flat_map(|j| (0..CELLS).map(move |k| (j, k))) {
            let through = all[i * CELLS + j] + all[j * CELLS + k];
            assert!(all[i * CELLS + k] <= through + 1e-3, "{i} {j} {k}");
        }
    }
    // The distance of unreachable pairs exceeds that of any path.
    let config = DistillConfig { head: DistillHead::Mrn, updates: 100, ..DistillConfig::default() };
    let distance = distill(&STREET, &street(), &config, |_, _| {}).unwrap();
    assert!(distance.steps(&[50.0], &[5.0]).unwrap() > 60.0);
}

#[test]
fn all_pairs_equal_single_pairs() {
    for head in [DistillHead::Pair, DistillHead::Mrn] {
        let distance = distill(&RING, &drives(), &short(head), |_, _| {}).unwrap();
        let (from, to): (Vec<f32>, Vec<f32>) =
            ((0..3).flat_map(|i| cell(i, 0.0)).collect(), (9..14).flat_map(|i| cell(i, 0.0)).collect());
        let all = distance.all_pairs_steps(&from, &to).unwrap();
        for (number, steps) in all.iter().enumerate() {
            let (from, to) = (&from[number / 5 * 3..][..3], &to[number % 5 * 3..][..3]);
            let one = distance.steps(from, to).unwrap();
            assert!((steps - one).abs() <= 1e-3 * one, "{steps} {one}");
        }
        assert!(distance.paired_steps(&from, &to).is_err() && distance.steps(&from[..2], &to[..2]).is_err());
    }
}

#[test]
fn goals_may_be_a_slice() {
    // Two columns; goals are the first.
    let teacher = Teacher { width: 2, steps: |from, to| (to[0] - from[0]).abs() };
    let rows = |first: usize| {
        (0..40).flat_map(|step| [(first + step) as f32, (step % 7) as f32]).collect::<Vec<_>>()
    };
    let data = Dataset::from_arrays(2, 0, (0..20).map(|first| (rows(first), Vec::new()))).unwrap();
    let config = DistillConfig { updates: 5, goal: Some(0..1), ..DistillConfig::default() };
    let distance = distill(&teacher, &data, &config, |_, _| {}).unwrap();
    assert_eq!(distance.goal(), 0..1);
    let steps = |from: [f32; 2], to: [f32; 2]| distance.steps(&from, &to).unwrap();
    assert_eq!(steps([3.0, 1.0], [20.0, 0.0]), steps([3.0, 1.0], [20.0, 6.0]));
    assert_ne!(steps([3.0, 1.0], [20.0, 0.0]), steps([3.0, 5.0], [20.0, 0.0]));
    assert_eq!(steps([3.0, 1.0], [3.0, 6.0]), 0.0);
    let quasimetric = DistillConfig { head: DistillHead::Mrn, ..config };
    assert!(matches!(distill(&teacher, &data, &quasimetric, |_, _| {}), Err(LearnError::Config(_))));
}

#[test]
fn the_same_seed_gives_the_same_file_for_any_number_of_threads() {
    let make = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let config = DistillConfig { seed, ..short(DistillHead::Pair) };
        pool.install(|| distill(&RING, &drives(), &config, |_, _| {}).unwrap().to_bytes())
    };
    let bytes = make(1, 0);
    assert!(bytes == make(3, 0) && bytes != make(3, 1));
}

#[test]
fn distances_round_trip_through_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(DistilledDistance::FILE_NAME);
    for head in [DistillHead::Pair, DistillHead::Mrn] {
        let mut updates = Vec::new();
        let mut distance = distill(&RING, &drives(), &short(head), |update, _| updates.push(update)).unwrap();
        assert_eq!(updates, [1, 2, 3]);
        distance.compare(&RING, &drives(), 0).unwrap();
        distance.save(&path).unwrap();
        let loaded = DistilledDistance::load(&path).unwrap();
        assert_eq!((loaded.head(), loaded.data_sha256()), (head, drives().content_hash()));
        assert_eq!(loaded.agreement(), distance.agreement());
        assert_eq!(loaded.to_bytes(), distance.to_bytes());
        let rows: Vec<f32> = (0..CELLS).flat_map(|number| cell(number, 0.5)).collect();
        assert_eq!(loaded.all_pairs_nats(&rows, &rows), distance.all_pairs_nats(&rows, &rows));
    }
}

#[test]
fn corrupt_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corrupt.safetensors");
    let bytes = distill(&RING, &drives(), &short(DistillHead::Pair), |_, _| {}).unwrap().to_bytes();
    let error = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        DistilledDistance::load(&path).err().map(|error| error.to_string())
    };
    assert_eq!(error(&bytes), None);
    assert!(DistilledDistance::load(&folder.path().join("nothing")).is_err());
    for length in [0, 7, 8, 100, 1000, bytes.len() / 2, bytes.len() - 1] {
        assert!(error(&bytes[..length]).is_some(), "truncated at {length}");
    }
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let text = std::str::from_utf8(&bytes[8..header]).unwrap();
    // Replacements of equal length, so that offsets remain valid.
    for (original, replacement, expected) in [
        (r#"\"format\":2"#, r#"\"format\":7"#, "format 7"),
        (r#"\"width\":3"#, r#"\"width\":1"#, "columns.used"),
        (r#"\"used\":[0,1]"#, r#"\"used\":[1,0]"#, "columns.used"),
        (r#"\"used\":[0,1]"#, r#"\"used\":[0]  "#, "features.shift"),
        (r#"\"end\":3"#, r#"\"end\":9"#, "columns.goal"),
        (r#"\"head\":\"pair\""#, r#"\"head\":\"mrn\" "#, "network"),
        (r#"\"head\":\"pair\""#, r#"\"head\":\"none\""#, "none"),
        (r#"\"unit_steps\":"#, r#"\"unit_steps\":-"#, "unit_steps"),
        (r#"\"knows_unreachable\":false"#, r#"\"knows_unreachable\":true "#, "network.out"),
        ("network.out.bias", "network.out.bios", "network.out"),
    ] {
        let mut changed = text.replacen(original, replacement, 1);
        assert_ne!(changed, text, "{original}");
        // A sign replaces the last digit of the number.
        if changed.len() > text.len() {
            let at = changed.find(replacement).unwrap() + replacement.len();
            let end = at + changed[at..].find(',').unwrap();
            changed.remove(end - 1);
        }
        let changed = [&bytes[..8], changed.as_bytes(), &bytes[header..]].concat();
        assert!(error(&changed).is_some(), "{replacement} has another checksum");
        let error = error(&resealed(&changed)).unwrap_or_else(|| panic!("{replacement} was accepted"));
        assert!(error.contains(expected) && error.contains("hint: "), "{replacement}: {error}");
    }
    let mut bytes = bytes;
    for at in (0..bytes.len()).step_by(bytes.len() / 400) {
        bytes[at] ^= 1 << (at % 8);
        assert!(error(&bytes).is_some(), "a flipped bit in byte {at} of {}", bytes.len());
        bytes[at] ^= 1 << (at % 8);
    }
    assert_eq!(error(&bytes), None);
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(error(&resealed(&bytes)).unwrap().contains("not finite"));
}

#[test]
fn invalid_teachers_and_settings_are_errors() {
    let failed = |teacher: &Teacher, data: &Dataset, config: &DistillConfig| {
        distill(teacher, data, config, |_, _| {}).err().expect("it fails").to_string()
    };
    let config = DistillConfig::default();
    assert!(failed(&STREET, &drives(), &config).contains("states have width 1, those of the dataset 3"));
    let nowhere = Teacher { width: 1, steps: |_, _| f32::INFINITY };
    assert!(failed(&nowhere, &street(), &config).contains("no path"));
    let none = DistillConfig { updates: 0, ..config.clone() };
    assert!(failed(&STREET, &street(), &none).contains("updates = 0"));
    for column_scales in [vec![], vec![0.0], vec![-1.0], vec![f32::NAN], vec![1.0, 1.0]] {
        let wrong = DistillConfig { column_scales: Some(column_scales.clone()), ..config.clone() };
        assert!(failed(&STREET, &street(), &wrong).contains("hint: "), "{column_scales:?}");
    }
    let beyond = DistillConfig { goal: Some(0..2), ..config };
    assert!(failed(&STREET, &street(), &beyond).contains("goal = 0..2"));
}
