//! Recipes of studies.

#![no_main]

use isochrone_fuzz::Seed;
use isochrone_studies::{BUILT_IN, Recipe};
use std::path::Path;

fn seeds() -> Vec<Seed> {
    let mut seeds: Vec<Seed> =
        BUILT_IN.iter().map(|(name, text)| (*name, text.as_bytes().to_vec())).collect();
    seeds.push(("changes", b"base = \"nav2d\"\nseeds = 2\nonly = [\"cmd1\"]\n".to_vec()));
    seeds
}

isochrone_fuzz::target!(seeds, |bytes| {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(recipe) = Recipe::parse(text, Path::new("recipe.toml")) {
        let methods = recipe.methods();
        let _ = recipe.clone().with_methods(&methods[..1]);
        let _ = recipe.quick();
    }
});
