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
