//! `isochrone train`: trains a temporal distance and a goal-conditioned policy from offline data.

mod job;
mod progress;

use crate::{
    FAILURE,
    commands::{
        choice::{Choice, one_of},
        device_args::DeviceArgs,
        distill,
        planner_args::PlannerArgs,
        query::{LoadedRun, open_run},
        read_args::{ReadArgs, read_spinner},
        remote::{found, local, trained_on},
    },
    print_error, signals,
};
use anyhow::{Context as _, bail};
use clap::builder::TypedValueParser;
use isochrone::{
    data::{Dataset, formats},
    learn::{
        Algorithm, ComputeDevice, Outcome, Preset, SettingInfo, Training, TrainingResult,
        distill::policy::PolicyDistillConfig,
        error::LearnError,
        model::CheckpointSelector,
        run::{DataConfig, Run, RunConfig},
        settings,
    },
    training::{default_folder, default_hold_out, default_validation, with_evaluations},
};
use job::Job;
use progress::TrainingProgress;
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Train a temporal distance and a goal-conditioned policy from offline data
///
/// Settings come from the data (widths, scale, horizon), then from a configuration file, then from
/// dotted overrides. All of them are written to config.toml in the run directory. Ctrl-C saves a
/// checkpoint and stops; a run continued with --resume is bit-identical to an uninterrupted one.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Configuration file (.toml) and overrides such as learner.critic.width=256
    #[arg(value_name = "CONFIG | NAME=VALUE")]
    settings: Vec<String>,

    /// Training dataset: a file, directory or address in any format that isochrone data reads
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Validation dataset [default: NAME-val.npz next to NAME.npz, if present]
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,

    /// Algorithm to train [default: cmd1]
    #[arg(long, short, value_name = "NAME", value_parser = parser_of(&Algorithm::ALL))]
    algorithm: Option<Algorithm>,

    /// Network size preset
    #[arg(long, value_name = "PRESET", value_parser = one_of(SIZES.to_vec()), default_value = "standard")]
    size: Preset,

    /// Number of gradient updates [default: 50000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<u64>,

    /// Random seed [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Run directory [default: runs/DATA-ALGORITHM-SEED]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,

    /// Processes whose rows are negatives of each other, under mpirun: all, or group:N of N
    /// processes
    #[arg(long, value_name = "WHICH", value_parser = negatives, default_value = "all")]
    negatives: Negatives,

    #[command(flatten)]
    device: DeviceArgs,

    /// Resume the run in this directory with its original settings
    #[arg(long, value_name = "DIR", conflicts_with_all = ["settings", "data", "validation", "algorithm", "size", "steps", "seed", "run", "negatives", "observations", "actions", "episode", "reward", "time", "ends", "fps", "goal", "action_range", "embedding"])]
    resume: Option<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started; the edits apply
    /// from here on
    #[arg(long, requires = "resume")]
    accept_edits: bool,

    #[command(flatten)]
    read: ReadArgs,

    /// After training, distill the planner with the learned policy below it into a policy that
    /// needs no planner; see isochrone distill --policy
    #[arg(long)]
    distill_planner: bool,

    /// List all settings of the algorithm with their defaults, without training
    #[arg(long, conflicts_with_all = ["settings", "data", "resume"])]
    list_settings: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  isochrone train --data pointmaze-medium-navigate-v0.npz --algorithm cmd1 --run runs/maze
  isochrone train --data examples/walks.csv --observations x,y --size small --steps 2000
  isochrone train config.toml learner.critic.width=256 steps=100000 seed=3
  isochrone train --resume runs/maze
  isochrone train --data pointmaze-medium-navigate-v0.npz --distill-planner
  isochrone train --data pointmaze-medium-navigate-v0.npz --device wgpu    # a GPU
  # four processes, if built with the feature mpi: mpirun -np 4 isochrone train ...
  isochrone train --algorithm qrl --list-settings

Guide: docs/guides/learning.md.";

/// The processes whose rows are negatives of each other; `None` for all.
#[derive(Debug, Clone, Copy)]
struct Negatives(Option<i64>);

fn negatives(text: &str) -> Result<Negatives, String> {
    let group = |text: &str| text.strip_prefix("group:")?.parse().ok().filter(|size| *size > 0);
    match text {
        "all" => Ok(Negatives(None)),
        _ => group(text)
            .map(|size| Negatives(Some(size)))
            .ok_or_else(|| "not a group of processes; hint: use all or group:8".to_owned()),
    }
}

const SIZES: [Choice<Preset>; 3] = [
    ("small", "2 x 64, layer normalization", Preset::Small),
    ("standard", "3 x 256, layer normalization", Preset::Standard),
    ("paper", "4 x 512, no normalization, as in the paper", Preset::Paper),
];

/// Returns a parser that reads one of the algorithms by name and lists them in the help.
pub fn parser_of(algorithms: &[Algorithm]) -> impl TypedValueParser<Value = Algorithm> + use<> {
    one_of(algorithms.iter().map(|algorithm| (algorithm.name(), algorithm.idea(), *algorithm)).collect())
}

