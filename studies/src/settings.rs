//! What variants of a search change.

use crate::recipe::Recipe;
use isochrone_learn::{Algorithm, Preset, settings};
use toml::{Table, Value};

/// Whether a variant changes a setting that a method has.
pub fn is_changed_by(recipe: &Recipe, method: Algorithm, variant: usize) -> bool {
    let mut before = method.preset(Preset::Small).settings().clone();
    let is_known = |table: &Table, name: &str| settings::get(table, name).is_some();
    let of_learner =
        |(name, value): (&String, &Value)| Some((name.strip_prefix("learner.")?.to_owned(), value.clone()));
    for (name, value) in recipe.settings.iter().filter_map(of_learner) {
        if is_known(&before, &name) {
            settings::set(&mut before, &name, value);
        }
    }
    for (name, value) in recipe.methods[method.name()].settings.iter().filter_map(of_learner) {
        settings::set(&mut before, &name, value);
    }
    let mut after = before.clone();
    let changes = &recipe.variants[variant];
    let mut is_changed = changes.settings.keys().any(|name| !name.starts_with("learner."));
    for (name, value) in changes.settings.iter().filter_map(of_learner) {
        if is_known(&before, &name) {
            settings::set(&mut after, &name, value);
        }
    }
    is_changed |= after != before;
    is_changed && !changes.except.iter().any(|name| name == method.name())
}
