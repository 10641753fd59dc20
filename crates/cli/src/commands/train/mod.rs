//! `isochrone train`: learn a distance and a policy from logs.

mod watch;

use crate::commands::{
    choice::{Choice, one_of},
    output::{file_stem, tell},
    query::open_run,
    read_args::{ReadArgs, progress},
};
use anyhow::{Context as _, bail};
use clap::builder::TypedValueParser;
use isochrone::{
    audit::{AcrossEpisodes, Readings},
    data::{Dataset, formats},
    learn::{
        Algorithm, Outcome, Preset, SettingInfo, StopHandle, Training, TrainingResult,
        error::LearnError,
        evaluation::{DistanceEvaluation, Evaluation},
        run::{DataConfig, Run, RunConfig},
        settings,
    },
    refined::{RefinedConfig, RefinedDistance},
};
use serde_json::json;
use std::{
    cell::LazyCell,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};
use watch::Watch;

/// Learns a distance and a policy from logs, into a folder of its own
///
/// Settings come from the data (widths, scale, horizon), then from a configuration file, then from dotted overrides. All of them are
/// written to config.toml in the run's folder. Ctrl-C saves a checkpoint and ends; --resume goes on from there, bit for bit as if
/// nothing had happened.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// A configuration file (.toml), and overrides like learner.critic.width=256
    #[arg(value_name = "CONFIG | NAME=VALUE")]
    settings: Vec<String>,

    /// Logs to learn from: a file or folder of any format that `isochrone data` reads
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Logs to judge by and not to learn from; NAME-val.npz beside NAME.npz is found by itself
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,

    /// What learns
    #[arg(long, short, value_parser = parser_of(&Algorithm::ALL))]
    algorithm: Option<Algorithm>,

    /// How large networks are, unless settings say otherwise
    #[arg(long, value_parser = one_of(SIZES.to_vec()), default_value = "standard")]
    size: Preset,

    /// Updates to do [default: 50000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<u64>,

    /// Of everything random [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The folder of the run [default: runs/DATA-ALGORITHM-SEED]
    #[arg(long, value_name = "FOLDER")]
    run: Option<PathBuf>,

    /// Go on with the run in this folder; everything is as it was begun
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["settings", "data", "validation", "algorithm", "size", "steps", "seed", "run", "observations", "actions", "episode", "reward", "time", "ends", "fps", "goal", "action_range"])]
    resume: Option<PathBuf>,

    /// Go on although config.toml or manifest.json was edited: what they say now holds from here on
    #[arg(long, requires = "resume")]
    accept_edits: bool,

    #[command(flatten)]
    read: ReadArgs,

    /// List all settings of the algorithm with their defaults, and train nothing
    #[arg(long)]
    list_settings: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  isochrone train --data pointmaze-medium-navigate-v0.npz --algorithm cmd1 --run runs/maze
  isochrone train --data examples/walks.csv --observations x,y --size small --steps 2000
  isochrone train config.toml learner.critic.width=256 steps=100000 seed=3
  isochrone train --resume runs/maze
  isochrone train --algorithm qrl --list-settings

Guide: docs/guides/learning.md.";

const SIZES: [Choice<Preset>; 3] = [
    ("small", "2 x 64", Preset::Small),
    ("standard", "3 x 256, layer normalization", Preset::Standard),
    ("paper", "4 x 512, as in the paper", Preset::Paper),
];

/// Reads one of some algorithms by its name, and lists them in the help.
pub fn parser_of(algorithms: &[Algorithm]) -> impl TypedValueParser<Value = Algorithm> + use<> {
    one_of(algorithms.iter().map(|algorithm| (algorithm.name(), algorithm.idea(), *algorithm)).collect())
}

/// Runs the verb; data goes to `out`. A run that was stopped has the exit code of a process that Ctrl-C ended.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if args.list_settings {
        list_settings(args.algorithm.unwrap_or(Algorithm::Cmd1), args.size, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    isochrone::nn::memory::retain_heap();
    let result = match &args.resume {
        Some(folder) => resume(folder, args.accept_edits)?,
        None => start(args)?,
    };
    let (run, _lock) = result.run.as_ref().context("runs are kept in folders")?;
    report(args, run, result.outcome, out)?;
    Ok(if result.outcome == Outcome::Finished { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) })
}

/// The exit code of a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