/// Runs the command; data goes to `out`. The exit code of a stopped run is that of a process ended
/// by Ctrl-C.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.list_settings {
        list_settings(args, out)?;
        return Ok(0);
    }
    isochrone::nn::memory::retain_heap();
    let job = Job::join()?;
    let has_started = Arc::new(AtomicBool::new(false));
    let result = match job.is_first() {
        true => lead(args, &job, &has_started),
        false => follow(&job),
    };
    let result = match result {
        Ok(result) => result,
        Err(error) if is_known_to_all(&error) || !has_started.load(Ordering::Relaxed) => {
            // One message is enough for an error of all processes. It is printed before this
            // process leaves: the launcher kills the others as soon as one of them has failed.
            if job.is_first() || !is_known_to_all(&error) {
                print_error(&error);
            }
            job.leave();
            return Ok(FAILURE);
        }
        Err(error) => {
            print_error(&error);
            job.abort(FAILURE);
            return Ok(FAILURE);
        }
    };
    if let Some((run, _lock)) = &result.run {
        report(args, run, result.outcome, out)?;
        if args.distill_planner && result.outcome == Outcome::Finished {
            distill_planner(run.folder(), args.device.device)?;
        }
    }
    job.leave();
    Ok(if result.outcome == Outcome::Finished { 0 } else { signals::exit_code() })
}

/// Distills the default planner over the last checkpoint of a run.
fn distill_planner(folder: &Path, device: ComputeDevice) -> anyhow::Result<()> {
    // The run was just written, so its settings were not edited.
    let loaded = LoadedRun::of(open_run(folder, true)?, CheckpointSelector::Last, None, device)?;
    let seed = loaded.run.config().seed;
    let config = PolicyDistillConfig { seed, device, ..PolicyDistillConfig::default() };
    distill::policy::distill(&loaded, &PlannerArgs::default(), &config, distill::policy::Student::Policy)?;
    Ok(())
}

/// Whether an error is one that all processes of a training return.
fn is_known_to_all(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(LearnError::OtherProcess { .. } | LearnError::ProcessesDiffer { .. } | LearnError::Diverged(_))
    )
}

/// Everything that a training needs.
struct Prepared {
    training: Training,
    folder: PathBuf,
    config: RunConfig,
    data: Dataset,
    validation: Option<Dataset>,
}

/// Trains as the process that owns the run directory.
fn lead(args: &Args, job: &Job, has_started: &Arc<AtomicBool>) -> anyhow::Result<TrainingResult> {
    let prepared = match &args.resume {
        Some(folder) => resume(folder, args.accept_edits),
        None => start(args),
    };
    job.send(prepared.as_ref().ok().map(|prepared| &prepared.config))?;
    let Prepared { training, folder, config, data, validation } = job.agree(prepared)?;
    let training = with_evaluations(training, &data, validation.as_ref());
    let progress = TrainingProgress::new(&folder, &config.data.path, &data, has_started);
    let training = training.device(args.device.device).callbacks(progress).stop(signals::stop_handle(true)?);
    train(training, job, &data).map_err(|error| match (error, &config.data.validation) {
        (error @ LearnError::ValidationWidths { .. }, Some(path)) => {
            anyhow::anyhow!("{}: {error} (--validation, --data)", path.display())
        }
        (error, _) => error.into(),
    })
}

/// Trains as one of the other processes, with the configuration of the first.
fn follow(job: &Job) -> anyhow::Result<TrainingResult> {
    let Some(config) = job.receive()? else {
        job.agree(Ok(()))?;
        unreachable!("the first process failed");
    };
    let load = || {
        let data = Dataset::load(local(&config.data.path)?, &config.data.read)?;
        Ok(config.data.held_out(&data)?.map_or(data, |(training, _)| training))
    };
    let data = job.agree(load())?;
    let stop = signals::stop_handle(false)?;
    Ok(train(Training::from_config(config).stop(stop), job, &data)?)
}

fn train(training: Training, job: &Job, data: &Dataset) -> Result<TrainingResult, LearnError> {
    match job.group() {
        Some(group) => training.group(group.clone()).train(data),
        None => training.train(data),
    }
}

fn list_settings(args: &Args, out: &mut dyn Write) -> std::io::Result<()> {
    let settings = args.algorithm.unwrap_or(Algorithm::Cmd1).settings(args.size);
    if args.json {
        let setting = |setting: SettingInfo| {
            let SettingInfo { name, default, description, only_with } = setting;
            json!({ "name": name, "default": default, "description": description, "only_with": only_with })
        };
        let settings: Vec<serde_json::Value> = settings.into_iter().map(setting).collect();
        return writeln!(out, "{:#}", json!({ "rows": settings }));
    }
    let width = settings.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    settings.into_iter().try_for_each(|SettingInfo { name, default, description, only_with }| {
        let default = default.map_or_else(|| "automatic".to_owned(), |value| value.to_string());
        let condition = only_with.map(|choice| format!(" (with {choice})")).unwrap_or_default();
        writeln!(out, "{name:width$}  {default:14}  {description}{condition}")
    })
}

