//! `isochrone envs`: lists environments and generates datasets.

use crate::commands::output::{Field, Report, StyleArgs, bar, named, note};
use anyhow::bail;
use clap::Subcommand;
use isochrone::{
    data::{ProgressSink, formats::Writer},
    envs::{DatasetId, EnvId, EnvSpec, mujoco_version},
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// List environments and generate datasets
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: EnvsCommand,
}

#[derive(Subcommand)]
enum EnvsCommand {
    /// List the environments and their datasets
    #[command(after_help = LIST_EXAMPLES)]
    List(StyleArgs),
    /// Generate a dataset with a data-collection policy
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateArgs),
}

#[derive(clap::Args)]
struct GenerateArgs {
    /// Dataset to generate, such as pointmaze-medium-navigate; see isochrone envs list
    #[arg(value_name = "DATASET", value_parser = dataset)]
    dataset: DatasetId,

    /// Output file (.npz or .arrow), or a new directory for the Minari format
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Number of episodes [default: the standard size of the dataset]
    #[arg(long, value_name = "N")]
    episodes: Option<usize>,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  isochrone envs list
  isochrone envs generate nav2d --episodes 2000 --seed 1 -o nav2d.npz
  isochrone envs generate antmaze-large-stitch --episodes 5000 -o antmaze-large-stitch.npz
  isochrone train --data nav2d.npz --run runs/nav2d";

const LIST_EXAMPLES: &str = "\
Examples:
  isochrone envs list
  isochrone envs list --json";

const GENERATE_EXAMPLES: &str = "\
Examples:
  isochrone envs generate nav2d --episodes 2000 --seed 1 -o nav2d.npz
  isochrone envs generate pointmaze-medium-navigate -o medium.arrow    # needs MuJoCo";

/// The maximum number of episodes, to avoid filling the disk by mistake.
const MAX_EPISODES: usize = 100_000_000;

/// Parses the name of a dataset.
fn dataset(name: &str) -> Result<DatasetId, String> {
    DatasetId::from_name(name).ok_or_else(|| {
        let datasets = EnvId::from_name(name).into_iter().flat_map(EnvId::datasets);
        let names: Vec<String> = datasets.map(DatasetId::name).collect();
        match names.is_empty() {
            true => "unknown dataset; hint: see isochrone envs list".into(),
            false => format!("an environment, not a dataset; hint: choose {}", names.join(" or ")),
        }
    })
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match &args.command {
        EnvsCommand::List(style) => list(style, out),
        EnvsCommand::Generate(args) => generate(args, out),
    }
}

fn list(style: &StyleArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let rows = EnvId::all().map(|env| {
        let EnvSpec { observation_width, action_width, max_episode_steps, .. } = env.spec();
        let names = env.datasets().map(|dataset| dataset.policy().name).collect::<Vec<_>>().join(", ");
        vec![
            Field::Text(env.name()),
            Field::Text(if names.is_empty() { "-".into() } else { names }),
            Field::Count(observation_width),
            Field::Count(action_width),
            Field::Count(max_episode_steps),
            Field::Text(env.description()),
        ]
    });
    let columns = named(["env", "datasets", "observation", "action", "max_episode_steps", "idea"]);
    Ok(write!(out, "{}", Report::new(json!({}), columns, rows).print(style))?)
}

fn generate(args: &GenerateArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let episodes = args.episodes.unwrap_or(args.dataset.policy().default_episodes);
    if episodes == 0 || episodes > MAX_EPISODES {
        bail!("--episodes {episodes}; hint: give a number between 1 and {MAX_EPISODES}");
    }
    if args.output.exists() {
        bail!(
            "{}: the file already exists, and runs may have been trained on it; hint: choose another name, or remove it",
            args.output.display()
        );
    }
    let bar = bar(episodes, "{bar:24} {human_pos}/{human_len} episodes  {eta} left");
    // Checked before a file is created: the environment may need MuJoCo, which is an optional
    // feature.
    args.dataset.env().check()?;
    let mut writer = Writer::for_path(&args.output)?;
    let leaves_out = writer.leaves_out(&args.dataset.env().dataset_spec());
    let mut transitions = 0;
    let mut count_episode = |steps: usize| {
        transitions += steps;
        bar.inc(1);
    };
    let mut sink = ProgressSink { sink: &mut writer, progress: &mut count_episode };
    args.dataset.collect(episodes, args.seed, &mut sink)?;
    bar.finish_and_clear();
    let hash = writer.content_hash();
    writer.finish()?;
    let (output, name, seed) = (args.output.display(), args.dataset.name(), args.seed);
    if args.json {
        let report = json!({
            "output": output.to_string(), "dataset": name, "seed": seed, "episodes": episodes,
            "transitions": transitions, "contents_sha256": hash, "mujoco": mujoco_version(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(
            out,
            "{output}: {episodes} episodes, {transitions} transitions of {name}, seed {seed}; content sha256 {hash}"
        )?;
    }
    if !leaves_out.is_empty() {
        note(&format!("warning: the format of {output} cannot store {}", leaves_out.join(", ")));
    }
    Ok(())
}
