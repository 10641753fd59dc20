//! One table, three ways to print it.

use isochrone::plot::Figure;
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value, json};
use std::{borrow::Cow, path::Path};

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
#[derive(Debug, Default)]
pub struct Report {
    /// What JSON readers find beside the rows.
    pub facts: Map<String, Value>,
    pub columns: Vec<Cow<'static, str>>,
    /// The least width of each column in text; those not given follow from the rows.
    pub min_widths: Vec<usize>,
    pub rows: Vec<Vec<Field>>,
}

/// The flags that choose a style.
#[derive(clap::Args)]
pub struct StyleArgs {
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print CSV
    #[arg(long)]
    csv: bool,
}

impl StyleArgs {
    pub fn style(&self) -> Style {
        match (self.json, self.csv) {
            (true, _) => Style::Json,
            (_, true) => Style::Csv,
            _ => Style::Text,
        }
    }
}

/// How to print a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Text,
    Json,
    Csv,
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

    /// JSON has no infinity: what is not finite becomes null.
    fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Count(count) => json!(count),
            Self::Number(number, _) => json!(number),
            Self::Missing => Value::Null,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl Report {
    pub fn print(&self, style: Style) -> String {
        match style {
            Style::Text => self.text(),
            Style::Json => self.json(),
            Style::Csv => self.csv(),
        }
    }

    /// Aligned columns: text to the left, numbers to the right.
    pub fn text(&self) -> String {
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Field::to_text).collect()).collect();
        let width = |column: usize| {
            let of_rows = cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            let least = self.min_widths.get(column).copied().unwrap_or(0);
            of_rows.max(self.columns[column].chars().count()).max(least)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let leans_left: Vec<bool> =
            (0..self.columns.len()).map(|column| self.rows.iter().any(|row| row[column].is_text())).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded: Vec<String> = cells
                .enumerate()
                .map(|(column, cell)| {
                    let width = widths[column];
                    if leans_left[column] { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                })
                .collect();
            format!("{}\n", padded.join("  ").trim_end())
        };
        let mut text = line(&mut self.columns.iter().map(AsRef::as_ref));
        for row in &cells {
            text += &line(&mut row.iter().map(String::as_str));
        }
        text
    }

    fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("names are text") + "\n"
    }

    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer
            .write_record(self.columns.iter().map(AsRef::as_ref).map(str::as_bytes))
            .expect("writing to memory");
        for row in &self.rows {
            writer.write_record(row.iter().map(Field::to_csv)).expect("writing to memory");
        }
        String::from_utf8(writer.into_inner().expect("writing to memory")).expect("fields are UTF-8")
    }
}

/// The facts, then the rows with their columns in order.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, fact) in &self.facts {
            map.serialize_entry(name, fact)?;
        }
        let rows: Vec<Row> = self.rows.iter().map(|fields| Row { columns: &self.columns, fields }).collect();
        map.serialize_entry("rows", &rows)?;
        map.end()
    }
}

struct Row<'a> {
    columns: &'a [Cow<'static, str>],
    fields: &'a [Field],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.fields.iter().map(Field::to_json)))
    }
}

/// The known name that is most like one that is not known, if any is alike.
pub fn most_similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.into_iter().map(|other| (alike(other), other)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, other)| other)
}

/// Columns by their names.
pub fn named(names: impl IntoIterator<Item = &'static str>) -> Vec<Cow<'static, str>> {
    names.into_iter().map(Cow::Borrowed).collect()
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
