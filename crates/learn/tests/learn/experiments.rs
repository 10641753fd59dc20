//! Runs every experiment for a few steps.

use std::process::Command;

#[test]
fn experiments_run() {
    let folder = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples");
    for (name, expected) in [("ground_truth", "| cmd1 |"), ("stitching", "| gcbc | - |")] {
        let output = Command::new(folder.join(name)).arg("--quick").output().unwrap();
        let table = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(table.contains(expected) && table.contains("Made by"), "{name}: {table}");
    }
}
