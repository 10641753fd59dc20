//! The file of a part: a Parquet table of edges, with the landmarks in its metadata.

use super::{GraphError, GraphPart, Landmarks};
use crate::refined::{edges::Edge, rows::apart};
use isochrone_data::{
    DataError, sha256,
    tables::{NumberTable, Numbers},
};
use std::{ops::Range, path::Path, sync::Arc};

/// The relative tolerance between a saved cost and the sum of its hops and steps, whose order of
/// summation differs.
const COST_TOLERANCE: f32 = 1e-4;
const LANDMARKS: &str = "isochrone:landmarks";
const ROWS: &str = "isochrone:rows";
const JUMPS: &str = "isochrone:jumps";
const CHECKSUM: &str = "isochrone:sha256";

impl GraphPart {
    /// Writes a file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), GraphError> {
        Ok(self.table().write(path)?)
    }

    /// Opens a file.
    ///
    /// # Errors
    /// If the file cannot be read, or is corrupt.
    pub fn open(path: &Path) -> Result<Self, GraphError> {
        Ok(Self::of_table(path, &NumberTable::read(path)?)?)
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.table().to_bytes(Path::new("edges")).expect("all columns have one row per edge")
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If they are corrupt.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, GraphError> {
        let path = Path::new("edges");
        Ok(Self::of_table(path, &NumberTable::from_bytes(path, bytes)?)?)
    }

    fn table(&self) -> NumberTable {
        let width = self.landmarks.metric().projected_width();
        let integers = |value: fn(&Edge) -> u32| {
            Numbers::Integers(self.edges.iter().map(|edge| u64::from(value(edge))).collect())
        };
        let ends = |end: usize| Numbers::Vectors {
            width,
            values: self
                .ends
                .chunks_exact(2 * width)
                .flat_map(|ends| &ends[end * width..][..width])
                .copied()
                .collect(),
        };
        let costs = self.edges.iter().map(|edge| edge.cost).collect();
        let columns = [
            ("from", integers(|edge| edge.from)),
            ("to", integers(|edge| edge.to)),
            ("lag", integers(|edge| edge.lag)),
            ("row", integers(|edge| edge.row)),
            ("cost", Numbers::Vectors { width: 1, values: costs }),
            ("first", ends(0)),
            ("last", ends(1)),
        ];
        let rows: Vec<String> =
            self.covered.iter().map(|rows| format!("{}..{}", rows.start, rows.end)).collect();
        let (landmarks, rows, jumps) = (self.landmarks.to_json(), rows.join(","), self.jumps.to_string());
        let checksum = self.checksum([&landmarks, &rows, &jumps]);
        let texts = [(LANDMARKS, landmarks), (ROWS, rows), (JUMPS, jumps), (CHECKSUM, checksum)];
        NumberTable {
            columns: columns.into_iter().map(|(name, numbers)| (name.to_owned(), numbers)).collect(),
            texts: texts.into_iter().map(|(name, text)| (name.to_owned(), text)).collect(),
        }
    }

    /// Returns SHA-256 of all that the file has: its texts, and the edges with their ends.
    fn checksum(&self, texts: [&str; 3]) -> String {
        let mut bytes = texts.join("\n").into_bytes();
        for Edge { from, to, lag, row, cost } in &self.edges {
            for number in [*from, *to, *lag, *row, cost.to_bits()] {
                bytes.extend(number.to_le_bytes());
            }
        }
        self.ends.iter().for_each(|end| bytes.extend(end.to_le_bytes()));
        sha256(&bytes)
    }

    fn of_table(path: &Path, table: &NumberTable) -> Result<Self, DataError> {
        let corrupt = |problem: &str| DataError::Malformed {
            path: path.into(),
            problem: problem.into(),
            hint: "the file is corrupt or not a part of a graph; build it again".into(),
        };
        let text = |name: &str| {
            table.texts.get(name).ok_or_else(|| corrupt(&format!("`{name}` is missing in its metadata")))
        };
        let landmarks = Landmarks::from_json(path, text(LANDMARKS)?)?;
        let (width, n_rows) = (landmarks.metric().projected_width(), landmarks.n_rows());
        let covered =
            ranges(text(ROWS)?, n_rows).ok_or_else(|| corrupt("its rows are not of the dataset"))?;
        let jumps = text(JUMPS)?.parse().map_err(|_| corrupt("its number of jumps is not a number"))?;
        let integers =
            |name: &str| table.integers(name).ok_or_else(|| corrupt(&format!("no column '{name}'")));
        let vectors = |name: &str, width| {
            table.vectors(name, width).ok_or_else(|| corrupt(&format!("no column '{name}'")))
        };
        let (from, to, lag, row) = (integers("from")?, integers("to")?, integers("lag")?, integers("row")?);
        let (cost, first, last) = (vectors("cost", 1)?, vectors("first", width)?, vectors("last", width)?);
        let (points, n) = (landmarks.projected(), landmarks.n_landmarks() as u64);
        let point = |landmark: u64| &points[landmark as usize * width..][..width];
        let (mut edges, mut ends): (Vec<Edge>, Vec<f32>) = (Vec::new(), Vec::new());
        for number in 0..from.len() {
            let [from, to, lag, row] = [from[number], to[number], lag[number], row[number]];
            let (first, last) = (&first[number * width..][..width], &last[number * width..][..width]);
            let is_segment = from < n && to < n && from != to && lag > 0 && row.saturating_add(lag) < n_rows;
            let expected = match is_segment {
                true => apart(point(from), first) + lag as f32 + apart(last, point(to)),
                false => f32::NAN,
            };
            let is_ordered =
                edges.last().is_none_or(|edge| (u64::from(edge.from), u64::from(edge.to)) < (from, to));
            // False if one of them is not a number.
            let is_cost = (cost[number] - expected).abs() <= COST_TOLERANCE * (1.0 + expected);
            if !is_ordered || !is_cost {
                return Err(corrupt(&format!("edge {number} is not a segment of the dataset")));
            }
            let [from, to, lag, row] = [from, to, lag, row].map(|value| value as u32);
            edges.push(Edge { from, to, lag, row, cost: cost[number] });
            ends.extend(first.iter().chain(last));
        }
        let found = Self { landmarks: Arc::new(landmarks), covered, jumps, edges, ends };
        let texts = [text(LANDMARKS)?.as_str(), text(ROWS)?, text(JUMPS)?];
        match *text(CHECKSUM)? == found.checksum(texts) {
            true => Ok(found),
            false => Err(corrupt("its checksum differs from its contents")),
        }
    }
}

/// Parses ranges of rows, in order.
fn ranges(text: &str, n_rows: u64) -> Option<Vec<Range<u64>>> {
    let range = |text: &str| {
        let (start, end) = text.split_once("..")?;
        Some(start.parse().ok()?..end.parse().ok()?)
    };
    let ranges: Vec<Range<u64>> =
        text.split(',').filter(|text| !text.is_empty()).map(range).collect::<Option<_>>()?;
    let is_valid = ranges.iter().all(|rows| rows.start < rows.end && rows.end <= n_rows)
        && ranges.windows(2).all(|pair| pair[0].end < pair[1].start);
    is_valid.then_some(ranges)
}
