//! The public API of every library, as a snapshot: a change of it is seen in a review.

use crate::run::workspace;
use std::{path::PathBuf, process::Command};

const LIBRARIES: [&str; 8] = ["core", "data", "envs", "eval", "learn", "nn", "plot", ""];

/// Describes all libraries as JSON; where the files are.
fn describe() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["doc", "--workspace", "--lib", "--no-deps", "--features", "mujoco", "--locked", "--offline"])
        .current_dir(workspace())
        .env("RUSTDOC", workspace().join("crates/cli/tests/rustdoc-json.sh"))
        // Not what `cargo doc` has made before.
        .env("RUSTDOCFLAGS", "--cfg isochrone_api")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    target.join("doc")
}

#[test]
fn the_public_api_is_as_committed() {
    let folder = describe();
    for library in LIBRARIES {
        let name = if library.is_empty() { "isochrone".to_owned() } else { format!("isochrone_{library}") };
        let api = public_api::Builder::from_rustdoc_json(folder.join(format!("{name}.json")))
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .unwrap();
        let lines: Vec<String> = api.items().map(ToString::to_string).collect();
        for line in &lines {
            let is_text = line.contains("Result<") && line.contains(", alloc::string::String>");
            assert!(!is_text, "an error that a program cannot match: {line}");
        }
        insta::assert_snapshot!(format!("api_{name}"), lines.join("\n"));
    }
}
