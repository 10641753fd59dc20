//! `isochrone reproduce`: runs a study end to end.

use crate::{
    commands::{
        device_args::DeviceArgs,
        output::{bar, note, note_fmt},
        train::parser_of,
    },
    signals,
};
use anyhow::{Context as _, bail};
use clap::{ArgMatches, Args as _, Command, FromArgMatches, Subcommand, ValueHint};
use isochrone::learn::Algorithm;
use isochrone_studies::{
    BUILT_IN, Collecting, DistanceBenchmark, DistanceEnvironment, DistanceMethod, DistanceRow, EpisodeLeak,
    Event, LeakCurve, MAX_SEEDS, Part, Recipe, Results, RunResult, Shard, Study, StudyError, Threshold,
    merge,
};
use serde_json::json;
use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

/// Run a study end to end: data, methods, seeds, figures, report
///
/// A study is one of those below, or a recipe file of your own. Finished parts are kept in the
/// output directory; the same command continues an interrupted study.
///
/// The flags -o, --quick, --check, --methods, --datasets, --seeds, --shard, --device and --json are
/// listed by the help of a study, such as `isochrone reproduce nav2d --help`. `distances`,
/// `episode-leak` and `merge` have flags of their own.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true, subcommand_value_name = "STUDY|RECIPE.toml", subcommand_help_heading = "Studies")]
pub struct Args {
    #[command(subcommand)]
    study: StudyArg,
}

/// A built-in or user-defined study, or the shards of one to merge.
enum StudyArg {
    Study { recipe: Box<Recipe>, args: StudyArgs },
    Merge(MergeArgs),
    Distances(DistancesArgs),
    Leak(LeakArgs),
}

/// The flags shared by all studies.
#[derive(clap::Args)]
struct StudyArgs {
    /// Output directory [default: name of the study]
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,

    /// Run a smoke test that takes minutes, with one seed and fewer updates
    #[arg(long)]
    quick: bool,

    /// Fail if a method falls below its regression threshold
    #[arg(long)]
    check: bool,

    /// Methods to run, such as cmd1,gcbc [default: all of the recipe]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parser_of(&Algorithm::ALL))]
    methods: Vec<Algorithm>,

    /// Number of seeds [default: as in the recipe]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_SEEDS))]
    seeds: Option<u64>,

    /// Datasets to run, for `isochrone reproduce merge` with the others [default: all of the
    /// recipe]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    datasets: Vec<String>,

    /// Part of the runs, such as 2/5 for the second of five machines
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    #[command(flatten)]
    device: DeviceArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Merge the results of shards into one report
#[derive(clap::Args)]
#[command(after_help = MERGE_EXAMPLES)]
struct MergeArgs {
    /// Directories of the shards
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,

    /// Output directory
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Compare refined, learned and straight-line distances with exact travel times
#[derive(clap::Args)]
#[command(after_help = DISTANCES_EXAMPLES)]
struct DistancesArgs {
    /// Output directory
    #[arg(long, short, value_name = "DIR", default_value = "distances", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    /// Run a smoke test that takes a minute, with environments without physics and fewer updates
    #[arg(long)]
    quick: bool,

    /// Methods to compare, such as refined,cmd1 [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = method)]
    methods: Vec<DistanceMethod>,

    /// Environments, such as ring-noise-0.02 [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = environment)]
    environments: Vec<DistanceEnvironment>,

    /// Number of gradient updates per network
    #[arg(long, value_name = "N")]
    updates: Option<u64>,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    device: DeviceArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Measure how learners overfit to episode identity, on demonstrations of a robot arm
#[derive(clap::Args)]
#[command(after_help = LEAK_EXAMPLES)]
struct LeakArgs {
    /// Output directory
    #[arg(long, short, value_name = "DIR", default_value = "episode-leak", value_hint = ValueHint::DirPath)]
    output: PathBuf,

    /// Algorithms to train, such as cmd1,qrl [default: all that learn a distance]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = learner)]
    methods: Vec<Algorithm>,

    /// Batch size
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u64).range(2..=65536))]
    batch_size: u64,

    /// Rows of a batch that are from the same episode; one training run for each value
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 128])]
    rows_per_episode: Vec<usize>,

    /// Number of gradient updates per training run
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u64).range(20..))]
    updates: u64,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    device: DeviceArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn learner(name: &str) -> Result<Algorithm, String> {
    named(name, learners().map(|algorithm| (algorithm.name().to_owned(), algorithm)))
}

/// Returns the algorithms that learn a distance.
fn learners() -> impl Iterator<Item = Algorithm> {
    DistanceMethod::all().filter_map(|method| match method {
        DistanceMethod::Learned(algorithm) => Some(algorithm),
        _ => None,
    })
}

