//! Compares the public API of the libraries with the committed snapshots, or rewrites them with
//! `--update`.
//!
//! Usage: `isochrone-public-api FOLDER_OF_RUSTDOC_JSON SNAPSHOTS [--update]`.

use std::{error::Error, fs, path::Path, process::ExitCode};

const LIBRARIES: [&str; 8] = [
    "isochrone",
    "isochrone_core",
    "isochrone_data",
    "isochrone_envs",
    "isochrone_eval",
    "isochrone_learn",
    "isochrone_nn",
    "isochrone_plot",
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [descriptions, snapshots, rest @ ..] = &arguments[..] else {
        return Err("usage: isochrone-public-api FOLDER_OF_RUSTDOC_JSON SNAPSHOTS [--update]".into());
    };
    let mut is_as_committed = true;
    for library in LIBRARIES {
        let description = Path::new(descriptions).join(format!("{library}.json"));
        let api = public_api::Builder::from_rustdoc_json(description)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()?;
        let lines: Vec<String> = api.items().map(ToString::to_string).collect();
        for line in lines.iter().filter(|line| is_error_as_text(line)) {
            eprintln!("{library}: the error type is a string, which callers cannot match: {line}");
            is_as_committed = false;
        }
        let snapshot = Path::new(snapshots).join(format!("{library}.txt"));
        if rest == ["--update"] {
            fs::write(&snapshot, lines.join("\n") + "\n")?;
            continue;
        }
        let committed = fs::read_to_string(&snapshot)?;
        let committed: Vec<&str> = committed.lines().collect();
        for line in committed.iter().filter(|line| !lines.iter().any(|other| other == *line)) {
            eprintln!("{library}: removed: {line}");
            is_as_committed = false;
        }
        for line in lines.iter().filter(|line| !committed.contains(&line.as_str())) {
            eprintln!("{library}: added: {line}");
            is_as_committed = false;
        }
    }
    if !is_as_committed {
        eprintln!("the public API differs from docs/api; hint: review the lines, then run just api --update");
    }
    Ok(if is_as_committed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_error_as_text(line: &str) -> bool {
    line.contains("-> core::result::Result<") && line.trim_end().ends_with(", alloc::string::String>")
}
