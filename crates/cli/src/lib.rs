//! The `isochrone` command as a function, for the program and for other front ends. One file per
//! command.

mod color;
mod commands;
mod plain;
#[cfg(feature = "learn")]
mod signals;

use anyhow::{Context as _, bail};
use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use commands::{hints, output::most_similar};
use isochrone::{InstructionSet, envs::EnvError};
use plain::{PlainWriter, of_stdout};
use std::{
    ffi::OsString,
    io::{BufWriter, ErrorKind, Write as _},
};

/// Learn and use temporal distances: how many steps it takes to get from one state to another.
#[derive(Parser)]
#[command(name = "isochrone", version, max_term_width = 100, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", display_order = 900)]
    threads: Option<usize>,

    /// Vector instructions to use; results depend on them by rounding [default: those of the
    /// processor]
    #[arg(long, global = true, value_name = "SET", display_order = 900)]
    instruction_set: Option<InstructionSet>,

    /// Color help and messages
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto, display_order = 901)]
    color: ColorChoice,
}

const EXAMPLES: &str = "\
Examples:
  isochrone data inspect examples/walks.csv --observations x,y
  isochrone train --data examples/walks.csv --observations x,y --size small --steps 1000 \\
    --run runs/walks
  isochrone distance runs/walks --from 0,0 --to 5,5
  isochrone plan runs/walks --from 0,0 --to 5,5 --plot plan.svg

Documentation: README.md and docs/";

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "learn")]
    Audit(Box<commands::audit::Args>),
    #[command(display_order = 900)]
    Completions(commands::completions::Args),
    Data(commands::data::Args),
    #[cfg(feature = "learn")]
    Distance(Box<commands::distance::Args>),
    #[cfg(feature = "learn")]
    Distill(Box<commands::distill::Args>),
    Doctor(Box<commands::demos::doctor::Args>),
    Envs(commands::envs::Args),
    #[cfg(feature = "learn")]
    Eval(Box<commands::eval::Args>),
    Exact(Box<commands::exact::Args>),
    #[cfg(feature = "learn")]
    Explore(Box<commands::explore::Args>),
    #[cfg(feature = "learn")]
    Export(commands::export::Args),
    Gaps(Box<commands::demos::gaps::Args>),
    Graph(commands::graph::Args),
    #[command(display_order = 901)]
    Man(commands::man::Args),
    #[cfg(feature = "learn")]
    Nearest(Box<commands::nearest::Args>),
    #[cfg(feature = "learn")]
    Plan(Box<commands::plan::Args>),
    #[cfg(feature = "learn")]
    Plot(Box<commands::plot::Args>),
    Progress(Box<commands::demos::progress::Args>),
    #[cfg(feature = "learn")]
    Reproduce(commands::reproduce::Args),
    #[cfg(feature = "learn")]
    Runs(Box<commands::runs::Args>),
    #[cfg(feature = "learn")]
    Score(Box<commands::score::Args>),
    #[cfg(feature = "learn")]
    Train(Box<commands::train::Args>),
}

/// The exit code of an error.
const FAILURE: u8 = 2;

/// Runs the command with these arguments, the first of which is the name of the program, and
/// returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    prepare();
    // Without it, the process ends without a message, which is no reason not to run.
    let _ = isochrone::data::report_shrunk_files();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let color = color::choice(arguments.iter().cloned());
    color::apply(color);
    let parser = Cli::command().color(color).styles(color::STYLES);
    #[cfg(feature = "learn")]
    let parser = commands::reproduce::with_recipe_files(parser, &arguments);
    let cli = match parser.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches))
    {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    match run(cli) {
        Ok(code) => code,
        // A reader that has seen enough (`| head`) is not an error.
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            print_error(&error);
            FAILURE
        }
    }
}

/// Prints an error in one line.
fn print_error(error: &anyhow::Error) {
    color::print_error(&format!("{}{}", hints::in_flags(&one_line(error)), hints::addition(error)));
}

fn run(cli: Cli) -> anyhow::Result<u8> {
    use_threads(cli.threads)?;
    use_instruction_set(cli.instruction_set)?;
    // Buffered in front, because each write is searched for control characters.
    let out = &mut BufWriter::new(PlainWriter::new(std::io::stdout().lock()));
    let mut code = 0;
    match cli.command {
        #[cfg(feature = "learn")]
        Command::Audit(args) => commands::audit::run(&args, out)?,
        Command::Completions(args) => commands::completions::run(&args, &mut Cli::command(), out)?,
        Command::Data(args) => code = commands::data::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Distance(args) => commands::distance::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Distill(args) => commands::distill::run(&args, out)?,
        Command::Doctor(args) => commands::demos::doctor::run(&args, out)?,
        Command::Envs(args) => commands::envs::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Eval(args) => commands::eval::run(&args, out)?,
        Command::Exact(args) => commands::exact::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Explore(args) => commands::explore::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Export(args) => commands::export::run(&args, out)?,
        Command::Gaps(args) => commands::demos::gaps::run(&args, out)?,
        Command::Graph(args) => commands::graph::run(&args, out)?,
        Command::Man(args) => commands::man::run(&args, Cli::command(), out)?,
        #[cfg(feature = "learn")]
        Command::Nearest(args) => commands::nearest::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Plan(args) => commands::plan::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Plot(args) => commands::plot::run(&args, out)?,
        Command::Progress(args) => commands::demos::progress::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Reproduce(args) => code = commands::reproduce::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Runs(args) => commands::runs::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Score(args) => commands::score::run(&args, out)?,
        #[cfg(feature = "learn")]
        Command::Train(args) => code = commands::train::run(&args, out)?,
    }
    out.flush()?;
    Ok(code)
}

