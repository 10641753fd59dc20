//! Sampling benchmarks of `just bench-data` and `just bench-data-large`.
//!
//! Without arguments, the data are in memory: compared with NumPy, with a busy learner, and the
//! isochrone Arrow format compared with Parquet. With `--disk-bytes N --disk-folder F`, a mapped
//! dataset of that size is compared with the rate of the disk. Markdown tables are printed to
//! standard output.

mod disk;
mod formats;
mod memory;
mod synthetic;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|at| arguments.get(at + 1));
    match (value("--disk-bytes"), value("--disk-folder")) {
        (Some(bytes), Some(folder)) => {
            disk::run(bytes.parse().expect("--disk-bytes is a number"), folder.as_ref());
        }
        _ if arguments.iter().any(|argument| argument == "--quick") => memory::quick(),
        _ => {
            memory::run();
            formats::run();
        }
    }
}
