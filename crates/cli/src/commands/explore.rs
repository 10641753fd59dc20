//! `isochrone explore`: an interactive page of distances.

use crate::commands::{
    output::{Field, Report, StyleArgs, file_name, named, note, refuse_existing},
    query::{LoadedRun, open_run},
    read_args::ReadArgs,
    remote::local,
    runs::dataset_label,
};
use anyhow::bail;
use isochrone::{
    data::{
        Dataset,
        formats::{Extras, Format, ReadOptions},
    },
    learn::{ComputeDevice, model::CheckpointSelector, run::write_file},
    plot::{ExploreLayers, ExplorePage},
    refined::{PortableGraph, RefinedConfig, RefinedDistance},
};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Write an interactive HTML page of recorded time, which opens without a server
///
/// Point at a state: the map and the timelines of all episodes show the steps to it or from it,
/// with isochrones. Click a start and a goal: the page shows the planned path along recorded
/// segments. The page holds the graph of the refined distance, evaluates it in the browser, and
/// shows the numbers that `isochrone distance` prints. It needs no network and no other file.
///
/// A dataset needs no training: its recorded time is computed first.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run directory, or a dataset
    #[arg(value_name = "RUN|DATASET")]
    input: PathBuf,

    /// Output file, which ends in .html
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Maximum number of dataset states on the page, evenly spaced over all episodes
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(2..=5000))]
    states: u64,

    /// Number of landmarks, instead of those of isochrone distance: fewer make a smaller page with
    /// less accurate distances
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=4000))]
    landmarks: Option<u64>,

    /// Findings to show: JSON of isochrone doctor
    #[arg(long, value_name = "FILE", help_heading = "Layers")]
    doctor: Option<PathBuf>,

    /// Gaps to show: JSON of isochrone gaps
    #[arg(long, value_name = "FILE", help_heading = "Layers")]
    gaps: Option<PathBuf>,

    /// Progress to show: Parquet table of isochrone progress
    #[arg(long, value_name = "FILE", help_heading = "Layers")]
    progress: Option<PathBuf>,

    /// Accept a config.toml or manifest.json that was edited after the run started
    #[arg(long)]
    accept_edits: bool,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    style: StyleArgs,

    #[command(flatten, next_help_heading = "Reading a dataset")]
    read: ReadArgs,
}

const EXAMPLES: &str = "\
Examples:
  isochrone explore runs/maze -o maze.html
  isochrone explore demonstrations -o robot.html --force
  isochrone explore walks.csv --observations x,y -o walks.html
  isochrone explore demonstrations --doctor doctor.json --gaps gaps.json \\
    --progress progress.parquet -o robot.html";

/// A dataset with its graph, and the texts about them.
struct Subject {
    data: Dataset,
    graph: PortableGraph,
    title: String,
    subtitle: String,
}

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    check_name(&args.output)?;
    refuse_existing(&args.output, args.force)?;
    let subject = match args.input.join("manifest.json").exists() {
        true => of_run(args)?,
        false => of_dataset(args)?,
    };
    let Subject { data, graph, title, subtitle } = subject;
    let states = ExplorePage::fitting_states(&data, &graph, args.states)?;
    let wanted = args.states.min(data.index().n_states());
    if (states.len() as u64) < wanted {
        let (fitting, mb) = (states.len(), ExplorePage::MAX_BYTES / 1_000_000);
        note(&format!("only {fitting} of {wanted} states fit on a page of {mb} MB"));
    }
    let layers = layers(args, &data, &states)?;
    let (n_states, n_findings, n_gaps) = (states.len(), layers.findings.len(), layers.bridges.len());
    let note_text = format!("Made by isochrone {}.", env!("CARGO_PKG_VERSION"));
    let page = ExplorePage { title, subtitle, note: note_text, data: &data, graph: &graph, states, layers };
    let html = page.html()?;
    write_file(&args.output, html.as_bytes())?;
    note(&format!("wrote {}: {} bytes", args.output.display(), html.len()));
    let columns = ["states", "landmarks", "edges", "radius_steps", "findings", "gaps"];
    let row = vec![
        Field::Count(n_states),
        Field::Count(graph.landmark_rows.len()),
        Field::Count(graph.edges.len()),
        Field::Number(f64::from(graph.radius_steps), 2),
        Field::Count(n_findings),
        Field::Count(n_gaps),
    ];
    let facts = json!({ "file": args.output, "bytes": html.len(), "data_sha256": data.content_hash() });
    Ok(write!(out, "{}", Report::new(facts, named(columns), [row]).print(&args.style))?)
}

fn of_run(args: &Args) -> anyhow::Result<Subject> {
    if args.read.options() != ReadOptions::default() {
        bail!("a run has its own settings for reading data; hint: use these flags with a dataset only");
    }
    let run = open_run(&args.input, args.accept_edits)?;
    let loaded = LoadedRun::of(run, CheckpointSelector::Last, None, ComputeDevice::Cpu)?;
    let data = loaded.data()?.clone();
    let graph = match args.landmarks {
        Some(landmarks) => fit(&data, landmarks)?.portable(&data)?,
        None => loaded.refined()?.portable(&data)?,
    };
    let title = format!("Recorded time: {}", file_name(&args.input));
    let subtitle = subtitle(&dataset_label(&loaded.run), &data, &graph);
    Ok(Subject { data, graph, title, subtitle })
}

fn of_dataset(args: &Args) -> anyhow::Result<Subject> {
    if args.accept_edits {
        bail!("--accept-edits does not apply to a dataset; hint: leave it out, or give a run");
    }
    let path = &*local(&args.input)?;
    args.read.refuse_flags_of_other_formats(Format::detect(path)?)?;
    let read = ReadOptions { extras: Extras::Named(Vec::new()), ..args.read.options() };
    let data = Dataset::load(path, &read)?;
    let landmarks = args.landmarks.unwrap_or(RefinedConfig::default().landmarks as u64);
    let graph = fit(&data, landmarks)?.portable(&data)?;
    let name = file_name(&args.input);
    let hash = data.content_hash();
    let subtitle = subtitle(&format!("{name} ({})", &hash[..hash.len().min(12)]), &data, &graph);
    Ok(Subject { data, graph, title: format!("Recorded time: {name}"), subtitle })
}

fn fit(data: &Dataset, landmarks: u64) -> anyhow::Result<RefinedDistance> {
    let config = RefinedConfig { landmarks: landmarks as usize, ..RefinedConfig::default() };
    Ok(RefinedDistance::fit(data, &config)?)
}

fn subtitle(name: &str, data: &Dataset, graph: &PortableGraph) -> String {
    format!(
        "Dataset {name}: {} episodes, {} states. Refined distance between {} landmarks.",
        data.n_episodes(),
        data.index().n_states(),
        graph.landmark_rows.len()
    )
}

fn layers(args: &Args, data: &Dataset, states: &[u64]) -> anyhow::Result<ExploreLayers> {
    let mut layers = ExploreLayers::default();
    if let Some(path) = &args.doctor {
        layers.read_findings(path)?;
    }
    if let Some(path) = &args.gaps {
        layers.read_gaps(path)?;
    }
    if let Some(path) = &args.progress {
        layers.read_progress(path, data, states)?;
    }
    Ok(layers)
}

/// Returns an error if a file name does not end in `.html`, so that no other file is overwritten.
fn check_name(file: &Path) -> anyhow::Result<()> {
    if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html")) {
        return Ok(());
    }
    let name = file.with_extension("html");
    bail!("{}: the name does not end in .html; hint: use -o {}", file.display(), name.display())
}
