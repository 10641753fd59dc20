//! Text from files without what could control a terminal.
//!
//! Names of states, columns and tasks come from files of other users. Control characters in them
//! could move the cursor, change what was printed before, or hide a part of a command that users
//! copy.

use isochrone::is_control;
use std::{
    borrow::Cow,
    io::{Error, Result, Write},
};

/// Replaces characters that control a terminal by escapes such as `\u001b`. Line ends and tabs
/// stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match is_obeyed(c) {
            // The escape of JSON, so that JSON stays what it was.
            true => plain += &format!("\\u{:04x}", u32::from(c)),
            false => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// Whether a terminal obeys a character. Line ends and tabs do no harm.
fn is_obeyed(c: char) -> bool {
    is_control(c) && c != '\n' && c != '\t'
}

/// Writes text without characters that control a terminal to the standard output.
#[derive(Debug)]
pub struct PlainWriter<W: Write> {
    inner: W,
    /// The first bytes of a character whose other bytes are not yet written.
    pending: Vec<u8>,
}

impl<W: Write> PlainWriter<W> {
    /// Returns a writer to `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, pending: Vec::new() }
    }
}

/// Names the standard output in an error, which the system does not.
pub fn of_stdout(error: Error) -> Error {
    let hint = "free space, or write to another place";
    Error::new(error.kind(), format!("standard output: {error}; hint: {hint}"))
}

impl<W: Write> Write for PlainWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.pending.extend(bytes);
        let complete = match str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            // The end of the text may be a part of a character; anything else is not text.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.pending.len(),
        };
        let text = String::from_utf8_lossy(&self.pending[..complete]);
        self.inner.write_all(plain(&text).as_bytes()).map_err(of_stdout)?;
        self.pending.drain(..complete);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush().map_err(of_stdout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("a\tb\nä 距離"), "a\tb\nä 距離");
        assert_eq!(plain("\u{1b}[2Jx\r\u{7f}\u{9b}\u{202e}"), "\\u001b[2Jx\\u000d\\u007f\\u009b\\u202e");
        // Escaped JSON is the same JSON.
        let value = serde_json::json!({ "name": "\u{9b}\u{7f}\u{2066}" });
        assert_eq!(plain(&value.to_string()).parse::<serde_json::Value>().unwrap(), value);
    }

    #[test]
    fn characters_are_escaped_however_they_are_written() {
        let text = "x\u{9b}y\u{202e}距\u{1b}";
        for n in 1..text.len() {
            let mut writer = PlainWriter::new(Vec::new());
            text.as_bytes().chunks(n).for_each(|bytes| writer.write_all(bytes).unwrap());
            assert_eq!(String::from_utf8(writer.inner).unwrap(), plain(text));
        }
    }
}
