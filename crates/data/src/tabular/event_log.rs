//! Event logs: one row per event, with columns for the case, the activity and the time.

use super::TabularError;
use crate::{
    Remedy,
    bounded_records::{BoundedRecords, check_columns},
    formats::cells,
};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use isochrone_core::exact::{Event, EventChain};
use std::{collections::HashMap, path::Path};

/// The columns to read; for `None`, common names are searched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogColumns {
    /// The column that identifies cases.
    pub case: Option<String>,
    /// The column that names activities.
    pub activity: Option<String>,
    /// The column with the time of each event.
    pub timestamp: Option<String>,
}

/// An event log as a Markov chain.
#[derive(Debug, Clone)]
pub struct EventLog {
    /// The names of the activities, in order of first appearance.
    pub activities: Vec<String>,
    /// The Markov chain over the activities.
    pub chain: EventChain,
    /// The number of cases.
    pub n_cases: usize,
    /// The number of events.
    pub n_events: usize,
}

impl EventLog {
    /// Returns the name of a state of the chain.
    pub fn state_name(&self, state: usize) -> &str {
        match self.activities.get(state) {
            Some(name) => name,
            None if state == self.chain.start() => START,
            None => END,
        }
    }

    /// Returns the state with this name; activities come before `(start)` and `(end)`.
    pub fn find_state(&self, name: &str) -> Option<usize> {
        (0..self.activities.len() + 2).find(|&state| self.state_name(state) == name)
    }
}

/// The names of the two states that are not activities.
const START: &str = "(start)";
const END: &str = "(end)";

/// Common names of columns, tried in this order and case-insensitively. Those with colons are from
/// the XES standard (IEEE 1849).
const CASE_NAMES: &[&str] = &["case", "case_id", "caseid", "case id", "case:concept:name"];
const ACTIVITY_NAMES: &[&str] = &["activity", "concept:name", "event", "event_name"];
const TIMESTAMP_NAMES: &[&str] =
    &["timestamp", "time:timestamp", "complete timestamp", "start timestamp", "time", "date", "datetime"];
const TIME_HINT: &str =
    "write 2024-05-17T09:30:00Z, 2024-05-17 09:30, or seconds (divide milliseconds by 1000)";
/// A larger number of seconds lies beyond the year 5000, so it must be milliseconds.
const MAX_SECONDS: f64 = 1e11;

/// Reads an event log and estimates its Markov chain. The events of a case are sorted by time;
/// events at the same time keep the order of the file.
pub fn read_event_log(path: &Path, columns: &LogColumns) -> Result<EventLog, TabularError> {
    let bytes = super::read(path)?;
    let records = BoundedRecords::new(&bytes[..]);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter(&bytes)).trim(csv::Trim::All).from_reader(records);
    let not_csv = |error: &csv::Error| {
        let hint = "save it as CSV in UTF-8 with one header row";
        TabularError::malformed(path, format!("not a table: {error}"), hint)
    };
    let headers = reader.headers().map_err(|error| not_csv(&error))?.clone();
    check_columns(headers.len())
        .map_err(|problem| TabularError::malformed(path, problem, "keep the columns of events only"))?;
    if headers.is_empty() {
        return Err(TabularError::malformed(path, "the file is empty", "name the columns in its first line"));
    }
    let names: Vec<&str> = headers.iter().collect();
    let [case_column, activity_column, timestamp_column] = find_columns(path, &names, columns)?;

    let (mut events, mut record) = (Collector::default(), csv::StringRecord::new());
    loop {
        reader.get_mut().next_record();
        if !reader.read_record(&mut record).map_err(|error| not_csv(&error))? {
            break;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let field = |column: usize| match record.get(column).filter(|field| !field.is_empty()) {
            Some(field) => Ok(field),
            None => {
                let problem = format!("line {line}: column {:?} is empty", &headers[column]);
                Err(TabularError::malformed(path, problem, "remove the row or fill the field"))
            }
        };
        let time = field(timestamp_column)?;
        let at_seconds = parse_seconds(time).ok_or_else(|| {
            let problem = format!("line {line}: {:?} = {time:?} is not a time", &headers[timestamp_column]);
            TabularError::malformed(path, problem, TIME_HINT)
        })?;
        let add = events.add(field(case_column)?, field(activity_column)?, at_seconds);
        add.map_err(|problem| {
            TabularError::malformed(path, format!("line {line}: {problem}"), "give the activity another name")
        })?;
    }
    events.log(path)
}

impl EventLog {
    /// Reads a table in memory and estimates its Markov chain, as [`read_event_log`] does for a
    /// file. The times are timestamps, numbers of seconds, or strings.
    ///
    /// # Errors
    /// If a column is missing, or a value is missing or not a time.
    pub fn from_batches(
        schema: &Schema,
        batches: &[RecordBatch],
        columns: &LogColumns,
    ) -> Result<Self, TabularError> {
        let path = Path::new("table");
        let headers: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let [case_column, activity_column, timestamp_column] = find_columns(path, &headers, columns)?;
        let mut events = Collector::default();
        for batch in batches {
            let column = |at: usize| {
                cells::strings(batch.column(at)).map_err(|problem| {
                    let problem = format!("column {:?}: {problem}", headers[at]);
                    TabularError::malformed(path, problem, "convert it to strings, numbers or timestamps")
                })
            };
            let (cases, activities) = (column(case_column)?, column(activity_column)?);
            let times = column(timestamp_column)?;
            for ((case, activity), time) in cases.iter().zip(&activities).zip(&times) {
                let row = events.n_events;
                let fail = |problem: String, hint: &str| {
                    TabularError::malformed(path, format!("row {row}: {problem}"), hint)
                };
                if case.is_empty() || activity.is_empty() {
                    let problem = "the case or the activity is missing".to_owned();
                    return Err(fail(problem, "remove the row or fill the field"));
                }
                let at_seconds = parse_seconds(time).ok_or_else(|| {
                    fail(format!("{:?} = {time:?} is not a time", headers[timestamp_column]), TIME_HINT)
                })?;
                let add = events.add(case, activity, at_seconds);
                add.map_err(|problem| fail(problem, "give the activity another name"))?;
            }
        }
        events.log(path)
    }
}

