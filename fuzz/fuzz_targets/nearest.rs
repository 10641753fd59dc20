//! An index of nearest states, up to a query. The first byte selects what is replaced: the list of
//! files, or a file, whose checksum in the list is made valid.

#![no_main]

use isochrone_core::{LatentDistance, LatentMetric};
use isochrone_data::{Dataset, sha256};
use isochrone_eval::nearest::{Direction, IndexConfig, NearestIndex};
use isochrone_fuzz::{Scratch, Seed};
use std::{path::Path, sync::Arc};

/// The distance on a line.
struct Line;

impl LatentMetric for Line {
    fn width(&self) -> usize {
        1
    }

    fn nats(&self, from: &[f32], to: &[f32]) -> f32 {
        (from[0] - to[0]).abs()
    }
}

impl LatentDistance for Line {
    fn embed(&self, rows: &[f32]) -> Vec<f32> {
        rows.to_vec()
    }

    fn metric(&self) -> Arc<dyn LatentMetric> {
        Arc::new(Self)
    }
}

fn config() -> IndexConfig {
    IndexConfig { shard_rows: 8, connectivity: 4, expansion_add: 8, expansion_search: 8 }
}

fn build(folder: &Path) {
    let states: Vec<f32> = (0..12).map(|step| step as f32).collect();
    let data = Dataset::from_arrays(1, 0, [(states, Vec::<f32>::new())]).unwrap();
    let index = NearestIndex::build(&Line, &data, config(), &|_| ()).unwrap();
    index.save(folder, "fingerprint").unwrap();
}

const FILES: [&str; 2] = ["index.json", "shard-0000.usearch"];

fn seeds() -> Vec<Seed> {
    let folder = Scratch::named("seed").folder().join("nearest");
    build(&folder);
    let tagged = |tag: u8| [&[tag], &std::fs::read(folder.join(FILES[tag as usize])).unwrap()[..]].concat();
    vec![("index", tagged(0)), ("shard", tagged(1))]
}

isochrone_fuzz::target!(seeds, |bytes| {
    // One folder for each file, so that only one file is replaced per input, and the list of the
    // second with the checksum of its file.
    thread_local!(static SCRATCH: (Scratch, String, String) = {
        let scratch = Scratch::default();
        let folders = [0, 1].map(|folder| scratch.folder().join(format!("{folder}/nearest")));
        for folder in &folders {
            std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
            build(folder);
        }
        let [list, file] = FILES.map(|file| std::fs::read(folders[1].join(file)).unwrap());
        (scratch, String::from_utf8(list).unwrap(), sha256(&file))
    });
    let Some((tag, bytes)) = bytes.split_first() else { return };
    SCRATCH.with(|(scratch, list, checksum)| {
        let number = usize::from(*tag) % FILES.len();
        // The library maps the file.
        scratch.replace(&format!("{number}/nearest/{}", FILES[number]), bytes);
        if number == 1 {
            scratch.write("1/nearest/index.json", list.replace(checksum, &sha256(bytes)).as_bytes());
        }
        let folder = scratch.folder().join(format!("{number}/nearest"));
        if let Ok(Some(index)) = NearestIndex::open(&folder, "fingerprint", Arc::new(Line), config()) {
            let _ = index.nearest(&[3.0], Direction::From, 2);
        }
    });
});
