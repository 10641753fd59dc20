//! The number of instructions of one case, counted by Valgrind's Callgrind.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the folder of Callgrind's files, one per case.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guards")
}

/// Checks that Valgrind can execute the kernels for AVX2, to which the counts belong.
pub fn check_machine() -> Result<(), String> {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        return Ok(());
    }
    Err("the counts are those of x86-64 with AVX2, which this machine does not have".to_owned())
}

/// Runs one case of this program under Callgrind, and returns its instructions.
pub fn count(case: &str) -> Result<u64, String> {
    std::fs::create_dir_all(folder()).map_err(|error| format!("{}: {error}", folder().display()))?;
    let program = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=guards::measured*"])
        .arg(format!("--callgrind-out-file={}", folder().join(format!("{case}.out")).display()))
        .arg(program)
        .args(["--case", case])
        // One thread, so that no instructions are spent on waiting for others.
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => "valgrind is not installed; hint: apt-get install valgrind".to_owned(),
            _ => format!("valgrind: {error}"),
        })?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{case}: {}\n{log}", output.status));
    }
    collected(&log)
        .filter(|count| *count > 0)
        .ok_or_else(|| format!("{case}: no instructions counted\n{log}"))
}

/// Returns the number of the line `==PID== Collected : N`.
fn collected(log: &str) -> Option<u64> {
    let (_, rest) = log.split_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}
