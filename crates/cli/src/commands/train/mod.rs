//! `isochrone train`: learn a distance and a policy from logs.

mod watch;

use crate::commands::{
    output::tell,
    query::open_run,
    read_args::{ReadArgs, progress},
};
use anyhow::{Context as _, bail};
use clap::{
    ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use isochrone::{
    data::{Dataset, formats},
    learn::{
        algos::Algorithm,
        evaluation::ObservedSteps,
        parts::Size,
        run::{DataConfig, DataFacts, Lock, Manifest, Run, RunConfig, Wishes, overrides},
        trainer::{Outcome, Trainer},
    },
};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
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
    #[arg(long, short, value_parser = algorithm_parser())]
    algorithm: Option<Algorithm>,

    /// How large networks are, unless settings say otherwise
    #[arg(long, value_enum, default_value = "standard")]
    size: SizeArg,

    /// Updates to do [default: 50000]
    #[arg(long, value_name = "N")]
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

    /// Threads to compute with; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    #[command(flatten)]
    read: ReadArgs,

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

Guide: docs/learning.md.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SizeArg {
    /// 2 x 64
    Small,
    /// 3 x 256, layer normalisation
    Standard,
    /// 4 x 512, as in the paper
    Paper,
}

/// Reads an algorithm by its name, and lists all in the help.
pub fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    let names = Algorithm::ALL.map(|algorithm| PossibleValue::new(algorithm.name()).help(algorithm.idea()));
    PossibleValuesParser::new(names)
        .map(|name| Algorithm::named(&name).expect("only these names are possible"))
}

impl From<SizeArg> for Size {
    fn from(size: SizeArg) -> Self {
        match size {
            SizeArg::Small => Self::Small,
            SizeArg::Standard => Self::Standard,
            SizeArg::Paper => Self::Paper,
        }
    }
}

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    isochrone::nn::memory::keep_freed_memory();
    use_threads(args.threads)?;
    let prepared = match &args.resume {
        Some(folder) => resumed(folder, args.accept_edits)?,
        None => begun(args)?,
    };
    let stop = stop_on_ctrl_c()?;
    let outcome = train(&prepared, &stop)?;
    report(args, &prepared.run, outcome, out)
}

fn train(prepared: &Prepared, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let Prepared { run, data, validation, .. } = prepared;
    let config = run.config();
    let pairs = config.metrics.evaluation_pairs;
    let judge = ObservedSteps::new(validation.clone(), config.discount(), pairs, config.seed)?;
    let mut watch = Watch::new(config.steps);
    let trainer = Trainer::new(run, data.clone(), &isochrone::learn::cpu(), &mut watch)?;
    let mut trainer = trainer.with_evaluation(judge);
    watch.begin(run, trainer.step());
    let outcome = trainer.train(&mut watch, stop);
    watch.end();
    Ok(outcome?)
}

/// A run with the right to train in it, and what it learns from and is judged by.
struct Prepared {
    run: Run,
    _lock: Lock,
    data: Arc<Dataset>,
    validation: Arc<Dataset>,
}

/// The run in a folder, where it was left.
fn resumed(folder: &Path, accepts_edits: bool) -> anyhow::Result<Prepared> {
    let run = open_run(folder, accepts_edits)?;
    let lock = run.lock()?;
    let (config, manifest) = (run.config(), run.manifest());
    let data = load(&config.data.path, &config.data)?;
    let validation = validation_of(&config.data, &data)?;
    if manifest.validation.as_ref().is_some_and(|facts| facts.content_hash != validation.content_hash()) {
        let path = config.data.validation.as_ref().unwrap_or(&config.data.path);
        bail!(
            "{}: its contents are not those that the run began with; hint: restore the file, or begin another run",
            path.display()
        );
    }
    Ok(Prepared { run, _lock: lock, data, validation })
}

/// A new run. Everything that can be wrong with it is found before anything is written.
fn begun(args: &Args) -> anyhow::Result<Prepared> {
    let wishes = wishes(args)?;
    let Some(mut data_config) = wishes.data()? else {
        bail!("nothing to learn from; hint: say --data FILE, or data.path in a configuration file");
    };
    let path = data_config.path.clone();
    if !path.exists() {
        bail!(
            "{}: there is no such file; hint: isochrone data inspect shows what can be read",
            path.display()
        );
    }
    data_config.validation = data_config.validation.or_else(|| beside(&path));
    if let Some(folder) = &args.run {
        Run::check_free(folder)?;
    }
    args.read.refuse_flags_of_other_formats(formats::Format::detect(&path)?)?;
    let data = load(&path, &data_config)?;
    let validation = validation_of(&data_config, &data)?;
    let config = wishes.resolve(data_config, data.index())?;
    config.check_for(&data)?;
    let facts = DataFacts::of(&path, &data);
    let of_validation = config.data.validation.as_ref().map(|path| DataFacts::of(path, &validation));
    let folder = args.run.clone().unwrap_or_else(|| default_folder(&path, &config));
    let manifest = Manifest::now(&config.learner, config.seed, facts, of_validation);
    let (run, lock) = Run::create(&folder, config, manifest)?;
    Ok(Prepared { run, _lock: lock, data, validation })
}

