//! Helpers that run the command.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The exit code and output of the command.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Returns the exit code and the output in one text, for snapshots.
    pub fn transcript(&self) -> String {
        let text =
            format!("exit code: {:?}\n----- stdout\n{}----- stderr\n{}", self.code, self.stdout, self.stderr);
        round_numbers(&text)
    }

    /// Asserts that the command refused wrong input: exit code 2, and one line that contains
    /// `expected` and a hint.
    pub fn assert_refused(&self, arguments: &str, expected: &str) {
        assert_eq!(self.code, Some(2), "{arguments}: {}{}", self.stdout, self.stderr);
        let is_explained = self.stderr.contains(expected) && self.stderr.contains("hint:");
        assert!(is_explained, "{arguments}: {}", self.stderr);
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{arguments}: {}", self.stderr);
    }
}

/// Rounds long decimals to nine places and hides error bounds, because the last digits depend on
/// the processor.
pub fn round_numbers(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || ".e-".contains(c);
    let mut rounded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start);
        let (before, number) = (&rest[..start], &rest[start..start + length]);
        rounded += before;
        match number.parse::<f64>() {
            Ok(value) if number.contains("e-") && value < 1e-6 => rounded += "TINY",
            Ok(value) if number.len() > 12 && number.contains('.') => rounded += &format!("{value:.9}"),
            _ => rounded += number,
        }
        rest = &rest[start + length..];
    }
    rounded + rest
}

/// Runs `isochrone` with arguments separated by spaces, in a directory.
pub fn isochrone_in(folder: &Path, arguments: &str) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `isochrone` at the root of the workspace.
pub fn isochrone(arguments: &str) -> Outcome {
    isochrone_in(&workspace(), arguments)
}

/// Returns the names of the subcommands that a help lists; studies are subcommands of `reproduce`.
pub fn subcommands(help: &str) -> Vec<&str> {
    let section = |heading: &'static str| {
        let lines = help.lines().skip_while(move |line| *line != heading).skip(1);
        // Continuation lines of a description are indented further.
        lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "))
    };
    let names = section("Commands:").chain(section("Studies:"));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// Returns every command with its help, each before its subcommands; the first is `isochrone`
/// itself, whose name is empty.
pub fn commands() -> Vec<(String, String)> {
    fn add(command: &str, commands: &mut Vec<(String, String)>) {
        let outcome = isochrone(&format!("{command} --help"));
        assert_eq!(outcome.code, Some(0), "isochrone {command} --help: {}", outcome.stderr);
        let help = outcome.stdout;
        commands.push((command.to_owned(), help.clone()));
        for name in subcommands(&help) {
            add(format!("{command} {name}").trim(), commands);
        }
    }
    let mut commands = Vec::new();
    add("", &mut commands);
    commands
}
