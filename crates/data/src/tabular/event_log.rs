//! Event logs: one row per event, with columns for the case, the activity and the time.

use super::TabularError;
use crate::Remedy;
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
/// A larger number of seconds lies beyond the year 5000, so it must be milliseconds.
const MAX_SECONDS: f64 = 1e11;

/// Reads an event log and estimates its Markov chain. The events of a case are sorted by time;
/// events at the same time keep the order of the file.
pub fn read_event_log(path: &Path, columns: &LogColumns) -> Result<EventLog, TabularError> {
    let bytes = super::read(path)?;
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter(&bytes)).trim(csv::Trim::All).from_reader(&bytes[..]);
    let not_csv = |error: &csv::Error| {
        let hint = "save it as CSV in UTF-8 with one header row";
        TabularError::malformed(path, format!("not a table: {error}"), hint)
    };
    let headers = reader.headers().map_err(|error| not_csv(&error))?.clone();
    let find = |meaning, wanted: &Option<String>, common| {
        find_column(path, &headers, meaning, wanted.as_deref(), common)
    };
    let case_column = find(("case", Remedy::CaseColumn), &columns.case, CASE_NAMES)?;
    let activity_column = find(("activity", Remedy::ActivityColumn), &columns.activity, ACTIVITY_NAMES)?;
    let timestamp_column = find(("timestamp", Remedy::TimestampColumn), &columns.timestamp, TIMESTAMP_NAMES)?;

    let mut case_numbers = HashMap::<String, usize>::new();
    let mut activity_numbers = HashMap::<String, usize>::new();
    let mut activities = Vec::new();
    let mut cases: Vec<Vec<Event>> = Vec::new();
    let mut n_events = 0;
    for record in reader.records() {
        let record = record.map_err(|error| not_csv(&error))?;
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
            let hint =
                "write 2024-05-17T09:30:00Z, 2024-05-17 09:30, or seconds (divide milliseconds by 1000)";
            TabularError::malformed(path, problem, hint)
        })?;
        let activity = number_of(field(activity_column)?, &mut activity_numbers);
        if activity == activities.len() {
            let name = field(activity_column)?;
            if [START, END].contains(&name) {
                let problem = format!(
                    "line {line}: the activity name {name:?} is reserved for the start or end of a case"
                );
                return Err(TabularError::malformed(path, problem, "give the activity another name"));
            }
            activities.push(name.to_owned());
        }
        let case = number_of(field(case_column)?, &mut case_numbers);
        if case == cases.len() {
            cases.push(Vec::new());
        }
        cases[case].push(Event { activity, at_seconds });
        n_events += 1;
    }
    cases.iter_mut().for_each(|case| case.sort_by(|a, b| a.at_seconds.total_cmp(&b.at_seconds)));
    let chain = EventChain::estimate(activities.len(), &cases)
        .map_err(|source| TabularError::Log { path: path.into(), source })?;
    Ok(EventLog { activities, chain, n_cases: cases.len(), n_events })
}

/// Returns the delimiter that splits the first line into the most fields.
fn delimiter(bytes: &[u8]) -> u8 {
    let header = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| header.iter().filter(|&&byte| byte == delimiter).count();
    // On a tie the comma wins: `max_by_key` returns the last maximum.
    *b",;\t".iter().rev().max_by_key(|&&delimiter| count(delimiter)).expect("not empty")
}

fn find_column(
    path: &Path,
    headers: &csv::StringRecord,
    (meaning, remedy): (&str, Remedy),
    wanted: Option<&str>,
    common: &[&str],
) -> Result<usize, TabularError> {
    let position = |name: &str| headers.iter().position(|header| header.eq_ignore_ascii_case(name));
    let found = match wanted {
        Some(name) => headers.iter().position(|header| header == name).or_else(|| position(name)),
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
