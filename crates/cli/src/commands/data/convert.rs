//! `isochrone data convert`: from any format to those that we write.

use super::source::Source;
use crate::commands::output::{count, refuse_existing};
use anyhow::bail;
use isochrone::data::{
    DataError, Defect, DefectKind, Ending, EpisodeSink, EpisodeView, Spec, formats::Writer,
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Converts a data set, one episode at a time: it does not have to fit in memory
///
/// The name of the result says its format: .arrow (our own layout, an Arrow file that is mapped, not loaded), .npz (OGBench), or a new
/// folder (Minari). The result appears whole or not at all.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: Source,

    /// The result: a name that ends in .arrow or .npz, or a new folder for a Minari data set
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Replace an existing file
    #[arg(long)]
    force: bool,

    /// Leave out episodes that cannot be put together (lengths, ends, empty, frames of validate), instead of stopping at the first
    #[arg(long)]
    keep_going: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  isochrone data convert examples/walks.csv --observations x,y -o walks.arrow
  isochrone data convert antmaze.hdf5 --ends timeouts --goal 0..2 -o antmaze.npz
  isochrone data convert my-lerobot-dataset -o minari/my-dataset-v0";

/// Runs the verb; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    refuse_existing(&args.output, args.force)?;
    let writer = Writer::for_path(&args.output)?;
    let mut conversion = Conversion { writer, keep_going: args.keep_going, found: Found::default() };
    let format = args.source.format()?;
    args.source.read(format, &mut conversion)?;
    let Conversion { writer, found, .. } = conversion;
    let Found { episodes, transitions, defects, not_finite, knows_endings, mut leaves_out } = found;
    if episodes == 0 {
        bail!("{}: it has no episode; hint: nothing was written", args.source.input.display());
    }
    let hash = writer.content_hash();
    writer.finish()?;
    leaves_out.retain(|what| knows_endings || *what != Writer::ENDINGS);
    let output = args.output.display();
    if args.json {
        let report = json!({
            "output": output.to_string(), "episodes": episodes, "transitions": transitions, "defects": defects,
            "not_finite": not_finite, "not_kept": leaves_out, "source_sha256": hash,
            "version": env!("CARGO_PKG_VERSION"),
        });
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(
            out,
            "{output}: {episodes} episodes, {transitions} transitions, from contents with sha256 {hash}"
        )?;
    }
    if !leaves_out.is_empty() {
        eprintln!("warning: the format of {output} does not hold {}", leaves_out.join(", "));
    }
    if not_finite > 0 {
        eprintln!("warning: {not_finite} values are not finite; isochrone data validate says where");
    }
    if defects > 0 {
        let defects = count(defects, "defect");
        eprintln!("warning: {defects}, left out; isochrone data validate lists them");
    }
    Ok(())
}

struct Conversion {
    writer: Writer,
    keep_going: bool,
    found: Found,
}

#[derive(Default)]
struct Found {
    episodes: u64,
    transitions: u64,
    defects: usize,
    not_finite: u64,
    knows_endings: bool,
    leaves_out: Vec<&'static str>,
}

impl EpisodeSink for Conversion {
    fn begin(&mut self, spec: &Spec) -> Result<(), DataError> {
        self.found.leaves_out = self.writer.leaves_out(spec);
        self.writer.begin(spec)
    }

    fn episode(&mut self, episode: &EpisodeView<'_>) -> Result<(), DataError> {
        self.found.episodes += 1;
        self.found.transitions += episode.steps as u64;
        self.found.knows_endings |= episode.ending != Ending::Unknown;
        let numbers = episode.observations.iter().chain(episode.actions).chain(episode.rewards);
        self.found.not_finite += numbers.filter(|number| !number.is_finite()).count() as u64;
        self.writer.episode(episode)
    }

    fn defect(&mut self, defect: Defect) -> Result<(), DataError> {
        self.found.defects += 1;
        // A corrupt file does not become a good one.
        if self.keep_going && defect.kind != DefectKind::Corrupt { Ok(()) } else { Err(defect.into()) }
    }
}
