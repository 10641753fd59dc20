//! `isochrone completions`: shell completions.

use clap::Command;
use clap_complete::Shell;
use std::io::Write;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Shell to complete in
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  isochrone completions bash > ~/.local/share/bash-completion/completions/isochrone
  isochrone completions zsh > ~/.zfunc/_isochrone
  isochrone completions fish > ~/.config/fish/completions/isochrone.fish";

/// Prints the completion script of `command`.
pub fn run(args: &Args, command: &mut Command, out: &mut dyn Write) -> std::io::Result<()> {
    // The generator panics if it cannot write, for instance to a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "isochrone", &mut script);
    out.write_all(&script)
}
