//! Commands that write, and how each is continued after a crash.

use crate::{
    disk::{Disk, Tree},
    journal::Call,
};
use isochrone::data::tables::{Column, write_parquet};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A command that writes.
#[derive(Debug)]
pub struct Scenario {
    pub name: &'static str,
    /// Commands that were run before it, undisturbed.
    pub before: &'static [&'static str],
    pub command: &'static str,
    /// What is run after a crash.
    pub recovery: Recovery,
}

/// How a command is continued.
#[derive(Debug, Clone, Copy)]
pub enum Recovery {
    /// It is run again.
    Again,
    /// It is run again if its output is missing; an output that is there is complete.
    IfMissing(&'static str),
    /// It is run again if there is no run, and resumed with another command otherwise.
    Resume(&'static str),
}

const TRAIN: &str = "train --data walks.csv --observations x,y --size small --threads 1 --run r steps=6 batch_size=16 metrics.every=1 metrics.evaluate_every=3 checkpoints.every=2 checkpoints.keep_last=2 learner.critic.width=8 learner.critic.latent=16 learner.policy.width=8";
const RESUME: &str = "train --resume r --threads 1";
const LANDMARKS: &str =
    "graph landmarks logs --observations x,y --landmarks 20 -o landmarks.json --threads 1";
const PART: &str = "graph part logs landmarks.json -o part.parquet --threads 1";

/// Settings of [`TRAIN`] for two processes.
const TRAIN_TOGETHER: &str = "mpirun train --data walks.csv --observations x,y --size small --threads 1 --run r steps=6 batch_size=16 data.rows_per_episode=1 metrics.every=1 metrics.evaluate_every=3 checkpoints.every=2 checkpoints.keep_last=2 learner.critic.width=8 learner.critic.latent=16 learner.policy.width=8";

/// Commands of every kind that writes files. Those of Python need `ISOCHRONE_PYTHON`, an
/// interpreter with the package; those of `mpirun` need the feature `mpi`.
const SCENARIOS: &[Scenario] = &[
    Scenario { name: "train", before: &[], command: TRAIN, recovery: Recovery::Resume(RESUME) },
    Scenario {
        name: "resume",
        // As if training had ended after step 4.
        before: &[TRAIN, "remove r/checkpoints/step-000000000006"],
        command: RESUME,
        recovery: Recovery::Resume(RESUME),
    },
    Scenario {
        name: "convert-arrow",
        before: &[],
        command: "data convert walks.csv --observations x,y -o out.arrow",
        recovery: Recovery::IfMissing("out.arrow"),
    },
    Scenario {
        name: "convert-npz",
        before: &[],
        command: "data convert walks.csv --observations x,y --actions action_x,action_y -o out.npz",
        recovery: Recovery::IfMissing("out.npz"),
    },
    Scenario {
        name: "convert-minari",
        before: &[],
        command: "data convert walks.csv --observations x,y --actions action_x,action_y -o out",
        recovery: Recovery::IfMissing("out"),
    },
    Scenario {
        name: "convert-shards",
        before: &[],
        command: "data convert walks.csv --observations x,y --shard-rows 1000 -o out",
        recovery: Recovery::IfMissing("out"),
    },
    Scenario {
        name: "generate",
        before: &[],
        command: "envs generate nav2d --episodes 10 -o out.npz",
        recovery: Recovery::IfMissing("out.npz"),
    },
    Scenario {
        name: "score",
        before: &[TRAIN],
        command: "score logs out --run r --to last --distance learned --threads 1",
        recovery: Recovery::Again,
    },
    Scenario {
        name: "progress",
        before: &[],
        command: "progress walks.csv --observations x,y --threads 1 -o out.parquet",
        recovery: Recovery::IfMissing("out.parquet"),
    },
    Scenario {
        name: "progress-lerobot",
        before: &[],
        command: "progress arm --lerobot --threads 1",
        recovery: Recovery::IfMissing("arm/sarm_progress.parquet"),
    },
    Scenario {
        name: "distill",
        before: &[TRAIN],
        command: "distill r --updates 20 --threads 1",
        recovery: Recovery::Again,
    },
    Scenario {
        name: "query",
        before: &[TRAIN],
        command: "distance r --from 0,0 --to 1,1 --threads 1",
        recovery: Recovery::Again,
    },
    Scenario {
        name: "figure",
        before: &[],
        command: "exact map.txt --plot out.svg",
        recovery: Recovery::IfMissing("out.svg"),
    },
    Scenario {
        name: "explore",
        before: &[TRAIN, "distance r --from 0,0 --to 1,1 --threads 1"],
        command: "explore r -o out.html",
        recovery: Recovery::IfMissing("out.html"),
    },
    Scenario {
        name: "export",
        before: &[TRAIN],
        command: "export r -o out.onnx",
        recovery: Recovery::IfMissing("out.onnx"),
    },
    Scenario {
        name: "distill-policy",
        before: &[TRAIN],
        command: "distill r --policy --updates 5 --random-goals 8 --starts-per-goal 4 --threads 1",
        recovery: Recovery::Again,
    },
    Scenario {
        name: "distill-waypoints",
        before: &[TRAIN],
        command: "distill r --waypoints --updates 5 --random-goals 8 --starts-per-goal 4 --threads 1",
        recovery: Recovery::Again,
    },
    Scenario {
        name: "doctor",
        before: &[],
        command: "doctor arm --html out.html --threads 1",
        recovery: Recovery::IfMissing("out.html"),
    },
    Scenario {
        name: "graph-landmarks",
        before: &[],
        command: LANDMARKS,
        recovery: Recovery::IfMissing("landmarks.json"),
    },
    Scenario { name: "graph-part", before: &[LANDMARKS], command: PART, recovery: Recovery::Again },
    Scenario {
        name: "graph-merge",
        before: &[LANDMARKS, PART],
        command: "graph merge part.parquet -o out.parquet --threads 1",
        recovery: Recovery::IfMissing("out.parquet"),
    },
    Scenario {
        name: "study",
        before: &[],
        command: "--threads 1 reproduce mine.toml -o mine",
        recovery: Recovery::Again,
    },
    Scenario {
        name: "python",
        before: &[],
        command: "python train.py",
        recovery: Recovery::Resume("python resume.py"),
    },
    Scenario {
        name: "mpi",
        before: &[],
        command: TRAIN_TOGETHER,
        recovery: Recovery::Resume("mpirun train --resume r --threads 1"),
    },
];

/// Starts two processes, of which the first owns the run: with fewer cores than processes, and as
/// root in containers.
const LAUNCHER: &str = "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader,tcp mpirun";

/// Trains from Python on a dataset in memory, which is written to the run.
const PYTHON_TRAIN: &str = r#"import isochrone
settings = {"metrics.every": 1, "checkpoints.every": 2, "checkpoints.keep_last": 2}
widths = {"critic.width": 8, "critic.latent": 16, "policy.width": 8}
data = isochrone.collect("nav2d", 5)
isochrone.train(
    data, run="r", size="small", steps=6, batch_size=16, threads=1, progress=False, settings=settings | widths
)
"#;
const PYTHON_RESUME: &str = "import isochrone\nisochrone.resume('r', threads=1, progress=False)\n";

/// Returns all commands that can be run here, or those whose names are in `ISOCHRONE_FAULTS_OF`.
pub fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    let has_python = std::env::var_os("ISOCHRONE_PYTHON").is_some();
    let names = std::env::var("ISOCHRONE_FAULTS_OF").unwrap_or_default();
    let is_wanted = move |name: &str| names.is_empty() || names.split(',').any(|wanted| wanted == name);
    let can_run = move |scenario: &Scenario| {
        (has_python || !scenario.is_python()) && (cfg!(feature = "mpi") || !scenario.is_launched())
    };
    SCENARIOS.iter().filter(move |scenario| is_wanted(scenario.name) && can_run(scenario))
}

/// Returns a command by its name.
pub fn scenario(name: &str) -> &'static Scenario {
    SCENARIOS.iter().find(|scenario| scenario.name == name).expect("the name of a command")
}

