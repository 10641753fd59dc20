//! `isochrone envs`: worlds to act in, and recordings of behaviour in them.

use crate::verbs::report::{Field, Report, StyleArgs, named, tell};
use anyhow::bail;
use clap::{
    Subcommand,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::{
    data::{Telling, formats::Writer},
    envs::World,
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
    List(ListArgs),
    /// Records behaviour in a world, into a file that `isochrone train` reads
    Generate(GenerateArgs),
}

#[derive(clap::Args)]
struct ListArgs {
    #[command(flatten)]
    style: StyleArgs,
}

#[derive(clap::Args)]
struct GenerateArgs {
    /// Which world
    #[arg(value_parser = world_parser())]
    world: World,

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
  isochrone train --data nav2d.npz --run runs/nav2d";

/// More would fill a disk before anybody notices.
const MOST_EPISODES: usize = 100_000_000;

/// Reads a world by its name, and lists all in the help.
fn world_parser() -> impl TypedValueParser<Value = World> {
    let names = World::ALL.map(|world| PossibleValue::new(world.name()).help(world.idea()));
    PossibleValuesParser::new(names).map(|name| World::named(&name).expect("only these names are possible"))
}

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match &args.verb {
        Verb::List(args) => list(args, out),
        Verb::Generate(args) => generate(args, out),
    }
}

fn list(args: &ListArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let rows = World::ALL.map(|world| {
        let environment = world.environment();
        vec![
            Field::Text(world.name().into()),
            Field::Count(environment.observation_width()),
            Field::Count(environment.action_width()),
            Field::Count(environment.step_limit()),
            Field::Count(world.usual_episodes()),
            Field::Text(world.idea().into()),
        ]
    });
    let columns = named(["world", "observation", "action", "step_limit", "episodes", "idea"]);
    let facts = [("version".to_owned(), json!(env!("CARGO_PKG_VERSION")))].into_iter().collect();
    let report = Report { facts, columns, min_widths: Vec::new(), rows: rows.to_vec() };
    write!(out, "{}", report.print(args.style.style()))?;
    Ok(())
}

fn generate(args: &GenerateArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let episodes = args.episodes.unwrap_or(args.world.usual_episodes());
    if episodes == 0 || episodes > MOST_EPISODES {
        bail!("--episodes {episodes}; hint: give a number between 1 and {MOST_EPISODES}");
    }
    if args.output.exists() {
        bail!(
            "{}: it already exists, and runs may have learned from it; hint: choose another name, or remove it",
            args.output.display()
        );
    }
    let style = ProgressStyle::with_template("{bar:24} {human_pos}/{human_len} episodes  {eta} left");
    let bar = ProgressBar::new(episodes as u64).with_style(style.expect("the template is well formed"));
    let mut writer = Writer::for_path(&args.output)?;
    let leaves_out = writer.leaves_out(&args.world.spec());
    let mut transitions = 0;
    let mut tell_bar = |steps: usize| {
        transitions += steps;
        bar.inc(1);
    };
    args.world.record(episodes, args.seed, &mut Telling { sink: &mut writer, tell: &mut tell_bar })?;
    bar.finish_and_clear();
    let hash = writer.content_hash();
    writer.finish()?;
    let output = args.output.display();
    if args.json {
        let report = json!({
            "output": output.to_string(), "world": args.world.name(), "seed": args.seed, "episodes": episodes,
            "transitions": transitions, "contents_sha256": hash, "version": env!("CARGO_PKG_VERSION"),
        });
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(
            out,
            "{output}: {episodes} episodes, {transitions} transitions of {}, seed {}; contents {hash}",
            args.world.name(),
            args.seed
        )?;
    }
    if !leaves_out.is_empty() {
        tell(&format!("warning: the format of {output} does not hold {}", leaves_out.join(", ")));
    }
    Ok(())
}
