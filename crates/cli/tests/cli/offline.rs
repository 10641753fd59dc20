//! No command opens a socket: no telemetry, no account, no network.

use crate::{
    run::{commands, isochrone_in, subcommands, workspace},
    score_data::write_shards,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
    process::Command,
    thread,
};

/// Every command, in an order in which each finds what it needs.
const COMMANDS: &[&str] = &[
    "completions bash",
    "man -o man",
    "exact map.txt --slip 0.1 --plot map.svg",
    "data inspect walks.csv --observations x,y",
    "data validate walks.csv --observations x,y",
    "data convert walks.csv --observations x,y --actions action_x,action_y -o walks.arrow",
    "progress walks.csv --observations x,y -o progress.parquet",
    "doctor walks.csv --observations x,y --html doctor.html",
    "gaps walks.csv --observations x,y",
    "envs list",
    "envs generate nav2d --episodes 40 -o nav2d.npz",
    "train --data nav2d.npz --size small --steps 20 --run runs/nav2d",
    "train --resume runs/nav2d",
    "runs runs",
    "distance runs/nav2d --from 0,0 --to 1,0",
    "distill runs/nav2d --updates 20",
    "distill runs/nav2d --policy --updates 5 --random-goals 8 --starts-per-goal 4",
    "distill runs/nav2d --waypoints --updates 5 --random-goals 8 --starts-per-goal 4",
    "export runs/nav2d -o nav2d.onnx",
    "explore runs/nav2d -o nav2d.html",
    "score logs scored --run runs/nav2d --to 0,0",
    "graph landmarks logs -o landmarks.json",
    "graph part logs landmarks.json -o part.parquet",
    "graph merge part.parquet -o graph.parquet",
    "audit runs/nav2d",
    "nearest runs/nav2d --to @0:5",
    "plan runs/nav2d --from @0:0 --to @0:5",
    "eval runs/nav2d --env nav2d --episodes 2",
    "plot map runs/nav2d --to @0:5 -o map.svg",
    "plot curves runs/nav2d -o curves.svg",
    "plot calibration runs/nav2d -o calibration.svg",
    "plot report runs/nav2d -o report.html",
    "reproduce mine.toml -o mine",
    "reproduce merge mine -o merged",
    "reproduce distances --methods euclidean --environments grid-0 -o distances",
    "reproduce episode-leak --methods crl-cpc --updates 20 -o leak",
];

/// Kills this thread and the processes it starts as soon as they create a socket.
fn forbid_sockets() {
    let socket = [(libc_socket(), Vec::new())].into_iter().collect();
    let arch = std::env::consts::ARCH.try_into().expect("the filter knows this processor");
    let filter = SeccompFilter::new(socket, SeccompAction::Allow, SeccompAction::KillProcess, arch).unwrap();
    seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

/// Returns the number of the system call `socket`.
fn libc_socket() -> i64 {
    match std::env::consts::ARCH {
        "x86_64" => 41,
        "aarch64" | "riscv64" => 198,
        other => panic!("the number of `socket` on {other} is not known"),
    }
}

/// Returns the commands that do something, such as `data inspect`. Built-in studies are left out:
/// they are recipes, as the one that is run.
fn leaves() -> BTreeSet<String> {
    let recipes = workspace().join("studies/recipes");
    let is_recipe = |command: &str| {
        let study = command.strip_prefix("reproduce ");
        study.is_some_and(|name| recipes.join(format!("{name}.toml")).exists())
    };
    let commands = commands().into_iter();
    let leaves = commands.filter(|(command, help)| subcommands(help).is_empty() && !is_recipe(command));
    leaves.map(|(command, _)| command).collect()
}

/// Creates what the commands need.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let examples = workspace().join("examples");
    std::fs::copy(examples.join("walks.csv"), folder.path().join("walks.csv")).unwrap();
    write_shards(&folder.path().join("logs"), "obs_", 1000);
    std::fs::write(folder.path().join("map.txt"), "S..\n.#G\n").unwrap();
    let recipe = "title = 'Mine'\nsummary = 'mine'\nseeds = 1\ndata_seed = 1\ndata_share = 0.02\nsteps = 10\n\
        evaluation = { episodes = 2, task_seed = 1 }\ndatasets = { nav2d = {} }\nmethods = { gcbc = {} }\n\
        [report]\nfigures = ['success']\n";
    std::fs::write(folder.path().join("mine.toml"), recipe).unwrap();
    folder
}

