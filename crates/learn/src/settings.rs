//! Settings by dotted names, with layered overrides.

use crate::error::{ConfigError, ConfigErrorKind};
use serde::{Serialize, de::DeserializeOwned};
use toml::{Table, Value};

/// The key that selects a variant; its siblings are the settings of that variant.
const KIND: &str = "kind";

/// Parses `name=value`. A value that is not TOML is a string.
///
/// # Errors
/// If the name or the equals sign is missing.
pub fn parse_assignment(text: &str) -> Result<(String, Value), ConfigError> {
    let wrong = |problem: &str| {
        ConfigError::new(text, "", problem, "write it like critic.width=256")
            .of_kind(ConfigErrorKind::WrongType)
    };
    let Some((name, value)) = text.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
        return Err(wrong("is not of the form name=value"));
    };
    if name.is_empty() || name.split('.').any(str::is_empty) {
        return Err(wrong("has no dotted name"));
    }
    let parsed =
        toml::from_str::<Table>(&format!("value = {value}")).ok().and_then(|mut table| table.remove("value"));
    Ok((name.to_owned(), parsed.unwrap_or_else(|| Value::String(value.to_owned()))))
}

/// Returns a setting by its dotted name.
pub fn get<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => table.get(name),
        Some((first, rest)) => get(table.get(first)?.as_table()?, rest),
    }
}

/// Returns all settings of a table with their dotted names.
pub fn leaves(table: &Table) -> Vec<(String, Value)> {
    let of_entry = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => {
            leaves(inner).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)).collect()
        }
        value => vec![(key.clone(), value.clone())],
    };
    table.iter().flat_map(of_entry).collect()
}

/// Changes a setting by its dotted name and creates missing tables; [`read`] checks whether the
/// setting exists.
///
/// An integral float such as `1e6` becomes an integer if the previous value was one.
pub fn set(table: &mut Table, name: &str, value: Value) {
    let Some((first, rest)) = name.split_once('.') else { return put(table, name, value) };
    let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    set(inner.as_table_mut().expect("it is a table"), rest, value);
}

fn put(table: &mut Table, key: &str, value: Value) {
    let old = table.get(key);
    let value = match value {
        Value::Float(float) if old.is_some_and(Value::is_integer) => integer_if_exact(float),
        value => value,
    };
    if key == KIND && old.is_some_and(|old| *old != value) {
        table.clear();
    }
    table.insert(key.to_owned(), value);
}

/// Converts a float to an integer if that is exact.
pub(crate) fn integer_if_exact(float: f64) -> Value {
    let is_exact = float.fract() == 0.0 && float.abs() <= 2f64.powi(53);
    if is_exact { Value::Integer(float as i64) } else { Value::Float(float) }
}

/// Returns the settings of a configuration as a table.
///
/// # Errors
/// If a value cannot be represented in TOML, such as a path that is not UTF-8.
pub fn to_table(config: &impl Serialize) -> Result<Table, ConfigError> {
    let error = |problem: String| {
        let hint = "paths must be UTF-8, and integers below 2^63";
        ConfigError::new("configuration", "", &problem, hint).of_kind(ConfigErrorKind::WrongType)
    };
    // Converted through text, so that single-precision numbers keep their shortest decimal digits.
    let text = toml::to_string(config).map_err(|problem| error(problem.to_string()))?;
    text.parse().map_err(|problem: toml::de::Error| error(problem.to_string()))
}

/// Reads a complete configuration. The error of an unknown setting suggests the most similar known
/// one.
pub fn read<C: DeserializeOwned + Serialize>(table: Table) -> Result<C, ConfigError> {
    read_inside(table, "")
}

