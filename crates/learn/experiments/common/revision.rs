//! The git revision of the clone that a measurement is started in.

/// Returns the revision, with `+` if files were modified.
pub fn revision() -> String {
    let mut git = std::process::Command::new("git");
    let output = git.args(["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"]).output().ok();
    output
        .filter(|output| output.status.success())
        .map_or("unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