/// Returns the delimiter that splits the first line into the most fields.
fn delimiter(bytes: &[u8]) -> u8 {
    let header = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| header.iter().filter(|&&byte| byte == delimiter).count();
    // On a tie the comma wins: `max_by_key` returns the last maximum.
    *b",;\t".iter().rev().max_by_key(|&&delimiter| count(delimiter)).expect("not empty")
}

/// Returns the columns of the case, the activity and the time.
fn find_columns(path: &Path, headers: &[&str], columns: &LogColumns) -> Result<[usize; 3], TabularError> {
    let find = |meaning, wanted: &Option<String>, common| {
        find_column(path, headers, meaning, wanted.as_deref(), common)
    };
    Ok([
        find(("case", Remedy::CaseColumn), &columns.case, CASE_NAMES)?,
        find(("activity", Remedy::ActivityColumn), &columns.activity, ACTIVITY_NAMES)?,
        find(("timestamp", Remedy::TimestampColumn), &columns.timestamp, TIMESTAMP_NAMES)?,
    ])
}

fn find_column(
    path: &Path,
    headers: &[&str],
    (meaning, remedy): (&str, Remedy),
    wanted: Option<&str>,
    common: &[&str],
) -> Result<usize, TabularError> {
    let position = |name: &str| headers.iter().position(|header| header.eq_ignore_ascii_case(name));
    let found = match wanted {
        Some(name) => headers.iter().position(|header| *header == name).or_else(|| position(name)),
        None => common.iter().find_map(|name| position(name)),
    };
    found.ok_or_else(|| {
        let problem = match wanted {
            Some(name) => format!("no column {name:?}"),
            None => format!("no column looks like the {meaning}"),
        };
        let have: Vec<String> = headers.iter().map(|header| format!("{header:?}")).collect();
        let hint =
            remedy.hint(|option| format!("the columns are {}; choose one with {option}", have.join(", ")));
        TabularError::malformed(path, problem, hint)
    })
}

/// The cases and activities of a log, in order of first appearance.
#[derive(Default)]
struct Collector {
    case_numbers: HashMap<String, usize>,
    activity_numbers: HashMap<String, usize>,
    activities: Vec<String>,
    cases: Vec<Vec<Event>>,
    n_events: usize,
}

impl Collector {
    fn add(&mut self, case: &str, activity: &str, at_seconds: f64) -> Result<(), String> {
        let number = number_of(activity, &mut self.activity_numbers);
        if number == self.activities.len() {
            if [START, END].contains(&activity) {
                return Err(format!(
                    "the activity name {activity:?} is reserved for the start or end of a case"
                ));
            }
            self.activities.push(activity.to_owned());
        }
        let case = number_of(case, &mut self.case_numbers);
        if case == self.cases.len() {
            self.cases.push(Vec::new());
        }
        self.cases[case].push(Event { activity: number, at_seconds });
        self.n_events += 1;
        Ok(())
    }

    fn log(mut self, path: &Path) -> Result<EventLog, TabularError> {
        self.cases.iter_mut().for_each(|case| case.sort_by(|a, b| a.at_seconds.total_cmp(&b.at_seconds)));
        let chain = EventChain::estimate(self.activities.len(), &self.cases)
            .map_err(|source| TabularError::Log { path: path.into(), source })?;
        let (n_cases, n_events) = (self.cases.len(), self.n_events);
        Ok(EventLog { activities: self.activities, chain, n_cases, n_events })
    }
}

fn number_of(name: &str, numbers: &mut HashMap<String, usize>) -> usize {
    if let Some(&number) = numbers.get(name) {
        return number;
    }
    let number = numbers.len();
    numbers.insert(name.to_owned(), number);
    number
}

/// Parses seconds from a number, a time with a UTC offset, or a local date and time (taken as UTC).
fn parse_seconds(text: &str) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return (seconds.abs() <= MAX_SECONDS).then_some(seconds);
    }
    // Some tools write 2024/05/17.
    let text = &text.replace('/', "-");
    let instant = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let local = text.parse::<jiff::civil::DateTime>().ok()?;
        local.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })?;
    Some(instant.as_second() as f64 + f64::from(instant.subsec_nanosecond()) * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_in_many_formats() {
        let hour = |text: &str| parse_seconds(text).map(|seconds| seconds / 3600.0);
        let noon = hour("2024-05-17T12:00:00Z").unwrap();
        for same in [
            "2024-05-17 12:00:00",
            "2024-05-17T14:00:00+02:00",
            "2024-05-17 12:00",
            "2024/05/17 12:00:00.000",
        ] {
            assert_eq!(hour(same), Some(noon), "{same}");
        }
        assert_eq!(hour("2024-05-17"), Some(noon - 12.0));
        assert_eq!(parse_seconds("1.5e3"), Some(1500.0));
        assert_eq!(
            (parse_seconds("yesterday"), parse_seconds("NaN"), parse_seconds("1704200000000")),
            (None, None, None)
        );
    }

    #[test]
    fn the_delimiter_is_detected_in_the_header() {
        assert_eq!(delimiter(b"case;activity;time\n1,5;a;b"), b';');
        assert_eq!(delimiter(b"case\tactivity\ttime"), b'\t');
        assert_eq!(delimiter(b"case"), b',');
    }
}
