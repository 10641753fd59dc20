//! Flags with a fixed set of values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A name, its help text (may be empty) and the value.
pub type Choice<T> = (&'static str, &'static str, T);

/// Returns a parser that reads one of the choices by name and lists them in the help.
pub fn one_of<T: Clone + Send + Sync + 'static>(choices: Vec<Choice<T>>) -> impl TypedValueParser<Value = T> {
    let listed = |(name, help, _): &Choice<T>| {
        let value = PossibleValue::new(*name);
        if help.is_empty() { value } else { value.help(*help) }
    };
    PossibleValuesParser::new(choices.iter().map(listed).collect::<Vec<_>>()).map(move |name| {
        let chosen = choices.iter().find(|(known, ..)| *known == name);
        chosen.expect("only these names are possible").2.clone()
    })
}
