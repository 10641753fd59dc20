//! `isochrone envs`: worlds to act in, and recordings of behaviour in them.

use crate::commands::output::{Field, Report, StyleArgs, bar, named, tell};
use anyhow::bail;
use clap::Subcommand;
use isochrone::{
    data::{ProgressSink, formats::Writer},
    envs::{DatasetId, EnvId, EnvSpec, mujoco_version},
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Lists worlds to act in, and records behaviour in them
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Lists the worlds
    List(StyleArgs),
    /// Records behaviour in a world, into a file that `isochrone train` reads
    Generate(GenerateArgs),
}

#[derive(clap::Args)]
struct GenerateArgs {
    /// Which data set, such as pointmaze-medium-navigate; `isochrone envs list` shows all
    #[arg(value_name = "DATA SET", value_parser = dataset)]
    dataset: DatasetId,

    /// The file to write: .npz, .arrow, or a folder for Minari
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Recordings [default: as many as a data set of this world usually has]
    #[arg(long, value_name = "N")]
    episodes: Option<usize>,

    /// Of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  isochrone envs list
  isochrone envs generate nav2d --episodes 2000 --seed 1 -o nav2d.npz
  isochrone envs generate antmaze-large-stitch --episodes 5000 -o antmaze-large-stitch.npz
  isochrone train --data nav2d.npz --run runs/nav2d";

/// More would fill a disk before anybody notices.
const MOST_EPISODES: usize = 100_000_000;

/// Reads a data set by its name.
fn dataset(name: &str) -> Result<DatasetId, String> {
    DatasetId::from_name(name).ok_or_else(|| {
        let datasets = EnvId::from_name(name).into_iter().flat_map(EnvId::datasets);
        let names: Vec<String> = datasets.map(DatasetId::name).collect();
        match names.is_empty() {
            true => "no data set is called that; hint: `isochrone envs list` shows all".into(),
            false => format!("it is a world, not a data set; hint: say {}", names.join(" or ")),
        }
    })
}

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match &args.verb {
        Verb::List(style) => list(style, out),
        Verb::Generate(args) => generate(args, out),
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
    let columns = named(["world", "data_sets", "observation", "action", "step_limit", "idea"]);
    Ok(write!(out, "{}", Report::new(json!({}), columns, rows).print(style))?)
}

fn generate(args: &GenerateArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let episodes = args.episodes.unwrap_or(args.dataset.policy().default_episodes);
    if episodes == 0 || episodes > MOST_EPISODES {
        bail!("--episodes {episodes}; hint: give a number between 1 and {MOST_EPISODES}");
    }
    if args.output.exists() {
        bail!(
            "{}: it already exists, and runs may have learned from it; hint: choose another name, or remove it",
            args.output.display()
        );
    }
    let bar = bar(episodes, "{bar:24} {human_pos}/{human_len} episodes  {eta} left");
    // Before a file is begun: the world may need what this program does not have.
    args.dataset.env().check()?;
    let mut writer = Writer::for_path(&args.output)?;
    let leaves_out = writer.leaves_out(&args.dataset.env().dataset_spec());
    let mut transitions = 0;
    let mut tell_bar = |steps: usize| {
        transitions += steps;
        bar.inc(1);
    };
    let mut sink = ProgressSink { sink: &mut writer, progress: &mut tell_bar };
    args.dataset.collect(episodes, args.seed, &mut sink)?;
    bar.finish_and_clear();
    let hash = writer.content_hash();
    writer.finish()?;
    let (output, name, seed) = (args.output.display(), args.dataset.name(), args.seed);
    if args.json {
        let report = json!({
            "output": output.to_string(), "data_set": name, "seed": seed, "episodes": episodes,
            "transitions": transitions, "contents_sha256": hash, "mujoco": mujoco_version(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(
            out,
            "{output}: {episodes} episodes, {transitions} transitions of {name}, seed {seed}; contents {hash}"
        )?;
    }
    if !leaves_out.is_empty() {
        tell(&format!("warning: the format of {output} does not hold {}", leaves_out.join(", ")));
    }
    Ok(())
}
