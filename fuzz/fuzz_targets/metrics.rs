//! Records of metrics.

#![no_main]

use isochrone_fuzz::{Scratch, Seed};
use isochrone_learn::run::metrics;

fn seeds() -> Vec<Seed> {
    vec![(
        "records",
        b"{\"step\":10,\"seconds\":0.5,\"critic/loss\":1.25,\"name\":null}\n{\"step\":20,\"seconds\":1e3,\"critic/loss\":-0.0}\n{\"st".to_vec(),
    )]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    SCRATCH.with(|scratch| {
        let records = metrics::read(&scratch.write("metrics.jsonl", bytes)).unwrap();
        for name in metrics::names(&records) {
            assert!(!metrics::curve(&records, name).is_empty());
        }
    });
});
