//! What a command does to the disk, recorded by the system-call tracer `strace`.

use crate::disk::{Change, Disk};
use std::{
    collections::HashMap,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Output, Stdio},
};

/// A system call that a thread made, counted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// The number of calls of this name that the thread had made, this one included.
    pub number: usize,
}

/// What a traced command did in a folder, in order.
#[derive(Debug)]
pub struct Journal {
    pub code: Option<i32>,
    pub stderr: String,
    pub changes: Vec<Change>,
    /// The system calls that opened, changed or synced something in the folder.
    pub calls: Vec<Call>,
}

/// The system calls that change files or make changes durable. Every other call that could do so
/// (`io_uring`, shared writable mappings) makes [`record`] panic.
const CALLS: &str = "openat,open,creat,write,writev,pwrite64,pwritev,lseek,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,ftruncate,truncate,fallocate,copy_file_range,sendfile,close,mmap,io_uring_setup";

/// Returns a command in `folder` whose program is traced by `strace` with arguments, or panics with
/// a hint. Of several processes, the first is traced.
fn strace(folder: &Path, command: &[String], arguments: &[&str], output: &Path) -> Command {
    let version = Command::new("strace").arg("--version").stdout(Stdio::null()).status();
    assert!(
        version.is_ok_and(|status| status.success()),
        "strace is not installed; hint: apt-get install strace"
    );
    let output = output.to_string_lossy().into_owned();
    let tracer = ["strace", "-f", "-qq", "-o", &output].into_iter().chain(arguments.iter().copied());
    let is_launched = command[0] == "env";
    let is_program = |word: &String| !is_launched || word == env!("CARGO_BIN_EXE_isochrone");
    let (launcher, traced) = command.split_at(command.iter().position(is_program).expect("a program"));
    let launcher = launcher.iter().map(String::as_str);
    let words: Vec<&str> = launcher.chain(tracer).chain(traced.iter().map(String::as_str)).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs a command in `folder` and records what it changes there.
pub fn record(folder: &Path, command: &[String]) -> Journal {
    let before = Disk::read(folder);
    let output = tempfile::NamedTempFile::new().unwrap();
    let trace = format!("trace={CALLS}");
    let options = ["--seccomp-bpf", "-y", "-xx", "-s", "1000000000", "-e", &trace];
    let mut traced = strace(folder, command, &options, output.path());
    let ended = traced.stdout(Stdio::null()).output().unwrap();
    let text = std::fs::read_to_string(output.path()).unwrap();
    let mut recorder = Recorder {
        folder: folder.canonicalize().unwrap(),
        disk: before,
        open: HashMap::new(),
        counts: HashMap::new(),
        changes: Vec::new(),
        calls: Vec::new(),
    };
    completed_calls(&text).into_iter().for_each(|(thread, call)| recorder.add(&thread, &call));
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    Journal { code: ended.status.code(), stderr, changes: recorder.changes, calls: recorder.calls }
}

/// Runs a command in `folder` with an effect of `strace`, such as an error or a signal, on one of
/// its system calls.
///
/// # Panics
/// If the call is not made.
pub fn inject(folder: &Path, command: &[String], call: &Call, effect: &str) -> Output {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let rules =
        [format!("trace={}", call.name), format!("inject={}:{effect}:when={}", call.name, call.number)];
    let mut traced = strace(folder, command, &["-e", &rules[0], "-e", &rules[1]], trace.path());
    let output = traced.output().unwrap();
    // A killed process does not complete its call.
    let was_made =
        is_killed(output.status) || std::fs::read_to_string(trace.path()).unwrap().contains("(INJECTED)");
    assert!(was_made, "{command:?}: {call:?} was not made again");
    output
}

/// Whether a command was ended by SIGKILL. The tracer ends like the program that it traces, and a
/// launcher of several processes has an exit code for it.
pub fn is_killed(status: ExitStatus) -> bool {
    status.signal() == Some(9) || status.code() == Some(137)
}

/// Returns the threads and system calls of a trace in the order in which they ended. A call during
/// which another thread made one is in two lines.
fn completed_calls(trace: &str) -> Vec<(String, String)> {
    let (mut started, mut completed) = (HashMap::new(), Vec::new());
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let (thread, call) = (thread.to_owned(), call.trim_start());
        if let Some(start) = call.strip_suffix("<unfinished ...>") {
            started.insert(thread, start.trim_end().to_owned());
        } else if let Some(rest) = call.strip_prefix("<... ") {
            let end = rest.split_once("resumed>").expect("the name of the call").1;
            let start = started.remove(&thread).expect("the start of the call");
            completed.push((thread, start + end));
        } else if call.contains('(') {
            completed.push((thread, call.to_owned()));
        }
    }
    completed
}

