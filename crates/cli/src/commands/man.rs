//! `isochrone man`: manual pages.

use anyhow::Context as _;
use clap::Command;
use isochrone::data::atomic;
use std::{fs, io::Write, path::PathBuf};

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
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
    let mut pages = Vec::new();
    render(command.disable_help_subcommand(true), "isochrone", &mut pages)?;
    for (name, page) in pages {
        let path = folder.join(format!("{name}.1"));
        atomic::write(&path, &page).with_context(|| format!("{}: cannot be written", path.display()))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// Renders the page of a command named `name`, and those of its subcommands.
fn render(command: Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    for child in command.get_subcommands() {
        render(child.clone(), &format!("{name}-{}", child.get_name()), pages)?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.name(name.to_owned())).render(&mut page)?;
    pages.push((name.to_owned(), page));
    Ok(())
}