impl Scenario {
    /// Creates what the command needs in an empty folder.
    pub fn prepare(&self, folder: &Path) {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        fs::copy(examples.join("walks.csv"), folder.join("walks.csv")).unwrap();
        fs::write(folder.join("map.txt"), "S..\n.#G\n").unwrap();
        // A point maze is faster: nav2d is solved exactly for its report.
        let (dataset, share) =
            if cfg!(feature = "mujoco") { ("pointmaze-medium-navigate", 0.003) } else { ("nav2d", 0.02) };
        let recipe = format!(
            "title = 'Mine'\nsummary = 'mine'\nseeds = 1\ndata_seed = 1\ndata_share = {share}\nsteps = 4\n\
            evaluation = {{ episodes = 1, task_seed = 1 }}\ndatasets = {{ {dataset} = {{}} }}\n\
            methods = {{ gcbc = {{}} }}\n[report]\nfigures = ['success']\n"
        );
        fs::write(folder.join("mine.toml"), recipe).unwrap();
        fs::write(folder.join("train.py"), PYTHON_TRAIN).unwrap();
        fs::write(folder.join("resume.py"), PYTHON_RESUME).unwrap();
        fs::create_dir(folder.join("arm")).unwrap();
        Disk::read(&examples.join("../crates/data/tests/fixtures/lerobot")).write(&folder.join("arm"));
        fs::create_dir(folder.join("logs")).unwrap();
        for shard in 0..3 {
            let column =
                |scale: f64| Column::Numbers((0..200).map(|row| scale * f64::from(row % 40)).collect());
            let columns = [
                ("episode", Column::Numbers((0..200).map(|row| f64::from(row / 40)).collect())),
                ("x", column(0.1)),
                ("y", column(0.2)),
            ];
            write_parquet(&folder.join(format!("logs/{shard}.parquet")), &columns).unwrap();
        }
        for command in self.before {
            match command.strip_prefix("remove ") {
                Some(path) => fs::remove_dir_all(folder.join(path)).unwrap(),
                None => {
                    let done = run(folder, command);
                    assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
                }
            }
        }
    }