struct Recorder {
    folder: PathBuf,
    /// The disk as the process sees it.
    disk: Disk,
    /// The position in each open file, by descriptor; none if it is opened for appending.
    open: HashMap<u32, Option<usize>>,
    /// The number of calls by thread and name.
    counts: HashMap<(String, String), usize>,
    changes: Vec<Change>,
    calls: Vec<Call>,
}

impl Recorder {
    fn add(&mut self, thread: &str, call: &str) {
        let (name, rest) = call.split_once('(').unwrap();
        let count = self.counts.entry((thread.to_owned(), name.to_owned())).or_default();
        *count += 1;
        let call = Call { name: name.to_owned(), number: *count };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { return };
        let arguments = arguments.trim_end();
        let arguments: Vec<&str> = arguments.strip_suffix(')').unwrap_or(arguments).split(", ").collect();
        // A failed call has changed nothing.
        let Ok(returned) = result.split(['<', ' ']).next().unwrap().parse() else { return };
        if let Some(changes) = self.changes_of(name, &arguments, returned, result) {
            changes.iter().for_each(|change| self.disk.apply(change));
            self.changes.extend(changes);
            self.calls.push(call);
        }
    }

    /// Returns the changes of a successful call in the folder, or `None` for a call that concerns
    /// another place, or that neither changes nor prepares to change anything.
    fn changes_of(
        &mut self,
        name: &str,
        arguments: &[&str],
        returned: usize,
        result: &str,
    ) -> Option<Vec<Change>> {
        let inside = |path: Option<PathBuf>| self.inside(path?);
        match name {
            "openat" => {
                let flags = arguments[2];
                let path = inside(path_of(result));
                let start = (!flags.contains("O_APPEND")).then_some(0);
                self.open.insert(number_of(result), start);
                let path = path?;
                let has = |flag| flags.contains(flag);
                // A file without a name is gone after a crash.
                match has("O_CREAT") || has("O_WRONLY") || has("O_RDWR") {
                    true if has("O_TMPFILE") => Some(Vec::new()),
                    true if self.disk.length(&path).is_none() => Some(vec![Change::CreateFile { path }]),
                    true if has("O_TRUNC") => Some(vec![Change::Truncate { path, length: 0 }]),
                    true => Some(Vec::new()),
                    false => None,
                }
            }
            "write" | "pwrite64" => {
                let path = inside(path_of(arguments[0]));
                let length = path.as_ref().and_then(|path| self.disk.length(path)).unwrap_or(0);
                let offset = match self.open.get_mut(&number_of(arguments[0])) {
                    _ if name == "pwrite64" => arguments[3].parse().unwrap(),
                    Some(Some(position)) => {
                        *position += returned;
                        *position - returned
                    }
                    _ => length,
                };
                let mut bytes = bytes_of(arguments[1]);
                bytes.truncate(returned);
                Some(vec![Change::Write { path: path?, offset, bytes }])
            }
            "lseek" => {
                let position = self.open.get_mut(&number_of(arguments[0]))?.as_mut()?;
                *position = returned;
                None
            }
            "close" => {
                self.open.remove(&number_of(arguments[0]));
                None
            }
            "fsync" | "fdatasync" => Some(vec![Change::Sync { path: inside(path_of(arguments[0]))? }]),
            "ftruncate" => {
                let path = inside(path_of(arguments[0]))?;
                Some(vec![Change::Truncate { path, length: arguments[1].parse().unwrap() }])
            }
            "mkdir" => Some(vec![Change::CreateFolder { path: inside(Some(text_of(arguments[0])))? }]),
            "unlink" | "rmdir" => Some(vec![Change::Remove { path: inside(Some(text_of(arguments[0])))? }]),
            "unlinkat" => {
                let folder = path_of(arguments[0]).unwrap_or_default();
                Some(vec![Change::Remove { path: inside(Some(folder.join(text_of(arguments[1]))))? }])
            }
            "rename" | "renameat" | "renameat2" | "link" | "linkat" => {
                let paths: Vec<PathBuf> = arguments
                    .iter()
                    .filter(|argument| argument.starts_with('"'))
                    .map(|a| text_of(a))
                    .collect();
                let [from, to] = paths.try_into().expect("two paths");
                let (from, to) = (inside(Some(from)), inside(Some(to)));
                assert_eq!(from.is_some(), to.is_some(), "one of {from:?}, {to:?} is in the folder");
                let (from, to) = (from?, to?);
                let change = match name.starts_with("rename") {
                    true => Change::Rename { from, to },
                    false => Change::Link { from, to },
                };
                Some(vec![change])
            }
            "mmap" => {
                let is_written = arguments[2].contains("PROT_WRITE") && arguments[3].contains("MAP_SHARED");
                let path = inside(path_of(arguments[4]));
                assert!(!is_written || path.is_none(), "{path:?} is written through a mapping");
                None
            }
            _ => {
                let is_inside = arguments.iter().any(|argument| inside(path_of(argument)).is_some());
                assert!(!is_inside, "{name} is not simulated");
                None
            }
        }
    }