/// Reads a configuration that is the part `outer` of another, so that errors have full names.
pub(crate) fn read_inside<C: DeserializeOwned + Serialize>(
    table: Table,
    outer: &str,
) -> Result<C, ConfigError> {
    let given = table.clone();
    let config: C = serde_path_to_error::deserialize(Value::Table(table))
        .map_err(|error| wrong_type(&given, outer, &error.path().to_string(), error.inner()))?;
    // Serde cannot report unknown names in flattened tables: what the result lacks is not a
    // setting.
    let known = to_table(&config)?;
    let Some((name, value)) = first_unknown(&given, &known, "") else { return Ok(config) };
    let known = match outer {
        "" => known,
        outer => Table::from_iter([(outer.to_owned(), Value::Table(known))]),
    };
    Err(unknown(&join(outer, &name), &value, &known))
}

/// Returns the error of an unknown setting, with suggestions.
pub(crate) fn unknown(name: &str, value: &Value, known: &Table) -> ConfigError {
    ConfigError::new(name, value, "unknown setting", hint(name, known)).of_kind(ConfigErrorKind::Unknown)
}

fn join(outer: &str, name: &str) -> String {
    if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") }
}

fn wrong_type(given: &Table, outer: &str, path: &str, error: &toml::de::Error) -> ConfigError {
    let value = get(given, path);
    let value = value.map(|value| if value.is_table() { "{…}".to_owned() } else { value.to_string() });
    let problem = without_type_names(error.message());
    let hint = "the config.toml of any run shows all settings with their types";
    ConfigError::new(&join(outer, path), value.unwrap_or_default(), &problem, hint)
        .of_kind(ConfigErrorKind::WrongType)
}

/// Rewrites a deserializer's message about a wrong value without the names of Rust types.
fn without_type_names(message: &str) -> String {
    let is_wrong_value = message.starts_with("invalid type: ") || message.starts_with("invalid value: ");
    match message.rsplit_once(", expected ").filter(|_| is_wrong_value) {
        Some((_, "f32" | "f64")) => "must be a number".into(),
        Some((_, "u8" | "u16" | "u32" | "u64" | "usize")) => "must be an integer, 0 or more".into(),
        Some((_, "a boolean")) => "must be true or false".into(),
        Some((_, "a string")) => "must be a quoted string".into(),
        Some((_, expected)) => format!("must be {expected}"),
        None => message.to_owned(),
    }
}

/// Returns the first given setting that is not known.
fn first_unknown(given: &Table, known: &Table, outer: &str) -> Option<(String, Value)> {
    given.iter().find_map(|(key, value)| {
        let name = join(outer, key);
        match (value, known.get(key)) {
            (Value::Table(given), Some(Value::Table(known))) => first_unknown(given, known, &name),
            (_, Some(_)) => None,
            (_, None) => Some((name, value.clone())),
        }
    })
}

/// Suggests settings: the most similar one in the same table, those with the same last part, or the
/// most similar of all.
fn hint(name: &str, known: &Table) -> String {
    let (outer, last) = name.rsplit_once('.').map_or(("", name), |(outer, last)| (outer, last));
    let siblings = if outer.is_empty() { Some(known) } else { get(known, outer).and_then(Value::as_table) };
    if let Some(near) = nearest(last, siblings.into_iter().flat_map(Table::keys).map(String::as_str)) {
        return format!("did you mean {}?", join(outer, near));
    }
    let names: Vec<String> = leaves(known).into_iter().map(|(name, _)| name).collect();
    let names = || names.iter().map(String::as_str);
    let mut found: Vec<&str> = names().filter(|name| name.rsplit('.').next() == Some(last)).collect();
    if found.is_empty() {
        if let Some(near) = nearest(name, names()) {
            return format!("did you mean {near}?");
        }
        found = siblings.unwrap_or(known).keys().map(String::as_str).collect();
    }
    format!("known settings: {}", found.join(", "))
}

/// Returns the known name that is most similar to `name`, if it is similar enough.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (edits, near) = names.map(|known| (strsim::levenshtein(known, name), known)).min()?;
    (edits <= 1 + name.len() / 3).then_some(near)
}
