//! Text maps of gridworlds, and their MDPs.

#![no_main]

use isochrone_core::exact::GridWorld;
use isochrone_fuzz::Seed;

fn seeds() -> Vec<Seed> {
    vec![
        ("teleporters", b"#####\n#S.1#\n#.#.#\n#1.G#\n#####\n".to_vec()),
        ("one-way", "\nS>v\n^#v\n^<G\n→↓↑\n".as_bytes().to_vec()),
    ]
}

isochrone_fuzz::target!(seeds, |bytes| {
    if let Ok(grid) =
        str::from_utf8(bytes).map_err(drop).and_then(|text| GridWorld::parse(text).map_err(drop))
    {
        // One of the two per input: large MDPs take almost all of the time.
        let slip = [0.0, 0.25][bytes.len() % 2];
        if let Ok(mdp) = grid.to_mdp(slip) {
            assert_eq!(mdp.n_states(), grid.n_states());
        }
    }
});
