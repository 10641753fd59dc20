//! The names of dimensions, from `meta/info.json`.

use super::super::columns::{Choice, TableColumn};
use crate::{Feature, Spec};
use serde_json::Value;
use std::collections::HashSet;

/// Adds the names of dimensions to the spec.
pub(super) fn describe(features: &Value, spec: &mut Spec, columns: &[TableColumn], choice: &Choice) {
    for (feature, chosen) in
        [(&mut spec.observation, choice.observations()), (&mut spec.action, choice.actions())]
    {
        match chosen {
            [_] => feature.dimensions = names(features, feature),
            _ => feature.dimensions = joined(features, chosen.iter().map(|&at| &columns[at])),
        }
    }
    for extra in &mut spec.extras {
        extra.dimensions = names(features, extra);
    }
}

/// Returns the declared names of a column; none if their number differs from its width.
fn names(features: &Value, feature: &Feature) -> Vec<String> {
    let names = match &features[&feature.name]["names"] {
        Value::Array(names) => names.clone(),
        // Version 2: {"motors": [...]}.
        Value::Object(groups) => groups.values().filter_map(Value::as_array).flatten().cloned().collect(),
        _ => Vec::new(),
    };
    let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if names.len() == feature.width { names } else { Vec::new() }
}

/// Returns the names of the dimensions of several columns side by side. If two are equal, all
/// declared names start with that of their column.
fn joined<'a>(features: &Value, columns: impl Iterator<Item = &'a TableColumn>) -> Vec<String> {
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for column in columns {
        let mut feature = Feature::new(&column.name, column.width);
        let indexed: Vec<String> = (0..column.width).map(|index| feature.dimension(index)).collect();
        feature.dimensions = names(features, &feature);
        let declared = &feature.dimensions;
        long.extend(indexed.iter().enumerate().map(|(index, indexed)| match declared.get(index) {
            Some(name) => format!("{}.{name}", column.name),
            None => indexed.clone(),
        }));
        short.extend(
            indexed
                .into_iter()
                .enumerate()
                .map(|(index, indexed)| declared.get(index).cloned().unwrap_or(indexed)),
        );
    }
    let distinct: HashSet<&String> = short.iter().collect();
    if distinct.len() == short.len() { short } else { long }
}
