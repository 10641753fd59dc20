//! A folder of shards is the same dataset as one file.

use crate::support::{episodes, gather, random_walks, read, write};
use isochrone_core::Discount;
use isochrone_data::{
    Access, DataError, Dataset, Episode, Spec,
    formats::{Format, ReadOptions, Writer},
    sampling::{GoalDistribution, GoalDistributionConfig, GoalMixture, GoalSampler, SamplerConfig},
};
use std::{fs, path::Path};

fn spec() -> Spec {
    let mut spec = Spec::new(3, 2);
    spec.has_rewards = true;
    spec.has_timestamps = true;
    spec.extras = vec![isochrone_data::Feature::new("force", 2)];
    spec
}

fn walks() -> Dataset {
    gather(&spec(), &random_walks(&spec(), (0..120).map(|episode| 1 + episode * 7 % 50), 3))
}

fn write_shards(data: &Dataset, folder: &Path, rows_per_shard: u64) {
    let mut writer = Writer::shards(folder, rows_per_shard).unwrap();
    data.send(&mut writer).unwrap();
    assert_eq!(writer.content_hash(), data.content_hash());
    writer.finish().unwrap();
}

fn shard_names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".arrow")).collect();
    names.sort();
    names
}

fn sampler(data: &Dataset) -> GoalSampler {
    let mixture = GoalMixture { current: 0.1, geometric: 0.5, uniform: 0.2, random: 0.2 };
    let config = GoalDistributionConfig { mixture, ..GoalDistributionConfig::default() };
    let goals = GoalDistribution::new(config, Discount::new(0.99).unwrap()).unwrap();
    let config = SamplerConfig {
        batch_size: 256,
        first_row: 0,
        rows_per_episode: 1,
        goals: vec![goals, goals],
        seed: 5,
        stream: 0,
    };
    GoalSampler::new(data, config).unwrap()
}

#[test]
fn shards_equal_one_file() {
    let (data, folder) = (walks(), tempfile::tempdir().unwrap());
    let (one, many) = (folder.path().join("one.arrow"), folder.path().join("many"));
    write(&data, &one);
    write_shards(&data, &many, 400);
    let names = shard_names(&many);
    assert!(names.len() >= 7 && names[0] == "part-00000.arrow", "{names:?}");
    let (one, sharded) = (Dataset::open(&one, Access::Random).unwrap(), Dataset::open(&many, Access::Random));
    let sharded = sharded.unwrap();
    assert!(sharded.is_mapped());
    assert_eq!(sharded.index(), one.index());
    assert_eq!(sharded.content_hash(), data.content_hash());
    assert_eq!((sharded.spec(), episodes(&sharded)), (one.spec(), episodes(&one)));
    let (one, sharded) = (sampler(&one), sampler(&sharded));
    // Enough steps that pages are released and read again.
    for step in 0..60 {
        assert_eq!(one.batch(step), sharded.batch(step), "batch {step}");
    }
}

#[test]
fn shards_are_read_in_the_order_of_their_names() {
    let (data, folder) = (walks(), tempfile::tempdir().unwrap());
    let many = folder.path().join("many");
    write_shards(&data, &many, 400);
    // Without a manifest, the names alone decide; other files do not count.
    fs::remove_file(many.join("shards.json")).unwrap();
    for other in ["README.md", "_SUCCESS", ".hidden.arrow"] {
        fs::write(many.join(other), "not a shard").unwrap();
    }
    assert_eq!(Format::detect(&many).unwrap(), Format::Arrow);
    let streamed = read(&many, &ReadOptions::default()).unwrap();
    assert_eq!((streamed.content_hash(), episodes(&streamed)), (data.content_hash(), episodes(&data)));
    fs::rename(many.join("part-00000.arrow"), many.join("part-99999.arrow")).unwrap();
    let turned = Dataset::load(&many, ReadOptions::default()).unwrap();
    assert_eq!(turned.n_transitions(), data.n_transitions());
    assert_ne!(turned.content_hash(), data.content_hash());
}

