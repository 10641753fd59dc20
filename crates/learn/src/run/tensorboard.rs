//! Event files of scalars, with which TensorBoard plots the curves of a run during training.
//!
//! An event file is a sequence of frames (length, masked CRC-32C of the length, message, masked
//! CRC-32C of the message), each with one protobuf `Event`. Only the fields written here are
//! declared: every other field of those messages is optional, and readers take it as absent.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prost::Message;

/// `tensorboard.Event`.
#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "What", tags = "3, 5, 7")]
    what: Option<What>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum What {
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
    #[prost(message, tag = "7")]
    SessionLog(SessionLog),
}

/// `tensorboard.Summary`.
#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

/// `tensorboard.Summary.Value`; `simple_value` is the one kind that every reader accepts as a
/// scalar.
#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    // Optional, since it is one of several kinds: a zero must be written, too.
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

/// `tensorboard.SessionLog`.
#[derive(Clone, PartialEq, Message)]
struct SessionLog {
    #[prost(int32, tag = "1")]
    status: i32,
}

const START: What = What::SessionLog(SessionLog { status: 1 });

/// Writes one event file of scalars.
#[derive(Debug)]
pub struct EventWriter(BufWriter<File>);

impl EventWriter {
    /// Creates a new event file in `folder`, which must exist.
    ///
    /// Existing files are kept: TensorBoard reads all files of a folder, in the order of their
    /// names, as one run. With `resumed_after`, it discards what an interrupted run wrote after
    /// that step; without, it discards all earlier events. (Its fast loader does so tag by tag,
    /// once the tag is written again.)
    pub fn create(folder: &Path, resumed_after: Option<u64>) -> io::Result<Self> {
        let seconds = since_epoch().as_secs();
        let mut n = 0_u32;
        let file = loop {
            match File::create_new(folder.join(format!("events.out.tfevents.{seconds}.isochrone.{n}"))) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => n += 1,
                file => break BufWriter::new(file?),
            }
        };
        let mut writer = Self(file);
        writer.event(0, What::FileVersion("brain.Event:2".to_owned()))?;
        // Also in the first file: TensorBoard takes the first start event as the start of a run,
        // and discards steps only at later ones.
        let first = resumed_after.map_or(0, |step| step.saturating_add(1));
        writer.event(first, START)?;
        writer.flush()?;
        Ok(writer)
    }

    /// Writes the scalars of one step as one event, in single precision as TensorBoard requires.
    pub fn scalars(&mut self, step: u64, values: &[(impl AsRef<str>, f64)]) -> io::Result<()> {
        let value = |(tag, value): &(_, f64)| scalar(AsRef::as_ref(tag), *value);
        self.event(step, What::Summary(Summary { value: values.iter().map(value).collect() }))
    }

    /// Flushes the buffer to the operating system, so that a running TensorBoard sees it.
    pub fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    fn event(&mut self, step: u64, what: What) -> io::Result<()> {
        let step = i64::try_from(step).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
        let event = Event { wall_time: since_epoch().as_secs_f64(), step, what: Some(what) };
        let message = event.encode_to_vec();
        let length = (message.len() as u64).to_le_bytes();
        self.0.write_all(&length)?;
        self.0.write_all(&masked_crc(&length).to_le_bytes())?;
        self.0.write_all(&message)?;
        self.0.write_all(&masked_crc(&message).to_le_bytes())
    }
}

fn scalar(tag: &str, value: f64) -> Value {
    Value { tag: tag.to_owned(), simple_value: Some(value as f32) }
}

/// Returns the time since 1970, or none if the clock is wrong: a time in a log is not worth a run.
fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns the checksum of a frame, masked because the CRC of data that contains its own CRC is
/// constant.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the events of a file as (step, contents) and verifies the checksums of each frame.
    fn read(path: &Path) -> Vec<(i64, What)> {
        let bytes = std::fs::read(path).unwrap();
        let (mut rest, mut events) = (bytes.as_slice(), Vec::new());
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(12);
            let length = u64::from_le_bytes(head[..8].try_into().unwrap()) as usize;
            assert_eq!(head[8..], masked_crc(&head[..8]).to_le_bytes());
            assert_eq!(tail[length..length + 4], masked_crc(&tail[..length]).to_le_bytes());
            let event = Event::decode(&tail[..length]).unwrap();
            assert!(event.wall_time > 1.7e9);
            events.push((event.step, event.what.unwrap()));
            rest = &tail[length + 4..];
        }
        events
    }

    #[test]
    fn masked_crc_is_tensorflows() {
        // The first twelve bytes of every event file of TensorFlow: a frame of 24 bytes.
        assert_eq!(masked_crc(&24_u64.to_le_bytes()).to_le_bytes(), [0xa3, 0x7f, 0x4b, 0x22]);
    }

    #[test]
    fn files_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = EventWriter::create(folder.path(), None).unwrap();
        first.scalars(3, &[("loss", 0.5), ("zero", 0.0)]).unwrap();
        first.scalars(4, &[("loss".to_owned(), f64::INFINITY)]).unwrap();
        first.flush().unwrap();
        assert_eq!(first.scalars(u64::MAX, &[("loss", 1.0)]).unwrap_err().kind(), ErrorKind::InvalidInput);
        EventWriter::create(folder.path(), Some(3)).unwrap();

        let mut paths: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let version = || (0, What::FileVersion("brain.Event:2".to_owned()));
        let summary = |step, value| (step, What::Summary(Summary { value }));
        let three = summary(3, vec![scalar("loss", 0.5), scalar("zero", 0.0)]);
        let four = summary(4, vec![scalar("loss", f64::INFINITY)]);
        assert_eq!(paths.len(), 2);
        assert_eq!(read(&paths[0]), [version(), (0, START), three, four]);
        assert_eq!(read(&paths[1]), [version(), (4, START)]);
    }
}
