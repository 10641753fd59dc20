//! Settings by dotted names, laid over each other.

use crate::error::ConfigError;
use serde::{Serialize, de::DeserializeOwned};
use toml::{Table, Value};

/// The key that chooses a variant: what stands beside it belongs to the variant.
const CHOICE: &str = "kind";

/// `name=value` with a TOML value; what is none is text.
///
/// # Errors
/// If there is no `=`, or no name.
pub fn parse(text: &str) -> Result<(String, Value), String> {
    let Some((name, value)) = text.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
        return Err(format!("'{text}' is not name=value, like learner.critic.width=256"));
    };
    if name.is_empty() || name.split('.').any(str::is_empty) {
        return Err(format!("'{name}' is not a dotted name, like learner.critic.width"));
    }
    let parsed =
        toml::from_str::<Table>(&format!("value = {value}")).ok().and_then(|mut table| table.remove("value"));
    Ok((name.to_owned(), parsed.unwrap_or_else(|| Value::String(value.to_owned()))))
}

/// A setting by its dotted name.
pub fn get<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => table.get(name),
        Some((first, rest)) => get(table.get(first)?.as_table()?, rest),
    }
}

/// All settings of a table by their dotted names.
pub fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                leaves.extend(
                    self::leaves(inner).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)),
                );
            }
            value => leaves.push((key.clone(), value.clone())),
        }
    }
    leaves
}

/// Changes a setting by its dotted name, making tables where there are none: whether they mean anything is seen when all is read.
pub fn set(table: &mut Table, name: &str, value: Value) {
    match name.split_once('.') {
        None => put(table, name, value),
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            set(inner.as_table_mut().expect("it was made one"), rest, value);
        }
    }
}

fn put(table: &mut Table, key: &str, value: Value) {
    if key == CHOICE && table.get(key).is_some_and(|old| *old != value) {
        table.clear();
    }
    table.insert(key.to_owned(), value);
}

/// Reads a whole configuration; a setting that it does not know is an error, with the nearest that it knows.
pub fn read<C: DeserializeOwned + Serialize>(table: Table) -> Result<C, ConfigError> {
    let said = table.clone();
    let config: C =
        Value::Table(table).try_into().map_err(|error: toml::de::Error| misread(&said, &error))?;
    let known = Table::try_from(&config).expect("configurations are tables");
    match unknown(&said, &known, String::new()) {
        Some((name, value, near)) => {
            let hint = near.map_or_else(|| "leave it out".to_owned(), |near| format!("did you mean {near}?"));
            Err(ConfigError::new(&name, value, "is not a setting", hint))
        }
        None => Ok(config),
    }
}

/// The error of the reader as one of ours. It says the path of a value in its own words; the value is looked up by it.
fn misread(said: &Table, error: &toml::de::Error) -> ConfigError {
    let text = error.to_string();
    let place =
        text.lines().find_map(|line| line.trim().strip_prefix("in `")).map(|rest| rest.trim_end_matches('`'));
    let problem = text.lines().next().unwrap_or_default().to_owned();
    let name = place.unwrap_or("learner");
    let value =
        get(said, name).map(|value| if value.is_table() { "{…}".to_owned() } else { value.to_string() });
    ConfigError::new(
        name,
        value.unwrap_or_default(),
        &problem,
        "config.toml of any run shows all settings with their types",
    )
}

/// The first setting that was said and is not known: its name, its value, and the nearest known name.
fn unknown(said: &Table, known: &Table, outer: String) -> Option<(String, String, Option<String>)> {
    for (key, value) in said {
        let name = if outer.is_empty() { key.clone() } else { format!("{outer}.{key}") };
        match (value, known.get(key)) {
            (Value::Table(said), Some(Value::Table(known))) => {
                if let Some(found) = unknown(said, known, name) {
                    return Some(found);
                }
            }
            (_, Some(_)) => {}
            (_, None) => {
                let near = known.keys().min_by_key(|known| differences(known, key));
                let near = near.filter(|near| differences(near, key) <= 1 + key.len() / 3);
                let near =
                    near.map(|near| if outer.is_empty() { near.clone() } else { format!("{outer}.{near}") });
                return Some((name, value.to_string(), near));
            }
        }
    }
    None
}

/// Letters to add, take away or change (Levenshtein).
fn differences(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[right.len()]
}
