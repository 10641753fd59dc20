//! Fetches in a process of its own, with its own environment.

use crate::support::fetch;
use isochrone_data::remote::CacheOptions;
use serde_json::{Value, json};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Returns a process that fetches an address with the settings of its environment.
pub fn command(url: &str, cache: &Path, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child::fetches_an_address", "--exact", "--ignored", "--nocapture"]);
    command.env("FETCH_URL", url).env("ISOCHRONE_CACHE", cache).envs(variables.iter().copied());
    command.stderr(Stdio::inherit());
    command
}

/// Runs such a process and returns its outcome.
pub fn fetch_with(url: &str, cache: &Path, variables: &[(&str, &str)]) -> Value {
    let output = command(url, cache, variables).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.find('{').map(|at| &line[at..]));
    serde_json::from_str(line.unwrap_or_else(|| panic!("no outcome: {text}"))).unwrap()
}

#[test]
#[ignore = "started by other tests"]
fn fetches_an_address() {
    let Ok(url) = std::env::var("FETCH_URL") else { return };
    let outcome = match fetch(&url, &CacheOptions::from_env().unwrap()) {
        Ok(fetched) => json!({
            "path": fetched.path, "downloaded": fetched.downloaded_bytes, "resumed": fetched.resumed_bytes,
            "cached": fetched.cached_bytes, "files": fetched.files,
        }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    println!("{outcome}");
}
