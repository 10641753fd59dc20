//! Where logs come from, and what the user says about them.

use crate::commands::read_args::{ReadArgs, progress, trimmed};
use anyhow::bail;
use clap::ValueEnum;
use isochrone::data::{
    EpisodeSink, ProgressSink,
    formats::{Extras, Format, ReadOptions},
};
use std::path::PathBuf;

/// The file and how to read it; the same for every verb.
#[derive(clap::Args)]
pub struct Source {
    /// A file (.npz, .hdf5, .parquet, .csv, .arrow) or the folder of a Minari or LeRobot data set
    input: PathBuf,

    /// What the input is, where its name does not say
    #[arg(long, value_enum)]
    format: Option<FormatArg>,

    /// Keep only these further columns; by default all that have a number for every state
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    extras: Vec<String>,

    /// Keep no further columns
    #[arg(long, conflicts_with = "extras")]
    no_extras: bool,

    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Our own layout
    Arrow,
    /// NumPy archive with observations, actions, terminals
    Ogbench,
    /// Flat HDF5 with observations, actions, terminals, timeouts
    D4rl,
    Minari,
    Lerobot,
    Parquet,
    Csv,
}

impl Source {
    pub fn path(&self) -> &PathBuf {
        &self.input
    }

    /// What people call the data: the name of the file or folder.
    pub fn name(&self) -> String {
        self.input.file_name().unwrap_or(self.input.as_os_str()).to_string_lossy().into_owned()
    }

    pub fn format(&self) -> anyhow::Result<Format> {
        let format = match self.format {
            None => Format::detect(&self.input)?,
            Some(FormatArg::Arrow) => Format::Arrow,
            Some(FormatArg::Ogbench) => Format::OgBench,
            Some(FormatArg::D4rl) => Format::D4rl,
            Some(FormatArg::Minari) => Format::Minari,
            Some(FormatArg::Lerobot) => Format::LeRobot,
            Some(FormatArg::Parquet) => Format::Parquet,
            Some(FormatArg::Csv) => Format::Csv,
        };
        self.read.refuse_flags_of_other_formats(format)?;
        if format == Format::Arrow && (!self.extras.is_empty() || self.no_extras) {
            bail!("--extras does not apply to {} data; hint: leave it out, or say --format", format.name());
        }
        Ok(format)
    }

    pub fn options(&self) -> ReadOptions {
        let extras = match self.extras.is_empty() && !self.no_extras {
            true => Extras::All,
            false => Extras::Named(trimmed(&self.extras)),
        };
        ReadOptions { extras, ..self.read.options() }
    }

    /// Reads everything into a sink, with a count of what was read on terminals.
    pub fn read(&self, format: Format, sink: &mut dyn EpisodeSink) -> anyhow::Result<()> {
        let bar = progress();
        let mut tell = |steps: usize| bar.inc(steps as u64);
        let mut counted = ProgressSink { sink, progress: &mut tell };
        let outcome = format.read(&self.input, &self.options(), &mut counted);
        bar.finish_and_clear();
        Ok(outcome?)
    }
}
