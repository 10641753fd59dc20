//! `isochrone data`: look at logs, check them, convert them.

mod convert;
mod inspect;
mod source;
mod validate;

use clap::Subcommand;
use std::{io::Write, process::ExitCode};

/// Logs of behaviour: look at them, check them, convert them
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Inspect(Box<inspect::Args>),
    Validate(Box<validate::Args>),
    Convert(Box<convert::Args>),
}

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::Inspect(args) => inspect::run(args, out).map(|()| ExitCode::SUCCESS),
        Verb::Validate(args) => validate::run(args, out),
        Verb::Convert(args) => convert::run(args, out).map(|()| ExitCode::SUCCESS),
    }
}
