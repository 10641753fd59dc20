//! The input dataset and the flags that describe it.

use crate::commands::{
    choice::{Choice, one_of},
    read_args::{ReadArgs, read_spinner, trimmed},
    remote::local,
};
use anyhow::bail;
use isochrone::data::{
    EpisodeSink, ProgressSink,
    formats::{Extras, Format, ReadOptions},
};
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The input and how to read it, shared by all `data` commands.
#[derive(clap::Args)]
pub struct Source {
    /// Dataset: a file (.npz, .hdf5, .parquet, .csv, .arrow), a directory of such files, the
    /// directory of a Minari or LeRobot dataset, or an address (s3://, gs://, az://, https://,
    /// hf://)
    pub input: PathBuf,

    /// The local path of the input, once it is known.
    #[arg(skip)]
    local: OnceLock<PathBuf>,

    /// Format of the input [default: detected from its name]
    #[arg(long, value_parser = one_of(FORMATS.to_vec()))]
    format: Option<Format>,

    /// Extra columns to keep [default: all that have a number for every state]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    extras: Vec<String>,

    /// Keep no extra columns
    #[arg(long, conflicts_with = "extras")]
    no_extras: bool,

    #[command(flatten)]
    read: ReadArgs,
}

const FORMATS: [Choice<Format>; 7] = [
    ("arrow", "isochrone Arrow format", Format::Arrow),
    ("ogbench", "NumPy archive with observations, actions, terminals", Format::OgBench),
    ("d4rl", "Flat HDF5 with observations, actions, terminals, timeouts", Format::D4rl),
    ("minari", "", Format::Minari),
    ("lerobot", "", Format::LeRobot),
    ("parquet", "", Format::Parquet),
    ("csv", "", Format::Csv),
];

impl Source {
    /// Returns the name of the file or directory.
    pub fn name(&self) -> String {
        self.input.file_name().unwrap_or(self.input.as_os_str()).to_string_lossy().into_owned()
    }

    /// Returns the local path of the input. A remote dataset is downloaded by the first call.
    pub fn path(&self) -> anyhow::Result<&Path> {
        match self.local.get() {
            Some(path) => Ok(path),
            None => {
                let path = local(&self.input)?.into_owned();
                Ok(self.local.get_or_init(|| path))
            }
        }
    }

    pub fn format(&self) -> anyhow::Result<Format> {
        let format = match self.format {
            Some(format) => format,
            None => Format::detect(self.path()?)?,
        };
        self.read.refuse_flags_of_other_formats(format)?;
        if format == Format::Arrow && (!self.extras.is_empty() || self.no_extras) {
            bail!("--extras does not apply to {} data; hint: leave it out, or set --format", format.name());
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

    /// Reads the dataset into a sink and shows the progress on a terminal.
    pub fn read(&self, format: Format, sink: &mut dyn EpisodeSink) -> anyhow::Result<()> {
        let path = self.path()?;
        let bar = read_spinner();
        let mut advance = |steps: usize| bar.inc(steps as u64);
        let mut counted = ProgressSink { sink, progress: &mut advance };
        let outcome = format.read(path, &self.options(), &mut counted);
        bar.finish_and_clear();
        Ok(outcome?)
    }
}
