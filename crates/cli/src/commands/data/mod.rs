//! `isochrone data`: inspects, validates and converts datasets.

mod convert;
mod inspect;
mod source;
mod validate;

use clap::Subcommand;
use std::{io::Write, process::ExitCode};

/// Inspect, validate and convert datasets
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand)]
enum DataCommand {
    Inspect(Box<inspect::Args>),
    Validate(Box<validate::Args>),
    Convert(Box<convert::Args>),
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match &args.command {
        DataCommand::Inspect(args) => inspect::run(args, out).map(|()| ExitCode::SUCCESS),
        DataCommand::Validate(args) => validate::run(args, out),
        DataCommand::Convert(args) => convert::run(args, out).map(|()| ExitCode::SUCCESS),
    }
}