/// What flags, file and overrides say.
fn wishes(args: &Args) -> anyhow::Result<Wishes> {
    let (said, files): (Vec<&String>, Vec<&String>) =
        args.settings.iter().partition(|text| text.contains('='));
    let file = match files[..] {
        [] => None,
        [path] if !Path::new(path).exists() => {
            bail!(
                "{path}: there is no such configuration file; hint: overrides are NAME=VALUE, like learner.critic.width=256"
            )
        }
        [path] => Some((PathBuf::from(path), RunConfig::read_table(path.as_ref())?)),
        [_, second, ..] => {
            bail!("{second}: there is already a configuration file; hint: overrides are NAME=VALUE")
        }
    };
    let mut overrides = Vec::new();
    let text = |path: &PathBuf| toml::Value::String(path.to_string_lossy().into_owned());
    overrides.extend(args.data.as_ref().map(|path| ("data.path".to_owned(), text(path))));
    overrides.extend(args.validation.as_ref().map(|path| ("data.validation".to_owned(), text(path))));
    // Only what was said: a file may say the rest.
    let read =
        toml::Table::try_from(args.read.options()).context("flags; hint: names of columns must be text")?;
    let usual = toml::Table::try_from(formats::ReadOptions::default()).context("defaults")?;
    let flags = read.into_iter().filter(|(name, value)| usual.get(name) != Some(value));
    overrides.extend(flags.map(|(name, value)| (format!("data.read.{name}"), value)));
    for (name, value) in [("steps", args.steps), ("seed", args.seed)] {
        if let Some(value) = value {
            let value = i64::try_from(value)
                .with_context(|| format!("--{name} {value}; hint: give a smaller number"))?;
            overrides.push((name.to_owned(), toml::Value::Integer(value)));
        }
    }
    let by_flags: Vec<String> = overrides.iter().map(|(name, _)| name.clone()).collect();
    for text in said {
        let (name, value) = overrides::parse(text).map_err(|problem| {
            anyhow::anyhow!("{problem}; hint: names are those of config.toml of any run")
        })?;
        if by_flags.contains(&name) || (name == "learner.algorithm" && args.algorithm.is_some()) {
            bail!("{text}: a flag says it, too; hint: leave one of them out");
        }
        overrides.push((name, value));
    }
    Ok(Wishes { file, overrides, algorithm: args.algorithm, size: args.size.into() })
}

fn load(path: &Path, config: &DataConfig) -> anyhow::Result<Arc<Dataset>> {
    let bar = progress();
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar.set_message(format!("reading {}", path.display()));
    let data = Dataset::load(path, &config.read);
    bar.finish_and_clear();
    Ok(Arc::new(data?))
}

/// What a run is judged by: its validation data if there are any, and otherwise what it learns from.
fn validation_of(config: &DataConfig, data: &Arc<Dataset>) -> anyhow::Result<Arc<Dataset>> {
    let Some(path) = &config.validation else { return Ok(data.clone()) };
    let validation = load(path, config)?;
    let widths = |data: &Dataset| [data.spec().observation.width, data.spec().action.width];
    if widths(&validation) != widths(data) {
        let ([o, a], [expected_o, expected_a]) = (widths(&validation), widths(data));
        bail!(
            "{}: observations of {o} and actions of {a} numbers, not {expected_o} and {expected_a}; hint: give --validation data like --data",
            path.display()
        );
    }
    Ok(validation)
}

/// `NAME-val.npz` beside `NAME.npz`.
fn beside(path: &Path) -> Option<PathBuf> {
    let (stem, extension) = (path.file_stem()?.to_str()?, path.extension()?.to_str()?);
    let validation = path.with_file_name(format!("{stem}-val.{extension}"));
    validation.exists().then_some(validation)
}

fn default_folder(data: &Path, config: &RunConfig) -> PathBuf {
    let stem = data.file_stem().unwrap_or_default().to_string_lossy();
    Path::new("runs").join(format!("{stem}-{}-{}", config.learner.name(), config.seed))
}

fn use_threads(threads: Option<usize>) -> anyhow::Result<()> {
    match threads {
        Some(0) => bail!("--threads 0; hint: give 1 or more"),
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .context("threads cannot be started"),
        None => Ok(()),
    }
}

/// A flag that Ctrl-C (or a polite kill) sets; the second time, the process ends at once.
pub fn stop_on_ctrl_c() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell("stopping after this step; once more to stop at once");
    })
    .context("signals cannot be caught")?;
    Ok(stop)
}

fn report(args: &Args, run: &Run, outcome: Outcome, out: &mut dyn Write) -> anyhow::Result<()> {
    let status = run.status()?;
    let folder = run.folder().display();
    if args.json {
        let last = run.records()?.pop();
        let metrics: serde_json::Map<_, _> = last
            .iter()
            .flat_map(|record| &record.values)
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        let object = json!({
            "run": run.folder(), "algorithm": run.manifest().algorithm, "state": status.state, "step": status.step,
            "steps": run.config().steps, "seconds": status.seconds, "best": status.best, "metrics": metrics,
        });
        writeln!(out, "{object:#}")?;
        return Ok(());
    }
    match outcome {
        Outcome::Finished => writeln!(out, "{folder}: {} steps in {:.0} s", status.step, status.seconds)?,
        Outcome::Stopped => writeln!(
            out,
            "{folder}: stopped at step {}; isochrone train --resume {folder} goes on",
            status.step
        )?,
    }
    if let Some(best) = &status.best {
        writeln!(out, "best {} {:.4} at step {}", best.metric, best.value, best.step)?;
    }
    Ok(())
}