fn list_settings(algorithm: Algorithm, preset: Preset, out: &mut dyn Write) -> std::io::Result<()> {
    let settings = algorithm.settings(preset);
    let width = settings.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    settings.into_iter().try_for_each(|SettingInfo { name, default, description }| {
        let default = default.map_or_else(|| "from the data".to_owned(), |value| value.to_string());
        writeln!(out, "{name:width$}  {default:14}  {description}")
    })
}

/// Resumes the run in a folder.
fn resume(folder: &Path, accepts_edits: bool) -> anyhow::Result<TrainingResult> {
    let run = open_run(folder, accepts_edits)?;
    let config = run.config().data.clone();
    let data = load(&config.path, &config)?;
    train(Training::from_run(run), folder, &config, &data)
}

/// Starts a run. Everything that can be wrong with it is found before anything is written.
fn start(args: &Args) -> anyhow::Result<TrainingResult> {
    let training = training(args)?;
    let Some(mut config) = training.data_from_settings()? else {
        bail!("nothing to learn from; hint: say --data FILE, or data.path in a configuration file");
    };
    if !config.path.exists() {
        bail!(
            "{}: there is no such file; hint: isochrone data inspect shows what can be read",
            config.path.display()
        );
    }
    config.validation = config.validation.or_else(|| beside(&config.path));
    if let Some(folder) = &args.run {
        Run::check_free(folder)?;
    }
    args.read.refuse_flags_of_other_formats(formats::Format::detect(&config.path)?)?;
    let data = load(&config.path, &config)?;
    let training = training.data_config(config.clone());
    let folder = match &args.run {
        Some(folder) => folder.clone(),
        None => default_folder(&config.path, &training.config(&data)?),
    };
    Run::check_free(&folder)?;
    train(training.run_dir(&folder), &folder, &config, &data)
}

fn train(
    training: Training,
    folder: &Path,
    config: &DataConfig,
    data: &Dataset,
) -> anyhow::Result<TrainingResult> {
    let validation = config.validation.as_ref().map(|path| load(path, config)).transpose()?;
    // Of other episodes, if they are such as those that are learned from.
    let width = |data: &Dataset| data.spec().observation.width;
    let judged = validation.as_ref().filter(|validation| width(validation) == width(data)).unwrap_or(data);
    let training = training.evaluation(rank_across_episodes(data.clone(), judged.clone()));
    let training = match &validation {
        Some(validation) => training.validation(validation),
        None => training.evaluate_training_data(),
    };
    let watch = Watch::new(folder, &config.path, data);
    let stop = stop_on_ctrl_c()?;
    training.callbacks(watch).stop(stop).train(data).map_err(|error| match (error, &config.validation) {
        (error @ LearnError::ValidationWidths { .. }, Some(path)) => {
            anyhow::anyhow!("{}: {error} (--validation, --data)", path.display())
        }
        (error, _) => error.into(),
    })
}

/// Metrics inside episodes hide what goes wrong between them: the best checkpoint is chosen by pairs of states of different
/// episodes. Recorded time between them is looked up at the first evaluation.
fn rank_across_episodes(data: Dataset, judged: Dataset) -> impl Evaluation {
    let pairs = LazyCell::new(move || {
        let config = RefinedConfig { landmarks: 500, ..RefinedConfig::default() };
        // Where nothing in the data tells time, there is no rank, and other metrics decide.
        let recorded = RefinedDistance::fit(&data, &config).ok()?;
        let pairs = AcrossEpisodes::new(&Readings::of_distance(&recorded, &judged), &recorded, 0);
        Some((pairs, judged))
    });
    DistanceEvaluation::new("rank_across_episodes", move |distance| match &*pairs {
        Some((pairs, judged)) => pairs.rank_correlation(&Readings::of_distance(distance, judged)),
        None => f64::NAN,
    })
}

