//! Jobs of `mpirun`.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Arguments that train on the dataset of [`walks`] in the run of [`run_folder`].
pub const TRAIN: &str = "train --data walks.csv --observations x,y --size small --threads 1 --run r";
/// Settings of fast updates and many checkpoints.
pub const SETTINGS: &str = "batch_size=16 data.rows_per_episode=1 metrics.every=1 metrics.evaluate_every=5 checkpoints.every=3 learner.critic.width=8 learner.policy.width=8";
/// No job takes longer unless a process waits for another that has ended.
const PATIENCE: Duration = Duration::from_secs(90);

/// Returns a folder with a dataset.
pub fn walks() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    std::fs::copy(workspace.join("examples/walks.csv"), folder.path().join("walks.csv")).unwrap();
    folder
}

pub fn run_folder(folder: &Path) -> PathBuf {
    folder.join("r")
}

/// Returns the command without a launcher.
pub fn isochrone(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Processes of a job with the same command.
pub struct Rank<'a> {
    count: usize,
    command: Vec<String>,
    /// Their working directory, if it differs from that of the job.
    folder: Option<&'a Path>,
}

impl<'a> Rank<'a> {
    pub fn new(count: usize, arguments: &str) -> Self {
        let program = std::iter::once(env!("CARGO_BIN_EXE_isochrone"));
        let command = program.chain(arguments.split_whitespace()).map(str::to_owned).collect();
        Self { count, command, folder: None }
    }

    pub fn in_folder(self, folder: &'a Path) -> Self {
        Self { folder: Some(folder), ..self }
    }

    pub fn shell(count: usize, script: &str) -> Self {
        Self { count, command: ["sh", "-c", script].map(str::to_owned).to_vec(), folder: None }
    }
}

/// A running job.
pub struct Job(Child);

/// The exit code and the messages of a job.
pub struct Outcome {
    pub code: Option<i32>,
    pub stderr: String,
}

/// Starts a job.
pub fn mpirun(folder: &Path, ranks: &[Rank]) -> Job {
    Job(command(folder, ranks).spawn().unwrap())
}

/// Starts a job whose processes have 10 s to end after SIGTERM. The default of a second may not be
/// enough for a checkpoint on a loaded machine, but `mpirun` always waits that long.
pub fn patient_mpirun(folder: &Path, ranks: &[Rank]) -> Job {
    let mut command = command(folder, ranks);
    Job(command.env("OMPI_MCA_odls_base_sigkill_timeout", "10").spawn().unwrap())
}

fn command(folder: &Path, ranks: &[Rank]) -> Command {
    let mut command = Command::new("mpirun");
    // Tests run as root in containers, with fewer cores than processes.
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("OMPI_MCA_btl", "self,vader,tcp"),
    ] {
        command.env(name, value);
    }
    for (index, rank) in ranks.iter().enumerate() {
        if index > 0 {
            command.arg(":");
        }
        command.args(["-np", &rank.count.to_string()]);
        if let Some(folder) = rank.folder {
            command.arg("-wdir").arg(folder);
        }
        command.args(&rank.command);
    }
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Job {
    /// Kills one of the processes; returns whether it was still running.
    pub fn kill_rank(&mut self, rank: usize) -> bool {
        let children =
            Command::new("pgrep").args(["-P", &self.0.id().to_string(), "isochrone"]).output().unwrap();
        let children = String::from_utf8(children.stdout).unwrap();
        match children.split_whitespace().nth(rank) {
            Some(process) => Command::new("kill").args(["-KILL", process]).status().unwrap().success(),
            None => {
                // Before the processes are started: kill the launcher.
                let is_running = self.0.try_wait().unwrap().is_none();
                self.0.kill().unwrap();
                is_running
            }
        }
    }

    pub fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap().success());
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// If the job does not end.
    pub fn finish(self) -> Outcome {
        self.finish_or_kill().unwrap_or_else(|messages| panic!("the job does not end: {messages}"))
    }

    /// Waits for the end. A job that does not end is killed, and its messages are returned.
    pub fn finish_or_kill(mut self) -> Result<Outcome, String> {
        let mut stderr = self.0.stderr.take().unwrap();
        let messages = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = std::io::Read::read_to_string(&mut stderr, &mut text);
            text
        });
        let start = Instant::now();
        let status = loop {
            match self.0.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() > PATIENCE => {
                    let children = self.0.id().to_string();
                    let _ = Command::new("pkill").args(["-KILL", "-P", &children]).status();
                    let _ = self.0.kill();
                    let _ = self.0.wait();
                    return Err(messages.join().unwrap());
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        Ok(Outcome { code: status.code(), stderr: messages.join().unwrap() })
    }
}
