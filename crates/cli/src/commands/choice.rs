//! Flags with a few possible values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value, after its name and a text for the help; the text may be empty.
pub type Choice<T> = (&'static str, &'static str, T);

/// Reads one of some values by its name, and lists them in the help.
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
