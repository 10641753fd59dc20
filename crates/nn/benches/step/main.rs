//! `just bench-nn`: one CMD-1 training step, compared with other frameworks.
//!
//! Without arguments, it runs every contender in a separate process, in several rounds, and prints
//! a table. With `--contender NAME --batch N [--width W]`, it runs that contender and prints one
//! line of JSON.

mod arithmetic;
mod contender;
mod fused;
mod naive;
mod report;
mod size;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|at| arguments.get(at + 1));
    match (value("--contender"), value("--batch")) {
        (Some(name), Some(batch)) => {
            let width = value("--width").map_or(512, |width| width.parse().expect("--width is a number"));
            contender::run(name, batch.parse().expect("--batch is a number"), width);
        }
        _ if arguments.iter().any(|a| a == "--smoke") => report::smoke(),
        _ => report::run(),
    }
}
