//! What the command shows: a table in three styles, bars, pictures and remarks.

use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};
use isochrone::plot::Figure;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::path::Path;

/// A number of things: `1 cell`, `2 cells`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    Text(String),
    Count(usize),
    /// A number, with the decimals that people see; files get all digits.
    Number(f64, usize),
    Missing,
}

/// A table with named columns, and facts about it.
#[derive(Default)]
pub struct Report {
    /// What JSON readers find beside the rows.
    pub facts: Map<String, Value>,
    pub columns: Vec<String>,
    /// The least width of each column in text; those not given follow from the rows.
    pub min_widths: Vec<usize>,
    pub rows: Vec<Vec<Field>>,
}

/// The flags that choose a style.
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

    /// JSON has no infinity: what is not finite becomes null.
    fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Count(count) => json!(count),
            Self::Number(number, _) => json!(number),
            Self::Missing => Value::Null,
        }
    }
}

impl Report {
    /// A table, and what a JSON object says about it; readers of JSON also find the version of the program.
    pub fn new(facts: Value, columns: Vec<String>, rows: impl IntoIterator<Item = Vec<Field>>) -> Self {
        let Value::Object(mut facts) = facts else { unreachable!("facts have names") };
        facts.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        Self { facts, columns, min_widths: Vec::new(), rows: rows.into_iter().collect() }
    }

    pub fn print(&self, style: &StyleArgs) -> String {
        match style {
            StyleArgs { json: true, .. } => self.json(),
            StyleArgs { csv: true, .. } => self.csv(),
            _ => self.text(),
        }
    }

    /// Aligned columns: text to the left, numbers to the right.
    fn text(&self) -> String {
        let rows = self.rows.iter().map(|row| row.iter().map(Field::to_text).collect());
        let lines: Vec<Vec<String>> = std::iter::once(self.columns.clone()).chain(rows).collect();
        let layout = |column: usize| {
            let widths = lines.iter().map(|line| line[column].chars().count());
            let width = widths.chain(self.min_widths.get(column).copied()).max().unwrap_or(0);
            (width, self.rows.iter().any(|row| matches!(row[column], Field::Text(_))))
        };
        let layout: Vec<(usize, bool)> = (0..self.columns.len()).map(layout).collect();
        let padded = |(cell, &(width, leans_left)): (&String, &(usize, bool))| match leans_left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        };
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().zip(&layout).map(padded).collect();
            format!("{}\n", cells.join("  ").trim_end())
        };
        lines.iter().map(line).collect()
    }

    /// The facts, then the rows with their columns in order.
    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Document<'a> {
            #[serde(flatten)]
            facts: &'a Map<String, Value>,
            rows: Vec<Row<'a>>,
        }
        let rows = self.rows.iter().map(|fields| Row { columns: &self.columns, fields }).collect();
        let document = Document { facts: &self.facts, rows };
        serde_json::to_string_pretty(&document).expect("names are text") + "\n"
    }

    /// Writes all rows as a table, `.csv` or else Parquet, atomically.
    #[cfg(feature = "learn")]
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        use isochrone::{
            data::tables::{Column, write_parquet},
            learn::run::write_file,
        };
        if path.extension().is_some_and(|extension| extension == "csv") {
            return Ok(write_file(path, self.csv().as_bytes())?);
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

    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns).expect("writing to memory");
        for row in &self.rows {
            writer.write_record(row.iter().map(Field::to_csv)).expect("writing to memory");
        }
        String::from_utf8(writer.into_inner().expect("writing to memory")).expect("fields are UTF-8")
    }
}

struct Row<'a> {
    columns: &'a [String],
    fields: &'a [Field],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.fields.iter().map(Field::to_json)))
    }
}

/// Refuses to replace a file, unless that is wanted.
pub fn refuse_existing(path: &Path, replaces: bool) -> anyhow::Result<()> {
    if path.exists() && (!replaces || path.is_dir()) {
        let hint = if path.is_dir() { "choose a new folder" } else { "choose another name, or say --force" };
        bail!("{} already exists; hint: {hint}", path.display());
    }
    Ok(())
}

/// The known name that is most like one that is not known, if any is alike.
pub fn most_similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.into_iter().map(|other| (alike(other), other)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, other)| other)
}

/// Columns by their names.
pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// A number to show with so many decimals, if there is one.
pub fn number(value: Option<f64>, decimals: usize) -> Field {
    value.map_or(Field::Missing, |value| Field::Number(value, decimals))
}

/// What people call a file or folder: the last part of its path.
#[cfg(feature = "learn")]
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of a file without its extension.
#[cfg(feature = "learn")]
pub fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A bar on a terminal, nothing elsewhere.
pub fn bar(length: usize, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(length as u64).with_style(style)
}

/// Says something on stderr. Whether anybody listens does not matter: training goes on when a pipe is closed.
pub fn tell(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Saves a picture and says so.
pub fn save(picture: &Figure, path: &Path) -> anyhow::Result<()> {
    picture.save(path)?;
    tell(&format!("drew {}", path.display()));
    Ok(())
}
