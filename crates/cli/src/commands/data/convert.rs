//! `isochrone data convert`: converts a dataset to another format.

use super::source::Source;
use crate::commands::output::{count, note_fmt, refuse_existing};
use anyhow::bail;
use isochrone::data::{
    DataError, Defect, DefectKind, Ending, EpisodeSink, EpisodeView, Spec, formats::Writer,
};
use serde_json::json;
use std::{io::Write, path::PathBuf};

/// Convert a dataset to another format, without loading it into memory
///
/// The name of the output selects its format: .arrow (isochrone Arrow format, which is
/// memory-mapped instead of loaded), .npz (OGBench), or a new directory (Minari). With
/// --shard-rows, the output is a new directory of .arrow files that is read as one dataset. The
/// output is written atomically.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: Source,

    /// Output file (.npz or .arrow), or a new directory for the Minari format or for shards
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Write a directory of .arrow files, each with at most this many states; episodes stay whole
    #[arg(long, value_name = "N")]
    shard_rows: Option<u64>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    /// Skip malformed episodes (rules lengths, ends, empty and frames of validate) instead of
    /// stopping at the first
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
  isochrone data convert my-lerobot-dataset -o minari/my-dataset-v0
  isochrone data convert antmaze.hdf5 --shard-rows 10000000 -o antmaze-shards";

/// Runs the command; data goes to `out`.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    refuse_existing(&args.output, args.force)?;
    let writer = match args.shard_rows {
        Some(rows) => Writer::shards(&args.output, rows)?,
        None => Writer::for_path(&args.output)?,
    };
    let mut conversion = Conversion { writer, keep_going: args.keep_going, found: Found::default() };
    let format = args.source.format()?;
    args.source.read(format, &mut conversion)?;
    let Conversion { writer, found, .. } = conversion;
    let Found { episodes, transitions, defects, not_finite, knows_endings, mut leaves_out } = found;
    if episodes == 0 {
        bail!(
            "{}: no episodes, so nothing was written; hint: see isochrone data inspect",
            args.source.input.display()
        );
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
            "{output}: {episodes} episodes, {transitions} transitions; source content sha256 {hash}"
        )?;
    }
    if !leaves_out.is_empty() {
        note_fmt!("warning: the format of {output} cannot store {}", leaves_out.join(", "));
    }
    if not_finite > 0 {
        note_fmt!("warning: {not_finite} values are not finite; isochrone data validate lists them");
    }
    if defects > 0 {
        let defects = count(defects, "defect");
        note_fmt!("warning: {defects}, skipped; isochrone data validate lists them");
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
        // Skipping episodes does not make a corrupt file valid.
        if self.keep_going && defect.kind != DefectKind::Corrupt { Ok(()) } else { Err(defect.into()) }
    }
}