#[test]
fn no_command_opens_a_socket() {
    let folder = prepared();
    let mut missing = leaves();
    assert!(missing.contains("train") && missing.contains("data inspect"), "{missing:?}");
    thread::scope(|scope| {
        scope.spawn(|| {
            forbid_sockets();
            for command in COMMANDS {
                let outcome = isochrone_in(folder.path(), command);
                assert_eq!(outcome.code, Some(0), "isochrone {command}: {}", outcome.stderr);
                missing.retain(|leaf| !command.starts_with(leaf.as_str()));
            }
        });
    });
    assert!(missing.is_empty(), "commands that were not run without sockets: {missing:?}");
}

/// Places of the system, which a program may read: libraries, locale, time zone, processors.
const SYSTEM: [&str; 8] = ["/lib", "/lib64", "/usr", "/etc", "/proc", "/sys", "/dev", "/run"];

/// Resolves `.` and `..` without looking at the disk.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
}

/// No command reads a file outside its arguments, its run and the system, such as a configuration
/// in the home folder or in a folder above; and none writes outside its arguments and its run.
#[test]
fn no_command_opens_files_of_others() {
    let folder = prepared();
    let inside = folder.path().canonicalize().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_isochrone"));
    // Libraries of the build: those of the program, and MuJoCo.
    let built = [program.parent().unwrap().to_owned(), workspace().join(".mujoco")];
    let mut n_opened = 0;
    for command in COMMANDS {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let mut traced = Command::new("strace");
        traced.args([
            "-f",
            "-qq",
            "-y",
            "--seccomp-bpf",
            "-e",
            "trace=open,openat,creat,execve,socket,connect,bind,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,truncate",
            "-o",
        ]);
        // Where `cargo` looks for libraries is not what users have.
        traced.env("LD_LIBRARY_PATH", workspace().join(".mujoco"));
        traced.arg(trace.path()).arg(program).args(command.split_whitespace()).current_dir(&inside);
        let output = traced.output().expect("strace is installed; hint: apt-get install strace");
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(trace.path()).unwrap();
        // A thread that ends with its process, in a call that is not known anymore.
        let is_detached = |line: &&str| line.ends_with("???( <detached ...>");
        for call in text.lines().filter(|line| !is_detached(line)) {
            let name = call.split_once(' ').unwrap().1.trim_start().split('(').next().unwrap();
            let is_open = ["open", "openat", "creat", "execve"].contains(&name);
            let is_socket = ["socket", "connect", "bind"].contains(&name);
            assert!(!is_socket, "{command}: {call}");
            // A call may be in two lines, of which the second has no path.
            let parts: Vec<&str> = call.split('"').collect();
            for at in (1..parts.len()).step_by(2).take(if is_open { 1 } else { 2 }) {
                // Relative to a folder that is open, whose path the trace has, or to that of work.
                let base = parts[at - 1].rsplit_once('<').and_then(|(_, base)| base.split_once('>'));
                let base = base.map_or(inside.as_path(), |(base, _)| Path::new(base));
                let path = normalized(&base.join(parts[at]));
                let is_ours = path.starts_with(&inside);
                let is_written = !is_open
                    || call.contains("O_WRONLY")
                    || call.contains("O_RDWR")
                    || call.contains("O_CREAT");
                let is_read = built.iter().any(|folder| path.starts_with(folder))
                    || SYSTEM.iter().any(|folder| path.starts_with(folder));
                let is_device = path.starts_with("/dev") || path.starts_with("/proc/self");
                let is_allowed = is_ours || if is_written { is_device } else { is_read };
                assert!(is_allowed, "{command}: {call}");
                // What configures a library is not read from the working folder either (H1).
                let is_configuration = path.parent() == Some(&inside) && path.ends_with("burn.toml");
                assert!(!is_configuration, "{command}: {call}");
                n_opened += usize::from(is_ours && is_open);
            }
        }
    }
    assert!(n_opened > 100, "the trace has the files of the commands: {n_opened}");
}

/// The first test would not notice a filter that filters nothing.
#[test]
fn the_filter_kills_a_program_that_opens_a_socket() {
    let status = thread::spawn(|| {
        forbid_sockets();
        Command::new("python3").args(["-c", "import socket; socket.socket()"]).status()
    });
    match status.join().unwrap() {
        Ok(status) => assert!(!status.success() && status.code().is_none(), "{status}"),
        Err(error) => eprintln!("not checked: python3 cannot be started: {error}"),
    }
}
