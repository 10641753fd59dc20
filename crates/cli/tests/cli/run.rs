//! Running the command.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// What a run of the command left behind.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Everything in one text, for snapshots.
    pub fn transcript(&self) -> String {
        let text =
            format!("exit code: {:?}\n----- stdout\n{}----- stderr\n{}", self.code, self.stdout, self.stderr);
        settle_numbers(&text)
    }
}

/// Rounds long decimals to nine places and hides error bounds: the last digits depend on the processor.
pub fn settle_numbers(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || ".e-".contains(c);
    let mut settled = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[begin..].find(|c| !is_part(c)).unwrap_or(rest.len() - begin);
        let (before, number) = (&rest[..begin], &rest[begin..begin + length]);
        settled += before;
        match number.parse::<f64>() {
            Ok(value) if number.contains("e-") && value < 1e-6 => settled += "TINY",
            Ok(value) if number.len() > 12 && number.contains('.') => settled += &format!("{value:.9}"),
            _ => settled += number,
        }
        rest = &rest[begin + length..];
    }
    settled + rest
}

/// Runs `isochrone` with arguments separated by spaces, in a folder.
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