fn method(name: &str) -> Result<DistanceMethod, String> {
    named(name, DistanceMethod::all().map(|method| (method.name().to_owned(), method)))
}

fn environment(name: &str) -> Result<DistanceEnvironment, String> {
    named(name, DistanceEnvironment::ALL.into_iter().map(|environment| (environment.name(), environment)))
}

/// Finds a value by its name.
fn named<T>(name: &str, known: impl Iterator<Item = (String, T)>) -> Result<T, String> {
    let mut names = Vec::new();
    for (known, value) in known {
        if known == name {
            return Ok(value);
        }
        names.push(known);
    }
    Err(format!("not in the benchmark; hint: choose from {}", names.join(", ")))
}

const EXAMPLES: &str = "\
Examples:
  isochrone reproduce nav2d --quick -o nav2d-quick   # a smoke test that takes minutes
  isochrone reproduce nav2d -o nav2d                 # an hour on two cores; rerun to continue
  isochrone reproduce nav2d --methods cmd1,gcbc --seeds 2
  isochrone reproduce mazes -o mazes                 # needs MuJoCo; 1.5 hours on two cores
  isochrone reproduce mazes --shard 1/2 -o mazes-1   # and 2/2 on another machine, then:
  isochrone reproduce merge mazes-1 mazes-2 -o mazes
  isochrone reproduce pointmazes --datasets pointmaze-giant-stitch -o giant-stitch
  isochrone reproduce distances --quick              # compare with exact travel times
  isochrone reproduce my-recipe.toml -o my-study     # examples: studies/recipes";

const MERGE_EXAMPLES: &str = "\
Examples:
  isochrone reproduce mazes --shard 1/2 -o mazes-1   # and 2/2 on another machine, then:
  isochrone reproduce merge mazes-1 mazes-2 -o mazes";

const DISTANCES_EXAMPLES: &str = "\
Examples:
  isochrone reproduce distances --quick -o distances-quick
  isochrone reproduce distances -o distances         # needs MuJoCo
  isochrone reproduce distances --methods refined,cmd1 --environments ring-noise-0.02";

const LEAK_EXAMPLES: &str = "\
Examples:
  isochrone reproduce episode-leak --methods cmd1 --updates 100 -o episode-leak-quick
  isochrone reproduce episode-leak -o episode-leak
  isochrone reproduce episode-leak --methods cmd1,qrl --rows-per-episode 1,16,128";

/// Returns the examples of a study that has a recipe.
fn study_examples(study: &str) -> String {
    let folder = Path::new(study).file_stem().unwrap_or_default().display();
    // A quick version has a directory of its own, because its datasets may be smaller.
    format!(
        "Examples:\n  isochrone reproduce {study} --quick -o {folder}-quick\n  isochrone reproduce {study} -o {folder}"
    )
}

/// Adds the recipe files among the arguments to the studies, with the flags and the help of a
/// built-in one. Flags of all commands, such as `--threads`, could not follow an unknown study.
pub fn with_recipe_files(command: Command, arguments: &[OsString]) -> Command {
    let names = arguments.iter().filter_map(|argument| argument.to_str());
    let files: BTreeSet<&str> = names.filter(|name| is_recipe_file(name)).collect();
    command.mut_subcommand("reproduce", |reproduce| {
        let studies = files.into_iter().map(|file| {
            let study = Command::new(file.to_owned()).about("Run the study of a recipe file").hide(true);
            StudyArgs::augment_args(study).after_help(study_examples(file))
        });
        reproduce.subcommands(studies)
    })
}

