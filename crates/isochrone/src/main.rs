//! The `isochrone` command. One file per verb.

mod verbs;

use clap::{Parser, Subcommand};
use std::{io::Write as _, process::ExitCode};

/// How far apart are two situations, in time?
#[derive(Parser)]
#[command(version, about, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Exact(Box<verbs::exact::Args>),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().verb {
        Verb::Exact(args) => verbs::exact::run(&args),
    };
    match outcome.and_then(|data| print(&data)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", one_line(&error));
            ExitCode::from(2)
        }
    }
}

/// The error and its causes, leaving out causes that a message before them already quotes.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !line.contains(&cause) {
            line += if line.is_empty() { "" } else { ": " };
            line += &cause;
        }
    }
    line.replace('\n', " ")
}

/// Writes data to stdout; a reader that has seen enough (`| head`) is not an error.
fn print(data: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(data.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
