//! The `isochrone` command. One file per verb.

mod verbs;

use clap::{Parser, Subcommand};
use std::{
    io::{BufWriter, Write as _},
    process::ExitCode,
};

/// How far apart are two situations, in time?
#[derive(Parser)]
#[command(version, about, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Data(verbs::data::Args),
    #[cfg(feature = "learn")]
    Distance(Box<verbs::distance::Args>),
    Envs(verbs::envs::Args),
    #[cfg(feature = "learn")]
    Eval(Box<verbs::eval::Args>),
    Exact(Box<verbs::exact::Args>),
    #[cfg(feature = "learn")]
    Plan(Box<verbs::plan::Args>),
    #[cfg(feature = "learn")]
    Plot(Box<verbs::plot::Args>),
    #[cfg(feature = "learn")]
    Reproduce(verbs::reproduce::Args),
    #[cfg(feature = "learn")]
    Runs(Box<verbs::runs::Args>),
    #[cfg(feature = "learn")]
    Train(Box<verbs::train::Args>),
}

fn main() -> ExitCode {
    stay_silent_about_guarded_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let outcome = match cli.verb {
        Verb::Data(args) => verbs::data::run(&args, &mut out),
        #[cfg(feature = "learn")]
        Verb::Distance(args) => verbs::distance::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        Verb::Envs(args) => verbs::envs::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "learn")]
        Verb::Eval(args) => verbs::eval::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "learn")]
        Verb::Plan(args) => verbs::plan::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "learn")]
        Verb::Plot(args) => verbs::plot::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "learn")]
        Verb::Reproduce(args) => verbs::reproduce::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "learn")]
        Verb::Runs(args) => verbs::runs::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "learn")]
        Verb::Train(args) => verbs::train::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
        Verb::Exact(args) => verbs::exact::run(&args, &mut out).map(|()| ExitCode::SUCCESS),
    };
    match outcome.and_then(|code| Ok(out.flush().map(|()| code)?)) {
        Ok(code) => code,
        // A reader that has seen enough (`| head`) is not an error.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}{}", one_line(&error), flag_for(&error));
            ExitCode::from(2)
        }
    }
}

/// A library that panics on a damaged file is caught, and the file's error is all that a user should read.
fn stay_silent_about_guarded_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !isochrone::data::is_guarded() {
            usual(panic);
        }
    }));
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Help and version as they are; wrong arguments in one line that ends in a hint, like every other error.
fn refuse(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    if matches!(error.kind(), DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand) {
        let _ = error.print();
        return ExitCode::from(error.exit_code() as u8);
    }
    let text = error.to_string();
    let before_usage = text.split("Usage:").next().unwrap_or(&text);
    let before_usage = before_usage.split("For more information").next().unwrap_or(before_usage);
    let lines = before_usage.lines().map(str::trim).filter(|line| !line.is_empty());
    let (tips, problem): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("tip: "));
    let hint =
        tips.first().map_or("see isochrone --help, or the --help of the verb", |tip| &tip["tip: ".len()..]);
    let problem = problem.join(" ");
    // A value that we refused has a better hint already.
    match problem.contains("hint:") {
        true => eprintln!("{problem}"),
        false => eprintln!("{problem}; hint: {hint}"),
    }
    ExitCode::from(2)
}

/// What the library cannot know: the flag that does what its hint says.
fn flag_for(error: &anyhow::Error) -> &'static str {
    #[cfg(feature = "learn")]
    if let Some(isochrone::learn::error::LearnError::Edited { .. }) = error.downcast_ref() {
        return " (--accept-edits of train --resume, distance, plan, eval and plot map)";
    }
    let _ = error;
    ""
}

/// The error and its causes, leaving out causes that a message before them already quotes.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !line.contains(&cause) {
            line += if line.is_empty() { "" } else { ": " };
            line += &cause;
        }
    }
    line.replace("\nhint:", "; hint:").replace('\n', " ")
}
