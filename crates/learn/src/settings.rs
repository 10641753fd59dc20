//! Settings by dotted names, laid over each other.

use crate::error::{ConfigError, ConfigErrorKind};
use serde::{Serialize, de::DeserializeOwned};
use toml::{Table, Value};

/// The key that chooses a variant: its siblings belong to the variant.
const KIND: &str = "kind";

/// Parses `name=value`, both of which must be there; a value that is not TOML is text.
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

/// A setting by its dotted name.
pub fn get<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => table.get(name),
        Some((first, rest)) => get(table.get(first)?.as_table()?, rest),
    }
}

/// All settings of a table by their dotted names.
pub fn leaves(table: &Table) -> Vec<(String, Value)> {
    let of_entry = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => {
            leaves(inner).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)).collect()
        }
        value => vec![(key.clone(), value.clone())],
    };
    table.iter().flat_map(of_entry).collect()
}

/// Changes a setting by its dotted name, making tables where there are none; [`read`] finds out whether they exist.
///
/// A whole number that is written as a float, like `1e6`, becomes an integer where there was one.
pub fn set(table: &mut Table, name: &str, value: Value) {
    let Some((first, rest)) = name.split_once('.') else { return put(table, name, value) };
    let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    set(inner.as_table_mut().expect("it was made one"), rest, value);
}

fn put(table: &mut Table, key: &str, value: Value) {
    let old = table.get(key);
    let value = match value {
        Value::Float(float) if old.is_some_and(Value::is_integer) => whole(float),
        value => value,
    };
    if key == KIND && old.is_some_and(|old| *old != value) {
        table.clear();
    }
    table.insert(key.to_owned(), value);
}

/// A float as an integer, if it is one that floats have exactly.
pub(crate) fn whole(float: f64) -> Value {
    let is_whole = float.fract() == 0.0 && float.abs() <= 2f64.powi(53);
    if is_whole { Value::Integer(float as i64) } else { Value::Float(float) }
}

/// The settings of a configuration as a table, if all of them are TOML: a path that is not text is none.
pub fn to_table(config: &impl Serialize) -> Result<Table, ConfigError> {
    let error = |problem: String| {
        let hint = "paths must be text, and numbers below 2^63";
        ConfigError::new("configuration", "", &problem, hint).of_kind(ConfigErrorKind::WrongType)
    };
    // By way of text: single-precision numbers keep the digits that they are written with.
    let text = toml::to_string(config).map_err(|problem| error(problem.to_string()))?;
    text.parse().map_err(|problem: toml::de::Error| error(problem.to_string()))
}

/// Reads a whole configuration. The error of a setting that there is not names the nearest that there is.
pub fn read<C: DeserializeOwned + Serialize>(table: Table) -> Result<C, ConfigError> {
    read_inside(table, "")
}

/// Reads a configuration that is the part `outer` of another: errors have whole names.
pub(crate) fn read_inside<C: DeserializeOwned + Serialize>(
    table: Table,
    outer: &str,
) -> Result<C, ConfigError> {
    let given = table.clone();
    let config: C = serde_path_to_error::deserialize(Value::Table(table))
        .map_err(|error| wrong_type(&given, outer, &error.path().to_string(), error.inner()))?;
    // Flattened tables swallow unknown names, so that serde cannot report them: what the result lacks was not a setting.
    let known = to_table(&config)?;
    let Some((name, value)) = first_unknown(&given, &known, "") else { return Ok(config) };
    let whole = match outer {
        "" => known,
        outer => Table::from_iter([(outer.to_owned(), Value::Table(known))]),
    };
    Err(unknown(&join(outer, &name), &value, &whole))
}

/// The error of a setting that there is not, with those that may have been meant.
pub(crate) fn unknown(name: &str, value: &Value, known: &Table) -> ConfigError {
    ConfigError::new(name, value, "is not a setting", hint(name, known)).of_kind(ConfigErrorKind::Unknown)
}

fn join(outer: &str, name: &str) -> String {
    if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") }
}

fn wrong_type(given: &Table, outer: &str, path: &str, error: &toml::de::Error) -> ConfigError {
    let value = get(given, path);
    let value = value.map(|value| if value.is_table() { "{…}".to_owned() } else { value.to_string() });
    let problem = in_plain_words(error.message());
    let hint = "the configuration file of any run shows all settings with their types";
    ConfigError::new(&join(outer, path), value.unwrap_or_default(), &problem, hint)
        .of_kind(ConfigErrorKind::WrongType)
}

/// What a deserializer says about a wrong value, without its names of types.
fn in_plain_words(message: &str) -> String {
    let is_wrong_value = message.starts_with("invalid type: ") || message.starts_with("invalid value: ");
    match message.rsplit_once(", expected ").filter(|_| is_wrong_value) {
        Some((_, "f32" | "f64")) => "must be a number".into(),
        Some((_, "u8" | "u16" | "u32" | "u64" | "usize")) => "must be a whole number, 0 or more".into(),
        Some((_, "a boolean")) => "must be true or false".into(),
        Some((_, "a string")) => "must be a text in quotes".into(),
        Some((_, expected)) => format!("must be {expected}"),
        None => message.to_owned(),
    }
}

/// The first given setting that is not known.
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

/// Which settings may have been meant: the nearest beside it, those of the same last name, or the nearest of all.
fn hint(name: &str, known: &Table) -> String {
    let (outer, last) = name.rsplit_once('.').map_or(("", name), |(outer, last)| (outer, last));
    let beside = if outer.is_empty() { Some(known) } else { get(known, outer).and_then(Value::as_table) };
    if let Some(near) = nearest(last, beside.into_iter().flat_map(Table::keys).map(String::as_str)) {
        return format!("did you mean {}?", join(outer, near));
    }
    let names: Vec<String> = leaves(known).into_iter().map(|(name, _)| name).collect();
    let names = || names.iter().map(String::as_str);
    let mut there: Vec<&str> = names().filter(|name| name.rsplit('.').next() == Some(last)).collect();
    if there.is_empty() {
        if let Some(near) = nearest(name, names()) {
            return format!("did you mean {near}?");
        }
        there = beside.unwrap_or(known).keys().map(String::as_str).collect();
    }
    format!("there is {}", there.join(", "))
}

/// The name that is most like `name`, if one is much like it.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (edits, near) = names.map(|known| (strsim::levenshtein(known, name), known)).min()?;
    (edits <= 1 + name.len() / 3).then_some(near)
}
