//! `isochrone man`: manual pages.

use anyhow::anyhow;
use clap::Command;
use isochrone::data::atomic;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Write manual pages, one for each command
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Directory for the pages, created if missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  isochrone man -o ~/.local/share/man/man1
  man isochrone-train";

/// Writes the pages of `command` and prints their paths.
pub fn run(args: &Args, command: Command, out: &mut dyn Write) -> anyhow::Result<()> {
    let folder = &args.output;
    let fail = |path: &Path, error: io::Error| {
        anyhow!("{}: cannot be written: {error}; hint: give a folder that is writable", path.display())
    };
    fs::create_dir_all(folder).map_err(|error| fail(folder, error))?;
    let mut command = command.disable_help_subcommand(true);
    // Global flags become part of every page.
    command.build();
    let mut pages = Vec::new();
    render(&command, "isochrone", &mut pages)?;
    for (name, page) in pages {
        let path = folder.join(format!("{name}.1"));
        atomic::write(&path, &page).map_err(|error| fail(&path, error))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// Renders the page of a command named `name`, and those of its subcommands.
fn render(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
        render(child, &format!("{name}-{}", child.get_name()), pages)?;
    }
    let examples = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let command = command.clone().name(name.to_owned()).bin_name(name.replace('-', " "));
    let command = command.after_help("").after_long_help("");
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    page.extend(examples.map(|examples| section(&examples)).unwrap_or_default().bytes());
    pages.push((name.to_owned(), page));
    Ok(())
}

/// Returns the section of the examples, whose lines are kept as they are.
fn section(examples: &str) -> String {
    let lines = examples.trim_start_matches("Examples:\n").lines();
    let escaped = lines.map(|line| format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-")));
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", escaped.collect::<String>())
}