fn use_instruction_set(wanted: Option<InstructionSet>) -> anyhow::Result<()> {
    match wanted.map(|set| (set, set.limit())) {
        Some((wanted, Err(found))) => {
            bail!("--instruction-set {wanted}: this processor has {found}; hint: give one that it has")
        }
        _ => Ok(()),
    }
}

/// More than any machine has cores; far more take minutes to start.
const MAX_THREADS: usize = 1024;

fn use_threads(threads: Option<usize>) -> anyhow::Result<()> {
    match threads {
        Some(threads) if !(1..=MAX_THREADS).contains(&threads) => {
            bail!("--threads {threads}; hint: give 1 to {MAX_THREADS}")
        }
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .context("threads cannot be started"),
        None => Ok(()),
    }
}

/// Prepares the process: sets the git revision that runs record, and hides the messages of panics
/// that are caught.
pub fn prepare() {
    #[cfg(feature = "learn")]
    if let Some(revision) = option_env!("ISOCHRONE_GIT_REVISION") {
        isochrone::learn::run::Provenance::set_revision(revision);
    }
    stay_silent_about_guarded_panics();
}

/// Hides the messages of panics that are caught: a reader that panics on a corrupt file is reported
/// as an error of that file.
fn stay_silent_about_guarded_panics() {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !isochrone::data::is_catching_panics() {
            default_hook(panic);
        }
    }));
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Prints help and version unchanged, and wrong arguments in one line that ends in a hint, like
/// every other error.
fn refuse(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    if matches!(error.kind(), DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand) {
        return match error.print() {
            Err(problem) if !error.use_stderr() && problem.kind() != ErrorKind::BrokenPipe => {
                print_error(&of_stdout(problem).into());
                FAILURE
            }
            _ => error.exit_code() as u8,
        };
    }
    let text = error.to_string();
    let before_usage = text.split("Usage:").next().unwrap_or(&text);
    let before_usage = before_usage.split("For more information").next().unwrap_or(before_usage);
    let lines = before_usage.lines().map(str::trim).filter(|line| !line.is_empty());
    let (tips, problem): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("tip: "));
    // No argument of ours is meant to start with a hyphen unless it is a number.
    let tip = tips.iter().find(|tip| !tip.starts_with("tip: to pass") && !is_farfetched(error));
    let hint = tip.map_or_else(|| see_help(&text), |tip| tip["tip: ".len()..].to_owned());
    let hint = data_command(error).unwrap_or(hint);
    let problem = in_plain_words(&problem.join(" "));
    // A value that we refused has a better hint already.
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem);
    match problem.contains("hint:") {
        true => color::print_error(problem),
        false => color::print_error(&format!("{problem}; hint: {hint}")),
    }
    FAILURE
}

/// Returns a hint at a command of `isochrone data` that was given without `data`.
fn data_command(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue::String};
    let Some(String(given)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let command = Cli::command();
    command.find_subcommand("data")?.find_subcommand(given)?;
    Some(format!("use isochrone data {given}"))
}

/// Returns a hint at the help of the command that an error of the parser names in its usage.
fn see_help(error: &str) -> String {
    let usage = error.split("Usage: ").nth(1).unwrap_or("isochrone");
    let is_name =
        |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let command: Vec<&str> =
        usage.split_whitespace().take_while(|word| is_name(word) && !word.starts_with('-')).collect();
    format!("see {} --help", command.join(" "))
}

/// Replaces the notation of Rust in errors of the parser by words.
fn in_plain_words(error: &str) -> String {
    let error = error.replace("invalid digit found in string", "not a whole number");
    let Some((before, range)) = error.split_once(" is not in ") else { return error };
    match range.split_once("..") {
        Some((min, max)) if max.starts_with('=') => {
            format!("{before} is not between {min} and {}", &max[1..])
        }
        Some((min, _)) => format!("{before} is less than {min}"),
        None => error,
    }
}

/// Returns whether clap suggests a value that is too different from the given one, such as gciql
/// for hiql.
fn is_farfetched(error: &clap::Error) -> bool {
    use clap::error::{ContextKind, ContextValue::String};
    match (error.get(ContextKind::InvalidValue), error.get(ContextKind::SuggestedValue)) {
        (Some(String(given)), Some(String(known))) => most_similar(given, [known.as_str()]).is_none(),
        _ => false,
    }
}

/// Returns the text of an error. Libraries cannot hint at how to install this program, so the hint
/// is added here.
fn message(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref() {
        Some(EnvError::NoPhysics { env }) => format!(
            "{env} needs MuJoCo, and this program was built without it; hint: in the repository, run `just mujoco`, then `cargo install --path crates/cli --features mujoco`"
        ),
        _ => error.to_string(),
    }
}

/// Returns the error and its causes in one line, without causes that an earlier message already
/// quotes.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(message) {
        if !line.contains(&cause) {
            line += if line.is_empty() { "" } else { ": " };
            line += &cause;
        }
    }
    line.replace("\nhint:", "; hint:").replace('\n', " ")
}
