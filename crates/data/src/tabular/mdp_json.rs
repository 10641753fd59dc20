//! MDP files in JSON.
//!
//! ```json
//! {
//!   "states": ["shop", "home"],
//!   "actions": ["walk", "wait"],
//!   "transitions": [["shop", "walk", "home", 0.9], ["shop", "walk", "shop", 0.1], ["home", "wait", "home", 1.0]]
//! }
//! ```
//!
//! `states` is a list of names or a count; `actions` is a list of names, or absent. A transition is
//! `[state, action, successor, probability]` with names or numbers from 0. In place of
//! `transitions`, `csr` gives one matrix per action as `{"indptr": [...], "indices": [...], "data":
//! [...]}`; empty rows are actions that are not available.

use super::{
    NamedMdp, TabularError,
    csr::{Csr, mdp_from_rows},
};
use isochrone_core::exact::{MdpBuilder, TabularMdp};
use serde::{Deserialize, Deserializer, de};
use std::{collections::HashMap, fmt, path::Path};

const EXAMPLE: &str = r#"a minimal file is {"states": 2, "transitions": [[0, 0, 1, 1.0], [1, 0, 1, 1.0]]}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with 'states' and 'transitions'")]
struct File {
    states: States,
    #[serde(default)]
    actions: Vec<String>,
    transitions: Option<Vec<(Key, Key, Key, f64)>>,
    csr: Option<Vec<Csr>>,
}

enum States {
    Count(usize),
    Names(Vec<String>),
}

/// A state or an action, given by number or by name.
enum Key {
    Number(usize),
    Name(String),
}

/// Reads an MDP from a JSON file.
pub fn read_mdp_json(path: &Path) -> Result<NamedMdp, TabularError> {
    let bytes = super::read(path)?;
    let file: File = serde_json::from_slice(&bytes)
        .map_err(|error| TabularError::malformed(path, format!("not an MDP file: {error}"), EXAMPLE))?;
    let (n_states, states) = match file.states {
        States::Count(count) => (count, Vec::new()),
        States::Names(names) => (names.len(), names),
    };
    let state_numbers = numbers_by_name(path, "states", &states)?;
    let action_numbers = numbers_by_name(path, "actions", &file.actions)?;
    let mdp = match (file.transitions, file.csr) {
        (Some(transitions), None) => {
            from_transitions(path, n_states, &state_numbers, &action_numbers, transitions)?
        }
        (None, Some(matrices)) if matrices.is_empty() => {
            return Err(TabularError::malformed(path, "'csr' has no matrix", EXAMPLE));
        }
        (None, Some(matrices)) => {
            for (action, matrix) in matrices.iter().enumerate() {
                matrix.check(path, &format!("csr[{action}]: "), n_states as u64)?;
            }
            mdp_from_rows(path, n_states, matrices.len(), |action, state| (&matrices[action], state))?
        }
        _ => {
            let problem = "exactly one of 'transitions' and 'csr' is required";
            return Err(TabularError::malformed(path, problem, EXAMPLE));
        }
    };
    Ok(NamedMdp { mdp, states, actions: file.actions })
}

fn from_transitions(
    path: &Path,
    n_states: usize,
    states: &HashMap<&str, usize>,
    actions: &HashMap<&str, usize>,
    transitions: Vec<(Key, Key, Key, f64)>,
) -> Result<TabularMdp, TabularError> {
    let mut builder = MdpBuilder::new(n_states);
    for (index, (from, action, to, probability)) in transitions.into_iter().enumerate() {
        let find = |key: Key, names: &HashMap<&str, usize>, what: &str| match key {
            Key::Number(number) => Ok(number),
            Key::Name(name) => names.get(name.as_str()).copied().ok_or_else(|| {
                let problem = format!("transitions[{index}]: no {what} {name:?}");
                TabularError::malformed(path, problem, format!("declare it in \"{what}s\", or use a number"))
            }),
        };
        let (from, action) = (find(from, states, "state")?, find(action, actions, "action")?);
        builder.transition(from, action, find(to, states, "state")?, probability);
    }
    builder.build().map_err(TabularError::mdp(path))
}

fn numbers_by_name<'a>(
    path: &Path,
    field: &str,
    names: &'a [String],
) -> Result<HashMap<&'a str, usize>, TabularError> {
    let mut numbers = HashMap::new();
    for (number, name) in names.iter().enumerate() {
        if let Some(first) = numbers.insert(name.as_str(), number) {
            let problem = format!("{field}[{number}]: {name:?} is also {field}[{first}]");
            return Err(TabularError::malformed(path, problem, "give each its own name"));
        }
    }
    Ok(numbers)
}

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = States;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of states or a list of their names")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<States, E> {
                usize::try_from(count).map(States::Count).map_err(E::custom)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<States, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = sequence.next_element()? {
                    names.push(name);
                }
                Ok(States::Names(names))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a number from 0")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Key, E> {
                usize::try_from(number).map(Key::Number).map_err(E::custom)
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
                Ok(Key::Name(name.to_owned()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
