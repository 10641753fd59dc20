//! Passes the git revision of the sources to the compiler, for the manifests of runs.

use std::process::Command;

fn main() {
    // Rebuild after a commit or an edit of any source.
    for path in ["../../.git/HEAD", "../../.git/index", "../../crates"] {
        println!("cargo:rerun-if-changed={path}");
    }
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // A release from a registry has no repository of its own; a repository that it is unpacked in
    // is ignored.
    if let Some(revision) =
        git(&["rev-parse", "HEAD"]).filter(|_| std::path::Path::new("../../.git").exists())
    {
        let is_changed =
            git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|changes| !changes.is_empty());
        println!("cargo:rustc-env=ISOCHRONE_GIT_REVISION={revision}{}", if is_changed { "+" } else { "" });
    }
}