fn is_recipe_file(name: &str) -> bool {
    !name.starts_with('-') && Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

impl Subcommand for StudyArg {
    fn augment_subcommands(mut command: Command) -> Command {
        for (name, _) in BUILT_IN {
            let recipe = Recipe::built_in(name).expect("it is built in");
            let study = StudyArgs::augment_args(Command::new(name))
                .about(recipe.summary.clone())
                .after_help(study_examples(name));
            let methods = recipe.methods();
            command =
                command.subcommand(study.mut_arg("methods", |arg| arg.value_parser(parser_of(&methods))));
        }
        command
            .subcommand(DistancesArgs::augment_args(Command::new("distances")))
            .subcommand(LeakArgs::augment_args(Command::new("episode-leak")))
            .subcommand(MergeArgs::augment_args(Command::new("merge")))
            .allow_external_subcommands(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        ["merge", "distances", "episode-leak"].contains(&name)
            || BUILT_IN.iter().any(|(known, _)| *known == name)
    }
}

impl FromArgMatches for StudyArg {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, matches) = matches.subcommand().expect("help is shown without one");
        if name == "merge" {
            return Ok(Self::Merge(MergeArgs::from_arg_matches(matches)?));
        }
        if name == "distances" {
            return Ok(Self::Distances(DistancesArgs::from_arg_matches(matches)?));
        }
        if name == "episode-leak" {
            return Ok(Self::Leak(LeakArgs::from_arg_matches(matches)?));
        }
        let refuse = |problem: String| clap::Error::raw(clap::error::ErrorKind::InvalidSubcommand, problem);
        let recipe = match Recipe::built_in(name) {
            Some(recipe) => recipe,
            None if is_recipe_file(name) && Path::new(name).exists() => {
                Recipe::load(Path::new(name)).map_err(|error| refuse(error.to_string()))?
            }
            None => {
                let known = BUILT_IN.map(|(name, _)| name).join(", ") + ", distances, episode-leak";
                let problem = format!(
                    "{name}: no such study or recipe file; hint: choose from {known}, or give a file NAME.toml"
                );
                return Err(refuse(problem));
            }
        };
        let args = StudyArgs::from_arg_matches(matches)?;
        let stem = Path::new(name).file_stem().unwrap_or_default();
        let args = StudyArgs { output: Some(args.output.unwrap_or_else(|| stem.into())), ..args };
        Ok(Self::Study { recipe: Box::new(recipe), args })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Runs the command and returns the exit code; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    isochrone::nn::memory::retain_heap();
    let done = match &args.study {
        StudyArg::Study { recipe, args } => return study(recipe, args, out),
        StudyArg::Merge(args) => {
            let results = merge(&args.shards, &args.output)?;
            print(&args.output, &results, &[], args.json, out)
        }
        StudyArg::Distances(args) => distances(args, out),
        StudyArg::Leak(args) => leak(args, out),
    };
    done.map(|()| 0)
}

fn distances(args: &DistancesArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut benchmark = if args.quick { DistanceBenchmark::quick() } else { DistanceBenchmark::full() };
    benchmark.seed = args.seed;
    benchmark.device = args.device.available()?;
    benchmark.updates = args.updates.unwrap_or(benchmark.updates);
    if !args.methods.is_empty() {
        benchmark.methods = args.methods.clone();
    }
    if !args.environments.is_empty() {
        benchmark.environments = args.environments.clone();
    }
    let n_combinations = benchmark.environments.len() * benchmark.methods.len();
    let bar = bar(n_combinations, "{bar:24} {pos}/{len} methods x environments  {elapsed}");
    bar.enable_steady_tick(Duration::from_secs(1));
    let observe = |rows: &[DistanceRow]| {
        bar.inc(1);
        bar.suspend(|| rows.iter().for_each(|row| note(&distance_line(row))));
    };
    let rows = benchmark.run(&args.output, &observe);
    bar.finish_and_clear();
    // Unwrapped, so that the error of a missing MuJoCo gets the program's installation hint.
    let rows = rows.map_err(|error| match error {
        StudyError::Collect(error) => anyhow::Error::new(error),
        error => error.into(),
    })?;
    if args.json {
        return Ok(writeln!(out, "{:#}", json!({ "folder": args.output, "rows": rows }))?);
    }
    Ok(writeln!(
        out,
        "{}: {} rows; README.md, results.json, readings.svg",
        args.output.display(),
        rows.len()
    )?)
}

fn leak(args: &LeakArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let device = args.device.available()?;
    let methods = if args.methods.is_empty() { learners().collect() } else { args.methods.clone() };
    let rows_per_episode = args.rows_per_episode.clone();
    let bar = bar(methods.len() * rows_per_episode.len(), "{bar:24} {pos}/{len} training runs  {elapsed}");
    bar.enable_steady_tick(Duration::from_secs(1));
    let study = EpisodeLeak {
        methods,
        batch_size: args.batch_size as usize,
        rows_per_episode,
        updates: args.updates,
        seed: args.seed,
        device,
    };
    let observe = |curve: &LeakCurve| {
        bar.inc(1);
        let last = |values: &[f64]| values.last().copied().unwrap_or(f64::NAN);
        let best = curve.steps_to_go.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        bar.suspend(|| {
            note(&format!(
                "{}, {} rows per episode: rank of steps to go {:.3} (last), {best:.3} (best); across episodes {:.3}",
                curve.method,
                curve.rows_per_episode,
                last(&curve.steps_to_go),
                last(&curve.across_episodes)
            ));
        });
    };
    let curves = study.run(&args.output, &observe)?;
    bar.finish_and_clear();
    if args.json {
        return Ok(writeln!(out, "{:#}", json!({ "folder": args.output, "curves": curves }))?);
    }
    Ok(writeln!(out, "{}: {} curves; results.json, curves.svg", args.output.display(), curves.len())?)
}

/// Formats a row of the benchmark in one line.
fn distance_line(row: &DistanceRow) -> String {
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "none".to_owned(), |value| format!("{value:.decimals$}"))
    };
    format!(
        "{} {} {}: Spearman {}, median error {} %, one ahead {}; fit {:.0} s",
        row.environment,
        row.method,
        row.reading,
        number(row.spearman, 4),
        number(row.median_relative_error.map(|error| 100.0 * error), 1),
        number(row.one_ahead, 2),
        row.fit_seconds,
    )
}

