//! Scoring of Parquet datasets.

use isochrone_core::{Discount, TemporalDistance};
use isochrone_data::{
    shards::{Keep, Part, RowReader, Shards, StateColumns},
    tables::{Column, write_parquet},
};
use isochrone_eval::score::{ScoreGoal, Scored, Scoring};
use std::path::Path;

/// Steps to the right are one step per unit, and twice as long to the left.
struct OneWay;

fn one_way(from: &[f32], to: &[f32]) -> f32 {
    let right = to[0] - from[0];
    if right >= 0.0 { right } else { -2.0 * right }
}

impl TemporalDistance for OneWay {
    fn width(&self) -> usize {
        2
    }

    fn discount(&self) -> Discount {
        Discount::new((-1.0f64).exp()).unwrap()
    }

    fn paired_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        from.chunks_exact(2).zip(to.chunks_exact(2)).map(|(from, to)| one_way(from, to)).collect()
    }

    fn all_pairs_nats(&self, from: &[f32], to: &[f32]) -> Vec<f32> {
        from.chunks_exact(2).flat_map(|from| to.chunks_exact(2).map(move |to| one_way(from, to))).collect()
    }
}

/// Writes three shards with two episodes, `0..5` and `10..14`; the first ends in the second shard.
fn dataset(folder: &Path) -> Shards {
    let rows: Vec<f64> = (0..5).chain(10..14).map(f64::from).collect();
    for (shard, rows) in rows.chunks(3).enumerate() {
        let columns = [
            ("obs_x", Column::Numbers(rows.to_vec())),
            ("obs_y", Column::Numbers(vec![0.0; rows.len()])),
            ("goal_x", Column::Numbers(rows.iter().map(|x| x - 1.0).collect())),
            ("goal_y", Column::Numbers(vec![0.0; rows.len()])),
            ("episode", Column::Texts(rows.iter().map(|x| if *x < 10.0 { "a" } else { "b" }).collect())),
        ];
        std::fs::create_dir_all(folder).unwrap();
        write_parquet(&folder.join(format!("{shard}.parquet")), &columns).unwrap();
    }
    Shards::open(folder).unwrap()
}

/// Returns a column of all shards of a folder.
fn column(folder: &Path, name: &str) -> Vec<f32> {
    let shards = Shards::open(folder).unwrap();
    let columns = StateColumns { observations: vec![name.into()], episode: Some("episode".into()), width: 1 };
    let mut reader = RowReader::new(&shards, &columns, &shards.units(Part::ALL)[0]);
    let mut values = Vec::new();
    while let Some(rows) = reader.next().unwrap() {
        values.extend(rows.states);
    }
    values
}

#[test]
fn every_row_has_its_distance_to_the_goal() {
    let folder = tempfile::tempdir().unwrap();
    let shards = dataset(&folder.path().join("in"));
    let scored = |name: &str, goal: ScoreGoal<'_>| {
        let output = folder.path().join(name);
        Scoring::new(&OneWay, name, goal).run(&shards, Part::ALL, &output, |_| {}).unwrap();
        column(&output, "distance_steps")
    };
    let rows = [0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 11.0, 12.0, 13.0];
    assert_eq!(scored("last", ScoreGoal::LastState), [4.0, 3.0, 2.0, 1.0, 0.0, 3.0, 2.0, 1.0, 0.0]);
    let goal = ["goal_x", "goal_y"].map(str::to_owned).to_vec();
    assert_eq!(scored("columns", ScoreGoal::Columns(goal)), [2.0; 9]);
    let nearest = rows.map(|x| one_way(&[x], &[3.0]).min(one_way(&[x], &[12.0])));
    assert_eq!(scored("nearest", ScoreGoal::Nearest(vec![3.0, 0.0, 12.0, 0.0])), nearest);
    assert_eq!(scored("none", ScoreGoal::Nearest(vec![])), [f32::INFINITY; 9]);
    let steps = |from: &[f32]| from.chunks_exact(2).map(|row| f64::from(row[0])).collect();
    assert_eq!(scored("steps", ScoreGoal::Steps(&steps)), rows);
}

#[test]
fn seconds_are_written_if_the_frame_rate_is_known_and_parts_continue() {
    let folder = tempfile::tempdir().unwrap();
    let (shards, output) = (dataset(&folder.path().join("in")), folder.path().join("out"));
    let scoring = Scoring {
        frames_per_second: Some(2.0),
        keep: Keep::Named(vec!["episode".into()]),
        ..Scoring::new(&OneWay, "key", ScoreGoal::LastState)
    };
    let first = scoring.run(&shards, "1/3".parse().unwrap(), &output, |_| {}).unwrap();
    assert_eq!(first, Scored { units: 1, skipped_units: 0, rows: 3, skipped_rows: 0 });
    let mut seen = Vec::new();
    let all = scoring.run(&shards, Part::ALL, &output, |scored| seen.push(scored.rows)).unwrap();
    assert_eq!(all, Scored { units: 3, skipped_units: 1, rows: 9, skipped_rows: 3 });
    assert_eq!(seen, [3, 6, 9]);
    assert_eq!(column(&output, "distance_seconds"), [2.0, 1.5, 1.0, 0.5, 0.0, 1.5, 1.0, 0.5, 0.0]);
    let other = Scoring {
        frames_per_second: Some(3.0),
        keep: scoring.keep.clone(),
        ..Scoring::new(&OneWay, "key", ScoreGoal::LastState)
    };
    let error = other.run(&shards, Part::ALL, &output, |_| {}).unwrap_err().to_string();
    assert!(error.contains("another distance or goal"), "{error}");
}
