//! Embeds the build-time path of the MuJoCo library as an rpath, and the git revision of the
//! sources, which the manifests of runs record.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

const ROOT: &str = "../..";
/// The parts of a crate that are compiled into the command.
const COMPILED: [&str; 5] = ["Cargo.toml", "build.rs", "src", "assets", "recipes"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    embed_search_path();
    pass_revision();
}

/// `isochrone-envs` checks that the library exists.
fn embed_search_path() {
    println!("cargo::rerun-if-env-changed=MUJOCO_DYNAMIC_LINK_DIR");
    if let (Some(_), Ok(folder)) =
        (std::env::var_os("CARGO_FEATURE_MUJOCO"), std::env::var("MUJOCO_DYNAMIC_LINK_DIR"))
    {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}

/// The library that records the revision does not know it, so that a commit compiles only this
/// crate again.
fn pass_revision() {
    // A release from a registry has no repository of its own; a repository that it is unpacked in
    // is ignored.
    if !Path::new(ROOT).join(".git").exists() {
        return;
    }
    let Some(revision) = git(&["rev-parse", "HEAD"]) else { return };
    let sources = sources();
    // The log of HEAD grows with every commit and checkout, while a mere `git status` rewrites the
    // index.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    for path in log.iter().chain(&sources) {
        println!("cargo::rerun-if-changed={path}");
    }
    let mut status = vec!["--no-optional-locks", "status", "--porcelain", "--untracked-files=no", "--"];
    status.extend(sources.iter().map(String::as_str));
    let is_changed = git(&status).is_none_or(|changes| !changes.is_empty());
    println!("cargo::rustc-env=ISOCHRONE_GIT_REVISION={revision}{}", if is_changed { "+" } else { "" });
}

/// The files and folders that the command and the Python module are compiled from.
fn sources() -> Vec<String> {
    let root = Path::new(ROOT);
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten();
    let mut folders: Vec<PathBuf> = crates.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    folders.push(root.join("studies"));
    let parts = folders.iter().flat_map(|folder| COMPILED.map(|part| folder.join(part)));
    let manifests = ["Cargo.toml", "Cargo.lock"].map(|name| root.join(name));
    // A path that does not exist would run this again in every build.
    parts.chain(manifests).filter(|path| path.exists()).map(|path| path.display().to_string()).collect()
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
