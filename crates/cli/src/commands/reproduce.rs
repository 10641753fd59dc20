//! `isochrone reproduce`: whole studies in one command.

use crate::commands::{
    output::tell,
    train::{algorithm_parser, stop_on_ctrl_c},
};
use anyhow::bail;
use clap::{Subcommand, ValueHint};
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::{learn::algos::Algorithm, rollout::Success};
use isochrone_studies::{
    mazes::Mazes,
    nav2d::{Recipe, Study, Verdict},
};
use serde_json::json;
use std::{io::Write, path::PathBuf, time::Duration};

/// Repeats a whole study: data, all methods, all seeds, figures, report
///
/// Everything is kept in one folder as soon as it is done; the same command goes on where it was interrupted.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    study: StudyArg,
}

#[derive(Subcommand)]
enum StudyArg {
    /// Stitching on one-way streets: the controlled study of Contrastive Metric Distillation
    #[command(mut_arg("output", |output| output.default_value("nav2d")))]
    Nav2d(Nav2dArgs),
    /// Point mazes of OGBench: every method on three data sets at an equal budget, with and without a plan
    #[command(mut_arg("output", |output| output.default_value("mazes")))]
    Mazes(CommonArgs),
    /// The ant in the medium maze of OGBench: one run of CMD-1 from a million recorded steps, and its success as it learns
    #[command(mut_arg("output", |output| output.default_value("antmaze")))]
    Antmaze(CommonArgs),
}

#[derive(clap::Args)]
struct Nav2dArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// Fail if a method does not do what it does when it works
    #[arg(long)]
    check: bool,
}

/// What can be said of every study.
#[derive(clap::Args)]
struct CommonArgs {
    /// The folder of the study
    #[arg(long, short, value_name = "FOLDER", value_hint = ValueHint::DirPath, required = false)]
    output: PathBuf,

    /// One seed and fewer updates: shows in minutes that everything works
    #[arg(long)]
    quick: bool,

    /// Only these methods
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = algorithm_parser())]
    methods: Vec<Algorithm>,

    /// Seeds [default: as many as the recipe says; with --quick 1]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,

    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  isochrone reproduce nav2d --quick -o /tmp/nav2d    # some minutes
  isochrone reproduce nav2d -o nav2d                 # about an hour on two cores; Ctrl-C and again to go on
  isochrone reproduce nav2d --methods cmd1,gcbc --seeds 2
  isochrone reproduce mazes -o mazes                 # with MuJoCo; an hour and a half on two cores
  isochrone reproduce antmaze -o antmaze             # likewise, on one core";

/// Tasks of more would be those that are watched during training.
const MOST_SEEDS: u64 = 1000;

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    isochrone::nn::memory::keep_freed_memory();
    match &args.study {
        StudyArg::Nav2d(args) => nav2d(args, out),
        StudyArg::Mazes(args) => mazes(Mazes::Point, args, out),
        StudyArg::Antmaze(args) => mazes(Mazes::Ant, args, out),
    }
}

impl CommonArgs {
    fn check(&self) -> anyhow::Result<()> {
        match self.seeds {
            Some(seeds) if !(1..=MOST_SEEDS).contains(&seeds) => {
                bail!("--seeds {seeds}; hint: give a number between 1 and {MOST_SEEDS}")
            }
            _ => Ok(()),
        }
    }
}

/// Counts runs.
fn progress(n_runs: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} runs  {elapsed}  {msg}");
    let bar = ProgressBar::new(n_runs as u64).with_style(style.expect("the template is well formed"));
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// The error of a study, as one whose type the program can still tell.
fn typed(failure: isochrone_studies::Failure) -> anyhow::Error {
    match failure.downcast::<isochrone::envs::EnvError>() {
        Ok(error) => anyhow::Error::new(*error),
        Err(failure) => anyhow::Error::from_boxed(failure),
    }
}

fn mazes(which: Mazes, args: &CommonArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    use isochrone_studies::mazes;
    args.check()?;
    let mut recipe = mazes::Recipe::new(which, args.quick);
    recipe.seeds = args.seeds.unwrap_or(recipe.seeds);
    let study = mazes::Study::open(&args.output, recipe, &args.methods).map_err(typed)?;
    let stop = stop_on_ctrl_c()?;
    let bar = progress(study.n_runs());
    let told = |verdict: &mazes::Verdict| {
        let percent =
            |success: Success| format!("{:.1} %", 100.0 * success.last_three.unwrap_or(success.last));
        let mazes::Verdict { data_set, method, seed, seconds, .. } = verdict;
        let alone = verdict.success_alone().map_or_else(|| "nothing".into(), percent);
        let planned = verdict
            .success_planned()
            .map_or(String::new(), |success| format!(", with a plan {}", percent(success)));
        bar.inc(1);
        bar.suspend(|| {
            tell(&format!("{data_set} {method} seed {seed}: {alone} of tasks{planned}; {seconds:.0} s"));
        });
    };
    let finished = study.run(&stop, &told);
    bar.finish_and_clear();
    let output = args.output.display();
    let Some(finished) = finished.map_err(anyhow::Error::from_boxed)? else {
        bail!(
            "{output}: stopped before it was done; hint: the same command goes on; report.md has what is done"
        );
    };
    if args.json {
        writeln!(out, "{:#}", json!({ "folder": args.output, "runs": finished }))?;
    } else {
        writeln!(out, "{output}: {} runs; report.md, results.json", finished.len())?;
    }
    Ok(())
}

fn nav2d(args: &Nav2dArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    args.common.check()?;
    let mut recipe = Recipe::new(args.common.quick);
    recipe.seeds = args.common.seeds.unwrap_or(recipe.seeds);
    let study =
        Study::open(&args.common.output, recipe, &args.common.methods).map_err(anyhow::Error::from_boxed)?;
    let stop = stop_on_ctrl_c()?;
    let bar = progress(study.n_runs());
    let told = |verdict: &Verdict| {
        bar.inc(1);
        bar.suspend(|| tell(&line(verdict)));
    };
    let finished = study.run(&stop, &told);
    bar.finish_and_clear();
    let output = args.common.output.display();
    let Some(finished) = finished.map_err(anyhow::Error::from_boxed)? else {
        bail!("{output}: stopped before it was done; hint: the same command goes on");
    };
    let bars = study.bars(&finished);
    let failed: Vec<String> = bars
        .iter()
        .filter(|bar| !bar.holds())
        .map(|bar| format!("{} {:.3}, less than {:.3}", bar.claim, bar.measured, bar.least))
        .collect();
    if args.common.json {
        let verdicts: Vec<_> = finished.iter().map(|run| &run.verdict).collect();
        writeln!(out, "{:#}", json!({ "folder": args.common.output, "runs": verdicts, "failed": failed }))?;
    } else {
        writeln!(out, "{output}: {} runs; report.html, report.md, results.json, figures/", finished.len())?;
    }
    if args.check && !failed.is_empty() {
        bail!("{}; hint: one of the methods is broken", failed.join("; "));
    }
    Ok(())
}

fn line(verdict: &Verdict) -> String {
    let planned =
        verdict.greedy.map_or(String::new(), |score| format!(", with a plan {:.1} %", 100.0 * score.success));
    format!(
        "{} seed {}: {:.1} % of tasks{planned}; {:.0} s",
        verdict.method,
        verdict.seed,
        100.0 * verdict.alone.success,
        verdict.seconds
    )
}
