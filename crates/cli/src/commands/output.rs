//! Output: tables in three styles, progress bars, figures and notes on stderr.

use crate::plain::plain;
use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::plot::Figure;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::{
    io::{self, Write},
    path::Path,
};

/// Formats a count with its noun: `1 cell`, `2 cells`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    Text(String),
    Count(usize),
    /// A number and the decimals printed in text; JSON and files get all digits.
    Number(f64, usize),
    Missing,
}

/// A table with named columns, and metadata for JSON output.
#[derive(Default)]
pub struct Report {
    /// The metadata that JSON output has beside the rows.
    pub facts: Map<String, Value>,
    pub columns: Vec<String>,
    /// The minimum width of each column in text; columns without one are as wide as their contents.
    pub min_widths: Vec<usize>,
    pub rows: Vec<Vec<Field>>,
}

/// The flags that choose the output style.
#[derive(clap::Args)]
pub struct StyleArgs {
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,

    /// Print CSV
    #[arg(long)]
    csv: bool,
}

impl StyleArgs {
    pub fn is_text(&self) -> bool {
        !self.json && !self.csv
    }
}

impl Field {
    fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number, decimals) => format!("{number:.decimals$}"),
            Self::Missing => "-".into(),
        }
    }

    fn to_csv(&self) -> String {
        match self {
            Self::Number(number, _) => number.to_string(),
            Self::Missing => String::new(),
            other => other.to_text(),
        }
    }

    #[cfg(feature = "learn")]
    fn as_text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    #[cfg(feature = "learn")]
    fn as_number(&self) -> f64 {
        match self {
            Self::Count(count) => *count as f64,
            Self::Number(number, _) => *number,
            Self::Text(_) | Self::Missing => f64::NAN,
        }
    }
}

/// JSON has no infinity, so values that are not finite become null.
impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Count(count) => serializer.serialize_u64(*count as u64),
            Self::Number(number, _) => serializer.serialize_f64(*number),
            Self::Missing => serializer.serialize_none(),
        }
    }
}

impl Report {
    /// Creates a table with metadata from a JSON object, to which the version of the program is
    /// added.
    pub fn new(facts: Value, columns: Vec<String>, rows: impl IntoIterator<Item = Vec<Field>>) -> Self {
        let Value::Object(mut facts) = facts else { unreachable!("facts have names") };
        facts.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        Self { facts, columns, min_widths: Vec::new(), rows: rows.into_iter().collect() }
    }

    /// Returns the table as text in a style.
    pub fn print(&self, style: &StyleArgs) -> String {
        let mut bytes = Vec::new();
        self.write(self.rows.iter(), style, &mut bytes).expect("writing to memory");
        String::from_utf8(bytes).expect("fields are UTF-8")
    }

    /// Writes the table with rows that are made one at a time, instead of those that it holds: a
    /// large table is never in memory. Text makes them twice, to measure the columns first.
    pub fn write<R>(&self, rows: R, style: &StyleArgs, out: &mut dyn Write) -> io::Result<()>
    where
        R: Iterator<Item: AsRef<[Field]>> + Clone,
    {
        match style {
            StyleArgs { json: true, .. } => self.json(rows, out),
            StyleArgs { csv: true, .. } => self.csv(rows, out),
            _ => self.text(rows, out),
        }
    }

