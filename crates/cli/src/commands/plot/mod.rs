//! `isochrone plot`: figures of runs, and an HTML report.

mod calibration;
mod curves;
mod map;
mod report;

use clap::Subcommand;
use std::io::Write;

/// Plot maps, training curves and calibration of runs, or write an HTML report
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: PlotCommand,
}

#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one per process")]
enum PlotCommand {
    Map(map::Args),
    Curves(curves::Args),
    Calibration(calibration::Args),
    Report(report::Args),
}

const EXAMPLES: &str = "\
Examples:
  isochrone plot map runs/nav2d --to 0,-10 -o to.svg
  isochrone plot map runs/nav2d --from -12,0 --to 0,-20 --path -o path.png
  isochrone plot curves runs --metric evaluation/log_likelihood -o curves.svg
  isochrone plot calibration runs/maze-cmd1 runs/maze-qrl -o calibration.svg
  isochrone plot report runs/nav2d -o report.html";

/// Runs the command; results go to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match &args.command {
        PlotCommand::Map(args) => map::run(args),
        PlotCommand::Curves(args) => curves::run(args),
        PlotCommand::Calibration(args) => calibration::run(args),
        PlotCommand::Report(args) => report::run(args, out),
    }
}
