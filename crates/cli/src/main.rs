//! The `isochrone` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(isochrone_cli::main(std::env::args_os()))
}
