//! Reads a CSV file as a dataset, prints a summary and validates it.

use isochrone::{
    data::{formats::Format, validate::validate},
    prelude::*,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `.npz` (OGBench), `.hdf5` (D4RL), Minari and LeRobot directories, `.parquet` and `.arrow`
    // are read by the same call.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/walks.csv");
    let data = Dataset::load(path, ReadOptions::default().observations(["x", "y"]))?;
    println!("{} transitions of {} episodes", data.n_transitions(), data.n_episodes());
    println!(
        "observation width {}, action width {}",
        data.spec().observation.width,
        data.spec().action.width
    );

    let episode = data.episode(0);
    println!("the first episode has {} steps and starts at {:?}", episode.steps, &episode.observations[..2]);

    let options = ReadOptions::default().observations(["x", "y"]);
    let report = validate(path.as_ref(), Format::Csv, &options)?;
    println!("{} kinds of problems found", report.findings.len());
    Ok(())
}