    /// Returns a path relative to the folder, if it is inside. Removed files have no path.
    fn inside(&self, path: PathBuf) -> Option<PathBuf> {
        let path = self.folder.join(path);
        let is_removed = path.to_string_lossy().ends_with("(deleted)");
        if is_removed { None } else { path.strip_prefix(&self.folder).ok().map(Path::to_owned) }
    }
}

/// Returns the number of a descriptor such as `3</tmp/x>`.
fn number_of(descriptor: &str) -> u32 {
    descriptor.split('<').next().unwrap().trim().parse().unwrap_or(u32::MAX)
}

/// Returns the path of a descriptor such as `3</tmp/x>`, with its bytes escaped; `None` for pipes.
fn path_of(descriptor: &str) -> Option<PathBuf> {
    let (_, path) = descriptor.split_once('<')?;
    let (path, rest) = path.rsplit_once('>')?;
    let path = String::from_utf8(unescaped(path)).ok().filter(|path| path.starts_with('/'))?;
    Some(PathBuf::from(if rest.contains("(deleted)") { path + " (deleted)" } else { path }))
}

/// Returns a path such as `"\x2f\x74"`.
fn text_of(argument: &str) -> PathBuf {
    String::from_utf8(bytes_of(argument)).unwrap().into()
}

fn bytes_of(argument: &str) -> Vec<u8> {
    unescaped(argument.trim_start_matches('"').trim_end_matches('"'))
}

/// Replaces `\xHH` by bytes.
fn unescaped(text: &str) -> Vec<u8> {
    let (text, mut bytes) = (text.as_bytes(), Vec::with_capacity(text.len() / 4));
    let mut at = 0;
    while at < text.len() {
        match text[at..].strip_prefix(b"\\x") {
            Some(digits) => {
                let digits = str::from_utf8(&digits[..2]).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                at += 4;
            }
            None => {
                bytes.push(text[at]);
                at += 1;
            }
        }
    }
    bytes
}
