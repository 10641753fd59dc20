//! Data are read back as they were written, with every writer and reader.

use crate::support::{episodes, fixtures, gather, random_walks, read, write};
use isochrone_data::{Access, Bounds, Dataset, Ending, Episode, Feature, Spec, formats::ReadOptions};
use proptest::prelude::*;

/// Returns the part of an episode that a format keeps.
type Keeps = fn(&Episode) -> Episode;

/// Every writer, and the part of an episode that it keeps.
const WRITERS: &[(&str, Keeps)] = &[
    ("data.arrow", Episode::clone),
    ("data.npz", |episode| Episode { ending: Ending::Unknown, timestamps: Vec::new(), ..episode.clone() }),
    ("data", |episode| Episode { timestamps: Vec::new(), ..episode.clone() }),
];

fn full_spec() -> Spec {
    let mut spec = Spec::new(3, 2);
    spec.has_rewards = true;
    spec.has_timestamps = true;
    // Not sorted by name, as some formats store them.
    spec.extras = vec![Feature::new("speed", 1), Feature::new("joints", 2)];
    spec.frames_per_second = Some(10.0);
    spec.goal = Some(0..2);
    spec.action.bounds = vec![Bounds { low: Some(-1.0), high: Some(1.0) }; 2];
    spec
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn the_files_of_every_writer_are_read_back(
        steps in prop::collection::vec(1usize..40, 1..12),
        seed in any::<u64>(),
        parts in any::<[bool; 3]>(),
        special in prop::sample::select(vec![0.0f32, -0.0, f32::MIN_POSITIVE, f32::MAX, 1e-42]),
    ) {
        let mut spec = full_spec();
        // Minari always has rewards; the others are tested without them.
        spec.has_rewards = parts[0];
        spec.has_timestamps = parts[1];
        if parts[2] {
            spec.extras.clear();
        }
        let mut walks = random_walks(&spec, steps, seed);
        let endings = [Ending::Terminated, Ending::Truncated, Ending::Unknown];
        for (number, walk) in walks.iter_mut().enumerate() {
            walk.ending = endings[number % 3];
            walk.observations[0] = special;
        }
        let data = gather(&spec, &walks);
        let folder = tempfile::tempdir().unwrap();
        for (name, keeps) in WRITERS {
            let path = folder.path().join(name);
            write(&data, &path);
            let back = read(&path, &ReadOptions::default()).unwrap();
            let mut expected: Vec<Episode> = walks.iter().map(keeps).collect();
            if *name == "data" && !spec.has_rewards {
                expected.iter_mut().for_each(|e| e.rewards = vec![0.0; e.actions.len() / 2]);
            }
            let bits = |episodes: &[Episode]| -> Vec<u32> {
                episodes.iter().flat_map(|e| e.observations.iter().map(|value| value.to_bits())).collect()
            };
            let by_name = |data: &Dataset| -> Vec<Episode> {
                let extras = &data.spec().extras;
                let mut order: Vec<usize> = (0..extras.len()).collect();
                order.sort_by_key(|&at| extras[at].name.clone());
                let sorted = |e: Episode| Episode { extras: order.iter().map(|&at| e.extras[at].clone()).collect(), ..e };
                episodes(data).into_iter().map(sorted).collect()
            };
            let mut kept = spec.clone();
            kept.has_rewards = back.spec().has_rewards;
            kept.has_timestamps = back.spec().has_timestamps;
            let expected = gather(&kept, &expected);
            prop_assert_eq!(bits(&by_name(&back)), bits(&by_name(&expected)), "{}", name);
            prop_assert_eq!(by_name(&back), by_name(&expected), "{}", name);
            prop_assert_eq!(back.content_hash(), expected.content_hash(), "{}", name);
        }
    }
}

#[test]
fn the_arrow_format_keeps_everything_and_its_hash() {
    let spec = full_spec();
    let data = gather(&spec, &random_walks(&spec, [30, 1, 7], 3));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.arrow");
    write(&data, &path);
    let mapped = Dataset::open(&path, Access::Random).unwrap();
    assert_eq!((mapped.spec(), mapped.content_hash()), (data.spec(), data.content_hash()));
    assert_eq!(episodes(&mapped), episodes(&data));
    assert!(mapped.is_mapped() && !data.is_mapped());
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().content_hash(), data.content_hash());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file is left: {left:?}");
}

#[test]
fn a_large_arrow_file_has_several_record_batches() {
    let spec = Spec::new(64, 8);
    // 25 MB in episodes of 0.3 MB: several record batches.
    let data = gather(&spec, &random_walks(&spec, std::iter::repeat_n(1000, 90), 5));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.arrow");
    write(&data, &path);
    let mapped = Dataset::open(&path, Access::Random).unwrap();
    assert_eq!(mapped.content_hash(), data.content_hash());
    for episode in [0, 57, 58, 89] {
        assert_eq!(mapped.episode(episode), data.episode(episode));
    }
}

#[test]
fn states_without_actions_can_be_written() {
    let spec = Spec::new(2, 0);
    let data = gather(&spec, &random_walks(&spec, [5, 3], 1));
    let folder = tempfile::tempdir().unwrap();
    for name in ["data.arrow", "data.npz"] {
        let path = folder.path().join(name);
        write(&data, &path);
        assert_eq!(episodes(&read(&path, &ReadOptions::default()).unwrap()), episodes(&data), "{name}");
    }
}

#[test]
fn every_format_converts_to_every_other() {
    let options = ReadOptions {
        observations: ["x", "y", "height"].map(String::from).to_vec(),
        ..ReadOptions::default()
    };
    let plain = ReadOptions::default();
    let readers = [
        ("ogbench.npz", &plain),
        ("d4rl.hdf5", &plain),
        ("minari/plain-v0", &plain),
        ("minari/goal-v0", &plain),
        ("lerobot", &plain),
        ("table.csv", &options),
        ("table-snappy.parquet", &options),
    ];
    for (name, options) in readers {
        let data = read(&fixtures().join(name), options).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (target, keeps) in WRITERS {
            let path = folder.path().join(target);
            write(&data, &path);
            let back = read(&path, &ReadOptions::default()).unwrap();
            let mut expected: Vec<Episode> = episodes(&data).iter().map(keeps).collect();
            if *target == "data" && !data.spec().has_rewards {
                expected
                    .iter_mut()
                    .for_each(|e| e.rewards = vec![0.0; e.actions.len() / data.spec().action.width]);
            }
            assert_eq!(episodes(&back), expected, "{name} to {target}");
        }
    }
}

#[test]
fn an_unfinished_file_is_removed() {
    use isochrone_data::{EpisodeSink as _, formats::Writer};
    let spec = full_spec();
    let walks = random_walks(&spec, [4], 9);
    let folder = tempfile::tempdir().unwrap();
    for (name, _) in WRITERS {
        let mut writer = Writer::for_path(&folder.path().join(name)).unwrap();
        writer.begin(&spec).unwrap();
        writer.episode(&walks[0].view(&spec).unwrap()).unwrap();
        drop(writer);
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{name} left {left:?}");
    }
}

/// A process that is killed cannot remove what it wrote; the next one does.
#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_is_removed() {
    let spec = full_spec();
    let data = gather(&spec, &random_walks(&spec, [4], 9));
    for (name, _) in WRITERS {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(format!(".unfinished-{name}-Ab3dE6")), b"half").unwrap();
        std::fs::create_dir(folder.path().join(format!(".unfinished-{name}-Ab3dE7"))).unwrap();
        write(&data, &folder.path().join(name));
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [*name]);
    }
}
