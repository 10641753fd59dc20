//! `just bench-data` and `just bench-data-large`: how fast batches are made, and from how much.
//!
//! Without arguments, in memory: beside NumPy, with a busy learner, and our layout beside Parquet. With `--disk-bytes N --disk-folder F`, a mapped set of
//! that size beside the disk's own rate. Tables in Markdown go to standard output.

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