fn study(recipe: &Recipe, args: &StudyArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    // Before data are collected, which takes minutes.
    let stop = signals::stop_handle(true)?;
    let device = args.device.available()?;
    let output = args.output.as_ref().expect("it has a default");
    let folder = output.display();
    let mut recipe = if args.quick { recipe.clone().quick() } else { recipe.clone() };
    recipe.seeds = args.seeds.unwrap_or(recipe.seeds);
    // Checked before data are collected, which takes minutes.
    let recipe = recipe.with_methods(&args.methods).context("--methods")?;
    let part = Part { datasets: args.datasets.clone(), shard: args.shard };
    let collecting = signals::AtOnce::new();
    let collected = bar(0, "{bar:24} {human_pos}/{human_len} episodes of {msg}  {eta} left");
    let collecting_one = |Collecting { dataset, episodes, done }: Collecting<'_>| {
        if done == 1 {
            collected.reset();
            collected.set_length(episodes as u64);
            collected.set_message(dataset.to_owned());
        }
        collected.set_position(done as u64);
    };
    let study = Study::open(output, recipe, part, &collecting_one).map_err(|error| match error {
        // Unwrapped, so that the error of a missing MuJoCo gets the program's installation hint.
        StudyError::Collect(error) => anyhow::Error::new(error),
        error @ StudyError::UnknownDataset { .. } => anyhow::Error::new(error).context("--datasets"),
        error => error.into(),
    })?;
    drop(collecting);
    collected.finish_and_clear();
    let study = study.on(device);
    let bar = bar(study.jobs().len(), "{bar:24} {pos}/{len} runs  {elapsed}  {msg}");
    bar.enable_steady_tick(Duration::from_secs(1));
    let observe = |event: Event<'_>| {
        if let Event::Finished(result) = event {
            bar.inc(1);
            bar.suspend(|| note(&line(result)));
        }
    };
    let results = study.run(&stop, &observe);
    bar.finish_and_clear();
    let results = results?;
    let mut below = results.thresholds();
    below.retain(|threshold| !threshold.holds());
    let describe = |Threshold { claim, measured, min }| format!("{claim} {measured:.3}, below {min:.3}");
    let below: Vec<String> = below.into_iter().map(describe).collect();
    if let Some((run, reason)) = results.failures.iter().next() {
        bail!("{folder}: {} runs failed; {run}: {reason}", results.failures.len());
    }
    if !results.is_complete() {
        note_fmt!("{folder}: stopped; the same command continues; report.md has the finished runs");
        return Ok(signals::exit_code());
    }
    print(output, &results, &below, args.json, out)?;
    if args.check && !below.is_empty() {
        bail!("{}; hint: check the methods for regressions", below.join("; "));
    }
    Ok(0)
}

fn print(
    output: &Path,
    results: &Results,
    below: &[String],
    is_json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (folder, runs, n_jobs) = (output.display(), results.without_pairs().runs, results.n_jobs);
    if is_json {
        let results = json!({ "folder": output, "runs": runs, "below_threshold": below });
        return Ok(writeln!(out, "{results:#}")?);
    }
    let count = runs.len();
    Ok(writeln!(out, "{folder}: {count} of {n_jobs} runs; report.html, report.md, results.json, figures/")?)
}

/// Formats a finished run in one line.
fn line(result: &RunResult) -> String {
    let RunResult { dataset, method, seed, seconds, .. } = result;
    let planners: BTreeSet<Option<&str>> =
        result.evaluations.iter().map(|evaluation| evaluation.planner.as_deref()).collect();
    let score = |planner: Option<&str>| {
        let success = result.success(planner)?;
        let percent = 100.0 * success.last_three.unwrap_or(success.last);
        Some(format!("{} {percent:.1} %", planner.unwrap_or("success")))
    };
    let scores: Vec<String> = planners.into_iter().filter_map(score).collect();
    let variant = result.variant.as_ref().map_or_else(String::new, |variant| format!(", {variant}"));
    format!("{dataset} {method} seed {seed}{variant}: {}; {seconds:.0} s", scores.join(", "))
}