/// What flags, file and overrides say.
fn training(args: &Args) -> anyhow::Result<Training> {
    let (assignments, files): (Vec<&String>, Vec<&String>) =
        args.settings.iter().partition(|text| text.contains('='));
    let mut training = args.algorithm.map_or_else(Training::default, Training::new).preset(args.size);
    training = match files[..] {
        [] => training,
        [path] if !Path::new(path).exists() => {
            bail!(
                "{path}: there is no such configuration file; hint: overrides are NAME=VALUE, like learner.critic.width=256"
            )
        }
        [path] => training.config_file(path)?,
        [_, second, ..] => {
            bail!("{second}: there is already a configuration file; hint: overrides are NAME=VALUE")
        }
    };
    // Only what was said: a file may say the rest.
    let read =
        toml::Table::try_from(args.read.options()).context("flags; hint: names of columns must be text")?;
    let defaults = toml::Table::try_from(formats::ReadOptions::default()).context("defaults")?;
    let read = read.into_iter().filter(|(name, value)| defaults.get(name) != Some(value));
    let mut by_flags: Vec<_> = read.map(|(name, value)| (format!("data.read.{name}"), value)).collect();
    for (name, path) in [("data.path", &args.data), ("data.validation", &args.validation)] {
        let text = |path: &PathBuf| toml::Value::String(path.to_string_lossy().into_owned());
        by_flags.extend(path.as_ref().map(|path| (name.to_owned(), text(path))));
    }
    for (name, value) in [("steps", args.steps), ("seed", args.seed)] {
        if let Some(value) = value {
            let value = i64::try_from(value)
                .with_context(|| format!("--{name} {value}; hint: give a smaller number"))?;
            by_flags.push((name.to_owned(), toml::Value::Integer(value)));
        }
    }
    for text in assignments {
        let (name, value) = settings::parse_assignment(text)?;
        let is_algorithm = name == "learner.algorithm" && args.algorithm.is_some();
        if is_algorithm || by_flags.iter().any(|(known, _)| *known == name) {
            bail!("{text}: set both by flag and by override; hint: remove one");
        }
        training = training.set(&name, value);
    }
    Ok(by_flags.into_iter().fold(training, |training, (name, value)| training.set(&name, value)))
}

fn load(path: &Path, config: &DataConfig) -> anyhow::Result<Dataset> {
    let bar = progress();
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar.set_message(format!("reading {}", path.display()));
    let data = Dataset::load(path, &config.read);
    bar.finish_and_clear();
    Ok(data?)
}

/// `NAME-val.npz` beside `NAME.npz`.
fn beside(path: &Path) -> Option<PathBuf> {
    let (stem, extension) = (path.file_stem()?.to_str()?, path.extension()?.to_str()?);
    let validation = path.with_file_name(format!("{stem}-val.{extension}"));
    validation.exists().then_some(validation)
}

fn default_folder(data: &Path, config: &RunConfig) -> PathBuf {
    Path::new("runs").join(format!("{}-{}-{}", file_stem(data), config.learner.algorithm(), config.seed))
}

/// A handle that Ctrl-C (or a polite kill) stops; the second time, the process ends at once.
pub fn stop_on_ctrl_c() -> anyhow::Result<StopHandle> {
    let stop = StopHandle::default();
    let handle = stop.clone();
    ctrlc::set_handler(move || {
        if handle.is_stopped() {
            std::process::exit(i32::from(INTERRUPTED));
        }
        handle.stop();
        tell("stopping after this step; once more to stop at once");
    })
    .context("signals cannot be caught")?;
    Ok(stop)
}

fn report(args: &Args, run: &Run, outcome: Outcome, out: &mut dyn Write) -> anyhow::Result<()> {
    let status = run.status()?;
    let folder = run.folder().display();
    if args.json {
        let last = run.records()?.pop().map_or_else(Vec::new, |record| record.values);
        let metrics: serde_json::Map<_, _> =
            last.into_iter().map(|(name, value)| (name, json!(value))).collect();
        let object = json!({
            "run": run.folder(), "algorithm": run.manifest().algorithm, "state": status.state, "step": status.step,
            "steps": run.config().steps, "seconds": status.seconds, "best": status.best, "metrics": metrics,
        });
        return Ok(writeln!(out, "{object:#}")?);
    }
    let (step, seconds) = (status.step, status.seconds);
    match outcome {
        Outcome::Finished => writeln!(out, "{folder}: {step} steps in {seconds:.0} s")?,
        Outcome::Stopped => {
            writeln!(out, "{folder}: stopped at step {step}; isochrone train --resume {folder} goes on")?;
        }
    }
    if let Some(best) = &status.best {
        writeln!(out, "best {} {:.4} at step {}", best.metric, best.value, best.step)?;
    }
    Ok(())
}