#[test]
fn tables_can_be_shards() {
    let folder = tempfile::tempdir().unwrap();
    let table = |first: usize| {
        let rows = (first..first + 2).flat_map(|episode| (0..3).map(move |x| format!("{episode},{x}\n")));
        std::iter::once("episode,x\n".to_owned()).chain(rows).collect::<String>()
    };
    let options = ReadOptions::default().observations(["x"]).episode("episode");
    for (name, first) in [("b.csv", 2), ("a.csv", 0)] {
        fs::write(folder.path().join(name), table(first)).unwrap();
    }
    let data = Dataset::load(folder.path(), &options).unwrap();
    let expected: Vec<Episode> =
        (0..4).map(|_| Episode { observations: vec![0.0, 1.0, 2.0], ..Episode::default() }).collect();
    let expected = gather(&Spec::new(1, 0), &expected);
    assert_eq!(data.content_hash(), expected.content_hash());
}

#[test]
fn a_folder_that_is_not_the_written_one_is_refused() {
    let (data, folder) = (walks(), tempfile::tempdir().unwrap());
    let refused = |spoil: &dyn Fn(&Path), expected: &str| {
        let many = folder.path().join("many");
        write_shards(&data, &many, 400);
        spoil(&many);
        for outcome in [Dataset::load(&many, ReadOptions::default()), read(&many, &ReadOptions::default())] {
            let message = outcome.map(|_| ()).map_err(|error: DataError| error.to_string()).unwrap_err();
            assert!(message.contains(expected) && message.contains("; hint: "), "{message}");
        }
        fs::remove_dir_all(&many).unwrap();
    };
    let part = |many: &Path, number: usize| many.join(format!("part-{number:05}.arrow"));
    refused(&|many| fs::remove_file(part(many, 1)).unwrap(), "shard part-00001.arrow is missing");
    refused(
        &|many| copy(&part(many, 1), &many.join("part-00001b.arrow")),
        "it does not list part-00001b.arrow",
    );
    refused(
        &|many| copy(&part(many, 1), &part(many, 0)),
        // Sizes differ, or else the content hash does.
        "part-00000.arrow has",
    );
    refused(&|many| flip_a_byte(&part(many, 2)), "part-00002.arrow: its contents do not match its checksum");
    refused(&|many| fs::write(many.join("b.csv"), "x\n").unwrap(), "different formats");
    refused(
        &|many| {
            let other = gather(&Spec::new(3, 1), &random_walks(&Spec::new(3, 1), [5, 6], 1));
            fs::remove_file(many.join("shards.json")).unwrap();
            write(&other, &part(many, 1));
        },
        "part-00001.arrow: action is",
    );
    refused(
        &|many| {
            let manifest = many.join("shards.json");
            let text = fs::read_to_string(&manifest).unwrap().replace("part-00003.arrow", "../part-3.arrow");
            fs::write(&manifest, text).unwrap();
        },
        "'../part-3.arrow' is not a file name",
    );
}

#[test]
fn swapped_shards_of_one_size_are_refused_by_their_hash() {
    let spec = Spec::new(2, 1);
    let data = gather(&spec, &random_walks(&spec, [9; 6], 8));
    let folder = tempfile::tempdir().unwrap();
    let many = folder.path().join("many");
    write_shards(&data, &many, 20);
    let [a, b] = ["part-00000.arrow", "part-00001.arrow"].map(|name| many.join(name));
    let aside = folder.path().join("aside");
    for (from, to) in [(&a, &aside), (&b, &a), (&aside, &b)] {
        fs::rename(from, to).unwrap();
    }
    let message = Dataset::load(&many, ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("the content hash is"), "{message}");
}

#[test]
fn an_unfinished_folder_does_not_appear() {
    let (data, folder) = (walks(), tempfile::tempdir().unwrap());
    let many = folder.path().join("many");
    let mut writer = Writer::shards(&many, 400).unwrap();
    data.send(&mut writer).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(Writer::shards(&many, 0).is_err());
    // A second writer does not replace the folder of the first.
    write_shards(&data, &many, 400);
    let mut writer = Writer::shards(&many, 100).unwrap();
    data.send(&mut writer).unwrap();
    assert!(writer.finish().unwrap_err().to_string().contains("already exists"));
    assert_eq!(Dataset::open(&many, Access::Random).unwrap().content_hash(), data.content_hash());
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
}

fn flip_a_byte(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[cfg(not(feature = "remote"))]
#[test]
fn an_address_needs_the_feature() {
    let message = Dataset::load("s3://logs/walks", ReadOptions::default()).unwrap_err().to_string();
    assert!(message.starts_with("s3://logs/walks: ") && message.contains("feature `remote`"), "{message}");
}
