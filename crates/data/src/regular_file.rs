//! Reads of regular files only, up to a limit.
//!
//! A named pipe would wait for ever, and a device such as `/dev/zero` never ends. Neither shows a
//! size that could be checked first.

use std::{
    error::Error,
    fmt,
    fs::{File, FileType},
    io::{self, Read as _},
    path::Path,
};

/// The reason why something at a path is not read.
#[derive(Debug)]
struct NotRegular(&'static str);

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is {}, not a regular file", self.0)
    }
}

impl Error for NotRegular {}

/// Opens a regular file, or a link to one.
///
/// # Errors
/// Returns an error if the file cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe already waits, so it is not opened to look at it.
    check(path.metadata()?.file_type())?;
    let file = File::open(path)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a regular file that has up to `limit_bytes`.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a regular file, or is larger.
pub fn read_at_most(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    // Some files, such as those of /proc, have more bytes than they declare.
    let mut bytes = Vec::with_capacity(size.min(limit_bytes) as usize);
    file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes {
        let problem = format!("it has more than {limit_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// Returns what to do about an error while reading.
pub fn hint(error: &io::Error) -> &'static str {
    match error.get_ref() {
        Some(inner) if inner.is::<NotRegular>() => {
            "give a regular file; save what a pipe or a process substitution <(...) delivers to a file first"
        }
        _ => "check that the path is correct and readable",
    }
}

fn check(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let name = if kind.is_dir() { "a folder" } else { special(kind) };
    Err(io::Error::new(io::ErrorKind::InvalidInput, NotRegular(name)))
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "a device"
}