    /// Aligned columns: text is left-aligned, numbers are right-aligned.
    fn text<R: Iterator<Item: AsRef<[Field]>> + Clone>(
        &self,
        rows: R,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let names: Vec<String> = self.columns.iter().map(|name| cell(name)).collect();
        let width = |column: usize| {
            let minimum = self.min_widths.get(column).copied().unwrap_or(0);
            minimum.max(names[column].chars().count())
        };
        let mut layout: Vec<(usize, bool)> = (0..names.len()).map(|column| (width(column), false)).collect();
        for row in rows.clone() {
            for ((width, is_left_aligned), field) in layout.iter_mut().zip(row.as_ref()) {
                *width = (*width).max(cell(&field.to_text()).chars().count());
                *is_left_aligned |= matches!(field, Field::Text(_));
            }
        }
        let padded = |(cell, &(width, is_left_aligned)): (&String, &(usize, bool))| {
            // The width of a format argument is limited to 16 bits.
            let space = " ".repeat(width.saturating_sub(cell.chars().count()));
            if is_left_aligned { format!("{cell}{space}") } else { format!("{space}{cell}") }
        };
        let mut line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().zip(&layout).map(padded).collect();
            writeln!(out, "{}", cells.join("  ").trim_end())
        };
        line(&names)?;
        for row in rows {
            let cells: Vec<String> = row.as_ref().iter().map(|field| cell(&field.to_text())).collect();
            line(&cells)?;
        }
        Ok(())
    }

    /// The metadata, then the rows with their columns in order.
    fn json<R: Iterator<Item: AsRef<[Field]>> + Clone>(
        &self,
        rows: R,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        #[derive(Serialize)]
        #[serde(bound = "")]
        struct Document<'a, R: Iterator<Item: AsRef<[Field]>> + Clone> {
            #[serde(flatten)]
            facts: &'a Map<String, Value>,
            rows: Rows<'a, R>,
        }
        let rows = Rows { columns: &self.columns, rows };
        serde_json::to_writer_pretty(&mut *out, &Document { facts: &self.facts, rows })?;
        writeln!(out)
    }

    /// Writes all rows as a table, `.csv` or else Parquet, atomically.
    #[cfg(feature = "learn")]
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        use isochrone::{
            data::tables::{Column, write_parquet},
            learn::run::write_file,
        };
        if path.extension().is_some_and(|extension| extension == "csv") {
            let mut bytes = Vec::new();
            self.csv(self.rows.iter(), &mut bytes).expect("writing to memory");
            return Ok(write_file(path, &bytes)?);
        }
        let column = |at: usize| {
            let fields = || self.rows.iter().map(move |row| &row[at]);
            match fields().any(|field| matches!(field, Field::Text(_))) {
                true => Column::Texts(fields().map(Field::as_text).collect()),
                false => Column::Numbers(fields().map(Field::as_number).collect()),
            }
        };
        let columns: Vec<(&str, Column<'_>)> =
            self.columns.iter().enumerate().map(|(at, name)| (name.as_str(), column(at))).collect();
        Ok(write_parquet(path, &columns)?)
    }

    fn csv<R: Iterator<Item: AsRef<[Field]>>>(&self, rows: R, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(&self.columns)?;
        for row in rows {
            writer.write_record(row.as_ref().iter().map(Field::to_csv))?;
        }
        writer.flush()
    }
}

/// Returns a text for a table: in one line, and not longer than can be read.
fn cell(text: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    let text = plain(text).replace(['\n', '\t'], " ");
    match text.chars().nth(MAX_CHARACTERS) {
        Some(_) => text.chars().take(MAX_CHARACTERS - 1).chain(['…']).collect(),
        None => text,
    }
}

/// Rows as a JSON array, made one at a time.
struct Rows<'a, R> {
    columns: &'a [String],
    rows: R,
}

impl<R: Iterator<Item: AsRef<[Field]>> + Clone> Serialize for Rows<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.clone().map(|fields| Row { columns: self.columns, fields }))
    }
}

struct Row<'a, F> {
    columns: &'a [String],
    fields: F,
}

impl<F: AsRef<[Field]>> Serialize for Row<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.fields.as_ref()))
    }
}

/// Returns an error if the path exists, unless it is a file that may be overwritten.
pub fn refuse_existing(path: &Path, overwrite: bool) -> anyhow::Result<()> {
    if path.exists() && (!overwrite || path.is_dir()) {
        let hint =
            if path.is_dir() { "choose a new directory" } else { "choose another name, or use --force" };
        bail!("{} already exists; hint: {hint}", path.display());
    }
    Ok(())
}

/// Returns the known name that is most similar to an unknown one, if any is similar enough.
pub fn most_similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let similarity = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.into_iter().map(|other| (similarity(other), other)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity > 0.8).map(|(_, other)| other)
}

/// Returns the column names as owned strings.
pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// Returns a number field with the given decimals, or a missing field.
pub fn number(value: Option<f64>, decimals: usize) -> Field {
    value.map_or(Field::Missing, |value| Field::Number(value, decimals))
}

/// Returns the last component of a path.
#[cfg(feature = "learn")]
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the name of a file without its extension.
#[cfg(feature = "learn")]
pub fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns a progress bar, which is hidden if stderr is not a terminal.
pub fn bar(length: usize, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(length as u64).with_style(style)
}

/// Formats a line and prints it to stderr; see [`note`].
macro_rules! note_fmt {
    ($($argument:tt)*) => {
        $crate::commands::output::note(&format!($($argument)*))
    };
}
pub(crate) use note_fmt;

/// Prints a line to stderr. Write errors are ignored, so that training continues when the pipe is
/// closed.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", plain(text));
}

/// Saves a figure and prints its path.
pub fn save(figure: &Figure, path: &Path) -> anyhow::Result<()> {
    figure.save(path)?;
    note(&format!("wrote {}", path.display()));
    Ok(())
}
