//! `isochrone graph`: recorded time of datasets that no machine can hold, built in parts.

use crate::commands::{
    output::{Field, Report, StyleArgs, bar, named, note, refuse_existing},
    read_args::trimmed,
};
use anyhow::{Context as _, bail};
use clap::Subcommand;
use isochrone::{
    data::shards::{Part, Shards, StateColumns},
    refined::{GraphPart, Landmarks, RefinedConfig},
};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// Build recorded time of a Parquet dataset of any size in parts
///
/// Landmarks are chosen once, from a sample. Each part is a job that assigns its rows to landmarks
/// and keeps the fastest recorded segment between every two landmarks; the parts are then merged.
/// The graph is bit-identical for any number of parts, and needs no dataset: use it with
/// `isochrone score --graph`. It has the fastest segments only, not the typical ones.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: GraphCommand,
}

const EXAMPLES: &str = "\
Examples:
  isochrone graph landmarks logs --observations x,y -o landmarks.json
  isochrone graph part logs landmarks.json --part 1/2 -o part-1.parquet   # and 2/2, elsewhere
  isochrone graph merge part-1.parquet part-2.parquet -o graph.parquet
  isochrone score logs scored --graph graph.parquet --to 5,5";

#[derive(Subcommand)]
enum GraphCommand {
    Landmarks(LandmarksArgs),
    Part(PartArgs),
    Merge(MergeArgs),
}

/// Choose the landmarks of a dataset from a sample of its rows
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isochrone graph landmarks logs -o landmarks.json
  isochrone graph landmarks 'logs/*.parquet' --observations x,y --landmarks 4000 -o landmarks.json")]
struct LandmarksArgs {
    /// Parquet file, folder of Parquet files, or pattern such as 'data/*.parquet'
    #[arg(value_name = "IN")]
    dataset: PathBuf,

    /// Output file (.json)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Columns of the observation, in this order [default: columns with common names]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    observations: Vec<String>,

    /// Column with the episode identifier; the rows of an episode follow each other [default: a
    /// column with a common name]
    #[arg(long, value_name = "COLUMN")]
    episode: Option<String>,

    /// Maximum number of landmarks
    #[arg(long, value_name = "N", default_value_t = RefinedConfig::default().landmarks)]
    landmarks: usize,

    /// Number of rows of the sample, which is held in memory
    #[arg(long, value_name = "N", default_value_t = Landmarks::SAMPLE_ROWS)]
    sample_rows: u64,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    style: StyleArgs,
}

/// Build the edges of one part of a dataset
///
/// If the output file is complete already, nothing is done, so that a job can be started again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isochrone graph part logs landmarks.json --part 3/64 -o parts/3.parquet")]
struct PartArgs {
    /// Parquet file, folder of Parquet files, or pattern such as 'data/*.parquet'
    #[arg(value_name = "IN")]
    dataset: PathBuf,

    /// Landmarks of the dataset, from isochrone graph landmarks
    #[arg(value_name = "LANDMARKS")]
    landmarks: PathBuf,

    /// Part I of N, counted from 1
    #[arg(long, value_name = "I/N", default_value_t = Part::ALL)]
    part: Part,

    /// Output file (.parquet)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    style: StyleArgs,
}

/// Merge parts into the graph of the dataset
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isochrone graph merge parts/*.parquet -o graph.parquet")]
struct MergeArgs {
    /// Files of isochrone graph part
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,

    /// Output file (.parquet)
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    style: StyleArgs,
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    match &args.command {
        GraphCommand::Landmarks(args) => landmarks(args, out),
        GraphCommand::Part(args) => part(args, out),
        GraphCommand::Merge(args) => merge(args, out),
    }
}

fn landmarks(args: &LandmarksArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    for (flag, is_zero) in [("--landmarks", args.landmarks == 0), ("--sample-rows", args.sample_rows == 0)] {
        if is_zero {
            bail!("{flag} 0; hint: give 1 or more");
        }
    }
    refuse_existing(&args.output, args.force)?;
    let began = Instant::now();
    let shards = Shards::open(&args.dataset)?;
    let observations = trimmed(&args.observations);
    let width = shards.state_width(&observations)?;
    let columns = StateColumns { observations, episode: args.episode.clone(), width };
    let config = RefinedConfig { landmarks: args.landmarks, seed: args.seed, ..RefinedConfig::default() };
    let chosen = Landmarks::choose(&shards, &columns, args.sample_rows, &config)
        .with_context(|| args.dataset.display().to_string())?;
    chosen.save(&args.output)?;
    let columns = ["landmarks", "radius_steps", "rows", "shards", "seconds"];
    let row = vec![
        Field::Count(chosen.n_landmarks()),
        Field::Number(chosen.radius_steps(), 2),
        Field::Count(chosen.n_rows() as usize),
        Field::Count(shards.shards().len()),
        Field::Number(began.elapsed().as_secs_f64(), 1),
    ];
    let facts = json!({ "file": args.output, "seed": args.seed });
    Ok(write!(out, "{}", Report::new(facts, named(columns), [row]).print(&args.style))?)
}

fn part(args: &PartArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let began = Instant::now();
    let landmarks = Arc::new(Landmarks::open(&args.landmarks)?);
    let shards = Shards::open(&args.dataset)?;
    if args.output.exists() {
        let found = GraphPart::open(&args.output)?;
        if !found.is_part(&landmarks, &shards, args.part) {
            bail!(
                "{}: a part with other landmarks or rows; hint: choose another --output, or delete the file",
                args.output.display()
            );
        }
        note(&format!("{}: complete already", args.output.display()));
        return print_graph(&found, &args.output, began, &args.style, out);
    }
    let part = GraphPart::build(&landmarks, &shards, args.part)?;
    part.save(&args.output)?;
    print_graph(&part, &args.output, began, &args.style, out)
}

fn merge(args: &MergeArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    refuse_existing(&args.output, args.force)?;
    let began = Instant::now();
    let bar = bar(args.parts.len(), "{bar:24} {human_pos}/{human_len} parts  {eta} left");
    let mut merged: Option<GraphPart> = None;
    for path in &args.parts {
        let part = GraphPart::open(path)?;
        merged = Some(match merged {
            Some(merged) => merged.merge(part).with_context(|| path.display().to_string())?,
            None => part,
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let Some(merged) = merged else { bail!("no parts; hint: give the files of isochrone graph part") };
    // Rows that are missing are found before anything is written.
    merged.distance()?;
    merged.save(&args.output)?;
    print_graph(&merged, &args.output, began, &args.style, out)
}

fn print_graph(
    graph: &GraphPart,
    file: &Path,
    began: Instant,
    style: &StyleArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let columns = ["rows", "landmarks", "edges", "seconds"];
    let row = vec![
        Field::Count(graph.n_rows() as usize),
        Field::Count(graph.landmarks().n_landmarks()),
        Field::Count(graph.n_edges()),
        Field::Number(began.elapsed().as_secs_f64(), 1),
    ];
    Ok(write!(out, "{}", Report::new(json!({ "file": file }), named(columns), [row]).print(style))?)
}