/// Resumes the run in a directory.
fn resume(folder: &Path, accept_edits: bool) -> anyhow::Result<Prepared> {
    let run = open_run(folder, accept_edits)?;
    let config = run.config().clone();
    let file = run.folder().join("config.toml");
    let hint = format!("put them back, or set data.path in {} and add --accept-edits", file.display());
    let data = load(&trained_on(&config.data.path, &hint)?, &config.data)?;
    let (data, validation) = divide(data, &config.data)?;
    Ok(Prepared { training: Training::from_run(run), folder: folder.to_owned(), config, data, validation })
}

/// Starts a run. All settings are checked before anything is written.
fn start(args: &Args) -> anyhow::Result<Prepared> {
    let training = training(args)?;
    let Some(mut config) = training.data_from_settings()? else {
        bail!("no training data; hint: set --data FILE, or data.path in a configuration file");
    };
    if let Some(folder) = &args.run {
        Run::check_free(folder)?;
    }
    let path = local(&config.path)?.into_owned();
    if !path.exists() {
        bail!(
            "{}: no such file; hint: see isochrone data inspect --help for the supported formats",
            config.path.display()
        );
    }
    config.validation = config.validation.or_else(|| default_validation(&config.path));
    let format = formats::Format::detect(&path)?;
    args.read.refuse_flags_of_other_formats(format)?;
    let data = load(&path, &config)?;
    config.hold_out = default_hold_out(&config, format, &data);
    let (data, validation) = divide(data, &config)?;
    let training = training.data_config(config.clone());
    let run_config = training.config(&data)?;
    let folder = args.run.clone().unwrap_or_else(|| default_folder(&config.path, &run_config));
    Run::check_free(&folder)?;
    Ok(Prepared { training: training.run_dir(&folder), folder, config: run_config, data, validation })
}

/// Returns the training data, and the validation data: episodes that are held out, or other files.
fn divide(data: Dataset, config: &DataConfig) -> anyhow::Result<(Dataset, Option<Dataset>)> {
    if let Some((training, validation)) = config.held_out(&data)? {
        return Ok((training, Some(validation)));
    }
    if config.validation.is_some() && !config.read.embeddings.is_empty() {
        bail!(
            "embeddings of the training data do not apply to --validation; hint: hold out episodes of --data with data.hold_out=10"
        );
    }
    let validation = config.validation.as_ref().map(|path| load(&local(path)?, config));
    Ok((data, validation.transpose()?))
}

/// Builds the training from flags, configuration file and overrides.
fn training(args: &Args) -> anyhow::Result<Training> {
    let (assignments, files): (Vec<&String>, Vec<&String>) =
        args.settings.iter().partition(|text| text.contains('='));
    let mut training = args.algorithm.map_or_else(Training::default, Training::new).preset(args.size);
    training = match files[..] {
        [] => training,
        [path] if !Path::new(path).exists() => {
            bail!(
                "{path}: no such configuration file; hint: write overrides as NAME=VALUE, like learner.critic.width=256"
            )
        }
        [path] if Path::new(path).extension().is_none_or(|extension| extension != "toml") => {
            bail!("{path}: not a configuration file (.toml); hint: to train on it, use --data {path}")
        }
        [path] => training.config_file(path)?,
        [_, second, ..] => {
            bail!("{second}: a second configuration file; hint: write overrides as NAME=VALUE")
        }
    };
    // Only the flags that were given: a configuration file may set the others.
    let read =
        toml::Table::try_from(args.read.options()).context("flags; hint: column names must be text")?;
    let defaults = toml::Table::try_from(formats::ReadOptions::default()).context("defaults")?;
    let read = read.into_iter().filter(|(name, value)| defaults.get(name) != Some(value));
    let mut by_flags: Vec<_> = read.map(|(name, value)| (format!("data.read.{name}"), value)).collect();
    for (name, path) in [("data.path", &args.data), ("data.validation", &args.validation)] {
        let Some(path) = path else { continue };
        // Relative paths are made absolute, which ids of the hub are not.
        let path = found(path)?;
        by_flags.push((name.to_owned(), toml::Value::String(path.to_string_lossy().into_owned())));
    }
    if let Negatives(Some(processes)) = args.negatives {
        by_flags.push(("processes_per_group".to_owned(), toml::Value::Integer(processes)));
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
    let bar = read_spinner();
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar.set_message(format!("reading {}", path.display()));
    let data = Dataset::load(path, &config.read);
    bar.finish_and_clear();
    Ok(data?)
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
            writeln!(
                out,
                "{folder}: stopped at step {step}; continue with isochrone train --resume {folder}"
            )?;
        }
    }
    if let Some(best) = &status.best {
        writeln!(out, "best {} {:.4} at step {}", best.metric, best.value, best.step)?;
    }
    Ok(())
}