    fn is_python(&self) -> bool {
        self.command.starts_with("python ")
    }

    /// Whether several processes run the command.
    pub fn is_launched(&self) -> bool {
        self.command.starts_with("mpirun ")
    }

    /// Returns the program and its arguments.
    pub fn arguments(&self) -> Vec<String> {
        words(self.command)
    }

    /// Whether the command reported a failed call and ended.
    pub fn has_reported(&self, output: &Output, call: &Call) -> bool {
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            // The call of a number may be one of Python itself, while it imports modules.
            Some(1) if self.is_python() => ["OSError", "No space left on device", "Input/output error"]
                .iter()
                .any(|error| stderr.contains(error)),
            // Calls are counted by thread: the write of the message may have the same number.
            Some(2) if call.name == "write" && "error:".starts_with(stderr.trim()) => true,
            Some(2) => stderr.lines().last().is_some_and(|line| line.contains("hint:")),
            _ => false,
        }
    }

    /// Continues after a crash as a user would, and returns what went wrong.
    pub fn recover(&self, folder: &Path) -> Result<(), String> {
        let command = match self.recovery {
            Recovery::IfMissing(output) if folder.join(output).exists() => return Ok(()),
            Recovery::Resume(resume) if folder.join("r/config.toml").exists() => resume,
            _ => self.command,
        };
        let output = run(folder, command);
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("`{command}` fails: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }
}

/// Runs `isochrone`, several of them, or Python, with arguments separated by spaces.
pub fn run(folder: &Path, arguments: &str) -> Output {
    let words = words(arguments);
    Command::new(&words[0]).args(&words[1..]).current_dir(folder).output().unwrap()
}

/// Returns a program and its arguments.
fn words(arguments: &str) -> Vec<String> {
    if let Some(arguments) = arguments.strip_prefix("mpirun ") {
        let process = format!("-np 1 {} {arguments}", env!("CARGO_BIN_EXE_isochrone"));
        let job = format!("{LAUNCHER} {process} : {process}");
        return job.split_whitespace().map(str::to_owned).collect();
    }
    let (program, arguments) = match arguments.strip_prefix("python ") {
        Some(rest) => (std::env::var("ISOCHRONE_PYTHON").unwrap(), rest),
        None => (env!("CARGO_BIN_EXE_isochrone").to_owned(), arguments),
    };
    std::iter::once(program).chain(arguments.split_whitespace().map(str::to_owned)).collect()
}

/// Returns the files of a folder without what differs between two undisturbed processes: times, the
/// list of processes, and event files, whose names have a time. Reports have times among their
/// numbers, which are those of `results.json`.
pub fn lasting_contents(folder: &Path) -> Tree {
    let is_lasting = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        !(name.contains("tfevents") || ["sessions.jsonl", "SHA256SUMS", "lock"].contains(&&*name))
    };
    let tree = Disk::read(folder).tree().into_iter();
    tree.filter(|(path, _)| is_lasting(path))
        .map(|(path, bytes)| {
            let is_json =
                path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
            let is_report = path.file_stem().is_some_and(|stem| stem == "report");
            let bytes = bytes.map(|mut bytes| {
                if is_report {
                    bytes.retain(|byte| !byte.is_ascii_digit());
                }
                if is_json { without_times(&bytes) } else { bytes }
            });
            (path, bytes)
        })
        .collect()
}

/// Names of JSON fields with times, or with hashes of files that have times.
const TIMES: [&str; 4] = ["seconds", "distilled_seconds", "started_at", "manifest_sha256"];

/// Removes times from JSON values that follow each other.
fn without_times(bytes: &[u8]) -> Vec<u8> {
    fn clean(value: &mut Value) {
        match value {
            Value::Object(entries) => {
                entries.retain(|name, _| !TIMES.iter().any(|time| name.contains(time)));
                entries.values_mut().for_each(clean);
            }
            Value::Array(values) => values.iter_mut().for_each(clean),
            _ => {}
        }
    }
    let values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let lines = values.map(|value| {
        let mut value = value.expect("a recovered file is valid");
        clean(&mut value);
        format!("{value}\n")
    });
    lines.collect::<String>().into_bytes()
}
