//! `isochrone plot`: pictures of runs, and a page of them.

mod calibration;
mod curves;
mod map;
mod report;

use clap::Subcommand;
use std::io::Write;

/// Draws what runs learned: maps with isochrones, success and other metrics over training, calibration, a page with all of it
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Map(map::Args),
    Curves(curves::Args),
    Calibration(calibration::Args),
    Report(report::Args),
}

const EXAMPLES: &str = "\
Examples:
  isochrone plot map runs/nav2d --to 0,-10 -o to.svg
  isochrone plot map runs/nav2d --from -12,0 --to 0,-20 --way -o way.png
  isochrone plot curves runs --metric evaluation/log_likelihood -o curves.svg
  isochrone plot calibration runs/maze-cmd1 runs/maze-qrl -o calibration.svg
  isochrone plot report runs/nav2d -o report.html";

/// Runs the verb.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match &args.verb {
        Verb::Map(args) => map::run(args),
        Verb::Curves(args) => curves::run(args),
        Verb::Calibration(args) => calibration::run(args),
        Verb::Report(args) => report::run(args, out),
    }
}
