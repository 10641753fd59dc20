//! One dataset has one content hash, and datasets come from memory as well as from files.

use crate::support::{episodes, gather, random_walks, read, write};
use isochrone_data::{
    Bounds, ContentHasher, DataError, Dataset, Ending, Episode, EpisodeError, Feature, Spec,
    formats::{Extras, Format, ReadOptions},
};
use std::path::Path;

fn full_spec() -> Spec {
    let mut spec = Spec::new(3, 2);
    (spec.has_rewards, spec.has_timestamps) = (true, true);
    spec.extras = vec![Feature::new("speed", 1), Feature::new("joints", 2)];
    spec
}

/// Writes a typical table; the last state of an episode has no action.
fn write_csv(data: &Dataset, path: &Path) {
    let mut text = "episode,x,y,z,a,b,reward,time,speed\n".to_owned();
    for episode in (0..data.n_episodes()).map(|number| data.episode(number)) {
        for at in 0..=episode.steps {
            let observed: Vec<String> =
                episode.observations[3 * at..3 * at + 3].iter().map(f32::to_string).collect();
            let action = match at < episode.steps {
                true => format!(
                    "{},{},{}",
                    episode.actions[2 * at],
                    episode.actions[2 * at + 1],
                    episode.rewards[at]
                ),
                false => ",,".to_owned(),
            };
            let (time, speed) = (episode.timestamps[at], episode.extras[0][at]);
            text += &format!("{},{},{action},{time},{speed}\n", episode.number, observed.join(","));
        }
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn one_dataset_has_one_hash() {
    let spec = full_spec();
    let mut walks = random_walks(&spec, [20, 1, 9], 6);
    walks[0].ending = Ending::Terminated;
    let data = gather(&spec, &walks);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_csv(&data, &path("x.csv"));
    for name in ["x.arrow", "x.npz", "minari-v0"] {
        write(&data, &path(name));
    }
    let columns = ReadOptions::default().observations(["x", "y", "z"]).actions(["a", "b"]);
    for name in ["x.csv", "x.arrow", "x.npz", "minari-v0"] {
        let options = if name == "x.csv" { columns.clone() } else { ReadOptions::default() };
        for extras in [Extras::All, Extras::Named(Vec::new())] {
            let options = options.clone().extras(extras);
            assert_eq!(
                Dataset::load(path(name), &options).unwrap().content_hash(),
                data.content_hash(),
                "{name}"
            );
            assert_eq!(read(&path(name), &options).unwrap().content_hash(), data.content_hash(), "{name}");
            let mut hasher = ContentHasher::default();
            Format::detect(&path(name)).unwrap().read(&path(name), &options, &mut hasher).unwrap();
            assert_eq!(hasher.finish(), data.content_hash(), "{name}");
        }
    }
}

#[test]
fn other_contents_have_another_hash() {
    let spec = full_spec();
    let walks = random_walks(&spec, [4, 5], 1);
    let hash = |change: &dyn Fn(&mut Vec<Episode>)| {
        let mut walks = walks.clone();
        change(&mut walks);
        gather(&spec, &walks).content_hash().to_owned()
    };
    let original = hash(&|_| {});
    assert_eq!(original.len(), 64);
    for (what, other) in [
        ("observation", hash(&|walks| walks[1].observations[2] += 1.0)),
        ("action", hash(&|walks| walks[0].actions[3] += 1.0)),
        ("order", hash(&|walks| walks.swap(0, 1))),
        ("number of episodes", hash(&|walks| walks.truncate(1))),
    ] {
        assert_ne!(original, other, "{what}");
    }
}

#[test]
fn arrays_become_a_dataset() {
    let data = Dataset::from_arrays(
        2,
        1,
        [(vec![0.0, 0.0, 1.0, 0.0, 2.0, 0.0], vec![1.0, 1.0]), (vec![0.0, 0.0, 0.0, 1.0], vec![0.5])],
    )
    .unwrap();
    assert_eq!((data.n_episodes(), data.n_transitions()), (2, 3));
    assert_eq!(data.episode(1).observations, [0.0, 0.0, 0.0, 1.0]);
    let spec = full_spec();
    let walks = random_walks(&spec, [3, 2], 5);
    let all = Dataset::from_episodes(&spec, &walks).unwrap();
    assert_eq!(episodes(&all), walks);
}

#[test]
fn invalid_arrays_are_rejected_with_the_episode_and_the_reason() {
    let good = || (vec![0.0, 0.0, 1.0, 0.0], vec![1.0]);
    let refused = |bad: (Vec<f32>, Vec<f32>)| {
        let error = Dataset::from_arrays(2, 1, [good(), bad]).unwrap_err();
        assert!(error.to_string().starts_with("episode 1: "), "{error}");
        match error {
            DataError::Episode { source, .. } => source,
            other => panic!("{other}"),
        }
    };
    let column = |name: &str| name.to_owned();
    assert_eq!(
        refused((vec![0.0; 5], vec![1.0])),
        EpisodeError::Width { column: column("observations"), width: 2, found: 5 }
    );
    assert_eq!(
        refused((vec![0.0; 6], vec![1.0])),
        EpisodeError::Rows { column: column("actions"), expected: 2, found: 1 }
    );
    assert_eq!(refused((vec![], vec![])), EpisodeError::NoTransition { states: 0 });
    assert_eq!(refused((vec![0.0; 2], vec![])), EpisodeError::NoTransition { states: 1 });
    assert_eq!(
        refused((vec![0.0, 0.0, 0.0, f32::INFINITY], vec![1.0])),
        EpisodeError::NotFinite { column: column("observations"), row: 1, value: f64::INFINITY }
    );
    assert!(matches!(refused((vec![0.0; 4], vec![f32::NAN])), EpisodeError::NotFinite { row: 0, .. }));
    let none: [(Vec<f32>, Vec<f32>); 0] = [];
    let error = Dataset::from_arrays(0, 1, none).unwrap_err().to_string();
    assert!(error.contains("no dimension"), "{error}");
}

#[test]
fn optional_columns_are_checked_too() {
    let spec = full_spec();
    let walk = random_walks(&spec, [4], 5).remove(0);
    let problem = |change: &dyn Fn(&mut Episode)| {
        let mut walk = walk.clone();
        change(&mut walk);
        walk.view(&spec).unwrap_err().to_string()
    };
    assert!(problem(&|walk| walk.rewards.clear()).starts_with("column 'rewards' has 0 rows, but 4"));
    assert!(problem(&|walk| walk.timestamps.push(9.0)).starts_with("column 'timestamps' has 6 rows, but 5"));
    assert!(problem(&|walk| walk.extras[1].truncate(3)).starts_with("column 'joints' has 3 numbers"));
    assert!(problem(&|walk| walk.extras.clear()).starts_with("0 extra columns"));
}

#[test]
fn a_dataset_is_shared_between_threads_and_clones() {
    fn is_shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let spec = Spec::new(2, 1);
    let data = gather(&spec, &random_walks(&spec, [50], 1));
    is_shared(&data);
    assert_eq!(data.clone().episode(0).observations.as_ptr(), data.episode(0).observations.as_ptr());
}

#[test]
fn options_can_be_chained() {
    let bounds = Bounds { low: Some(-1.0), high: Some(1.0) };
    let options =
        ReadOptions::default().observations(["x"]).goal(0..1).frames_per_second(5.0).action_bounds(bounds);
    assert_eq!(
        options,
        ReadOptions {
            observations: vec!["x".into()],
            goal: Some(0..1),
            frames_per_second: Some(5.0),
            action_bounds: Some(bounds),
            ..ReadOptions::default()
        }
    );
}
