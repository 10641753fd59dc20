//! `isochrone data`: inspects, validates and converts datasets.

mod convert;
mod inspect;
mod source;
mod validate;

use clap::Subcommand;
use std::io::Write;

/// Inspect, validate and convert datasets
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
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

const EXAMPLES: &str = "\
Examples:
  isochrone data inspect examples/walks.csv --observations x,y
  isochrone data validate examples/walks.csv --observations x,y
  isochrone data convert examples/walks.csv --observations x,y -o walks.arrow

Formats: docs/guides/data.md.";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    match &args.command {
        DataCommand::Inspect(args) => inspect::run(args, out).map(|()| 0),
        DataCommand::Validate(args) => validate::run(args, out),
        DataCommand::Convert(args) => convert::run(args, out).map(|()| 0),
    }
}
