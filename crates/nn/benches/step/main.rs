//! `just bench-nn`: one CMD-1 training step, side by side with what others do.
//!
//! Without arguments: runs every contender in turn, each in a process of its own, several rounds, and writes the table to
//! standard output. With `--contender NAME --batch N`: runs that one and prints a line of JSON.

mod contender;
mod fused;
mod naive;
mod products;
mod report;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|at| arguments.get(at + 1));
    match (value("--contender"), value("--batch")) {
        (Some(name), Some(batch)) => contender::run(name, batch.parse().expect("--batch is a number")),
        _ if arguments.iter().any(|a| a == "--smoke") => report::smoke(),
        _ => report::run(),
    }
}
