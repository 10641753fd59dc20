//! MDP files in JSON.

#![no_main]

use isochrone_data::tabular::read_mdp_json;
use isochrone_fuzz::{Scratch, Seed};

fn seeds() -> Vec<Seed> {
    vec![
        (
            "names",
            br#"{"states": ["shop", "home"], "actions": ["walk", "wait"], "transitions": [["shop", "walk", "home", 0.9], ["shop", "walk", "shop", 0.1], ["home", "wait", "home", 1.0]]}"#.to_vec(),
        ),
        ("numbers", br#"{"states": 2, "transitions": [[0, 0, 1, 1.0], [1, 0, 1, 1.0]]}"#.to_vec()),
        (
            "csr",
            br#"{"states": 2, "csr": [{"indptr": [0, 1, 3], "indices": [1, 0, 1], "data": [1.0, 0.5, 0.5]}]}"#.to_vec(),
        ),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    thread_local!(static SCRATCH: Scratch = Scratch::default());
    SCRATCH.with(|scratch| {
        let _ = read_mdp_json(&scratch.write("x.json", bytes));
    });
});
