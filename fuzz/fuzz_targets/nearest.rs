//! The list of files of an index of nearest states. The files themselves are protected by their
//! checksums alone, which the seed knows.

#![no_main]

use isochrone_core::{LatentDistance, LatentMetric};
use isochrone_data::Dataset;
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

fn seeds() -> Vec<Seed> {
    let folder = Scratch::named("seed").folder().join("nearest");
    build(&folder);
    vec![("index", std::fs::read(folder.join("index.json")).unwrap())]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = {
        let scratch = Scratch::default();
        build(&scratch.folder().join("nearest"));
        scratch
    });
    SCRATCH.with(|scratch| {
        scratch.write("nearest/index.json", bytes);
        let folder = scratch.folder().join("nearest");
        if let Ok(Some(index)) = NearestIndex::open(&folder, "fingerprint", Arc::new(Line), config()) {
            let _ = index.nearest(&[3.0], Direction::From, 2);
        }
    });
});
