//! When to color the output.

use crate::plain::plain;
use anstyle::{AnsiColor, Style};
use clap::{ColorChoice, builder::Styles};
use std::{ffi::OsString, io::Write as _};

/// The styles of help texts.
pub const STYLES: Styles = Styles::styled()
    .header(Style::new().bold().underline())
    .usage(Style::new().bold().underline())
    .literal(Style::new().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Returns the choice that the arguments contain.
///
/// Wrong arguments and help are printed by the parser, before it has read `--color`; so the flag is
/// looked up first. The parser reports a value that it does not know.
pub fn choice(arguments: impl Iterator<Item = OsString>) -> ColorChoice {
    let arguments: Vec<OsString> = arguments.take_while(|argument| argument != "--").collect();
    let joined = arguments.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--color="));
    let separate =
        arguments.windows(2).filter(|pair| pair[0] == "--color").filter_map(|pair| pair[1].to_str());
    match joined.chain(separate).last() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

/// Makes the messages of this program follow the choice.
///
/// `auto` colors a terminal unless `NO_COLOR` is set or `TERM` is `dumb`.
pub fn apply(choice: ColorChoice) {
    match choice {
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
        ColorChoice::Auto => anstream::ColorChoice::Auto,
    }
    .write_global();
}

/// Prints an error, with its first word in red.
pub fn print_error(message: &str) {
    let style = AnsiColor::Red.on_default().bold();
    // A full disk behind stderr is no reason to panic.
    let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {}", plain(message));
}
