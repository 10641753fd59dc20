//! The result page.

use crate::{
    BATCH,
    measure::Measured,
    model::{Compute, Job, Link},
};
use isochrone_learn::run::Provenance;
use serde_json::json;
use std::{fmt::Write as _, fs, path::Path};

/// Links that were not measured here.
const ASSUMED: [(&str, Link); 2] = [
    ("10 Gb Ethernet", Link { latency: 30e-6, bandwidth: 1.1e9 }),
    ("100 Gb InfiniBand", Link { latency: 3e-6, bandwidth: 11e9 }),
];

/// The git revision of the clone, with `+` if files were modified.
fn revision() -> Option<String> {
    let mut git = std::process::Command::new("git");
    let output =
        git.args(["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

pub fn write_single(folder: &Path, points: [(f64, f64); 3]) {
    fs::write(folder.join("single.json"), json!(points).to_string()).expect("writable");
    println!("one process: {points:?}");
}

pub fn read_single(folder: &Path) -> [(f64, f64); 3] {
    let text = fs::read_to_string(folder.join("single.json")).expect("run it on one process first");
    serde_json::from_str(&text).expect("written by this program")
}

pub fn write(
    folder: &Path,
    points: [(f64, f64); 3],
    compute: Compute,
    link: Link,
    job: &Job,
    measured: &Measured,
) {
    let Provenance { isochrone, platform, .. } = Provenance::now();
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        text.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(": ")?.1.to_owned()))
    });
    let single = points[2].1;
    let predicted = compute.seconds(job) + job.communication(link);
    let communication: f64 = measured.traffic.iter().map(|traffic| traffic.time.as_secs_f64()).sum::<f64>()
        / measured.updates as f64;
    let traffic: Vec<_> = measured
        .traffic
        .iter()
        .map(|traffic| {
            let predicted = job.messages().into_iter().find(|messages| messages.purpose == traffic.purpose);
            json!({
                "purpose": traffic.purpose,
                "milliseconds": traffic.time.as_secs_f64() * 1e3 / measured.updates as f64,
                "calls": traffic.calls as f64 / measured.updates as f64,
                "bytes": traffic.bytes as f64 / measured.updates as f64,
                "predicted_bytes": predicted.map(|messages| messages.bytes),
            })
        })
        .collect();
    let results = json!({
        "command": "just bench-mpi", "seed": 1, "data": "random numbers, 29 observations and 8 actions",
        "isochrone": isochrone, "git_revision": revision(), "platform": platform, "processor": processor,
        "algorithm": "cmd1", "size": "paper", "batch": BATCH, "processes": job.processes, "threads_per_process": 1,
        "one_process": points.map(|(batch, seconds)| json!({ "batch": batch, "milliseconds": seconds * 1e3 })),
        "compute": compute, "link": link, "updates": measured.updates,
        "milliseconds": measured.seconds * 1e3, "communication_milliseconds": communication * 1e3,
        "predicted_milliseconds": predicted * 1e3, "bytes_per_update": job.bytes(),
        "prediction_error": predicted / measured.seconds - 1.0, "speedup": single / measured.seconds, "traffic": traffic,
    });
    fs::write(folder.join("results.json"), format!("{results:#}\n")).expect("writable");
    let mut page = String::new();
    let _ = write!(
        page,
        "# Data-parallel training\n\n\
         One update of CMD-1 with the networks of the paper, a batch of {BATCH} rows of all processes, one thread per process, on one machine ({}).\n\
         Made by `just bench-mpi`; the numbers are in `results.json`.\n\n\
         | processes | ms per update | of it communication | predicted | error of the prediction | sent per process |\n|---|---|---|---|---|---|\n\
         | 1 | {:.1} | 0 | | | 0 |\n| {} | {:.1} | {:.1} ms | {:.1} ms | {:+.0} % | {:.2} MB |\n\n\
         Communication includes waiting for the slower process.\n\n\
         | purpose | ms per update | bytes per process and update | predicted bytes |\n|---|---|---|---|\n",
        processor.as_deref().unwrap_or("unknown processor"),
        single * 1e3,
        job.processes,
        measured.seconds * 1e3,
        communication * 1e3,
        predicted * 1e3,
        100.0 * (predicted / measured.seconds - 1.0),
        job.bytes() as f64 / 1e6,
    );
    for row in &traffic {
        let _ = writeln!(
            page,
            "| {} | {:.2} | {:.0} | {} |",
            row["purpose"].as_str().unwrap_or(""),
            row["milliseconds"].as_f64().unwrap_or(0.0),
            row["bytes"].as_f64().unwrap_or(0.0),
            row["predicted_bytes"]
        );
    }
    let _ = write!(
        page,
        "\n## Model\n\nAn update takes {:.1} ms, {:.3} ms per row of the process and {:.0} ns per pair, plus the messages: {:.0} µs each and {:.2} GB/s between processes of this machine.\n\n\
         The tables below use the measured compute and **assumed** networks ({}); nothing beyond one machine was measured.\n",
        compute.fixed * 1e3,
        compute.per_row * 1e3,
        compute.per_pair * 1e9,
        link.latency * 1e6,
        link.bandwidth / 1e9,
        ASSUMED
            .map(|(name, link)| format!(
                "{name}: {:.0} µs, {:.1} GB/s",
                link.latency * 1e6,
                link.bandwidth / 1e9
            ))
            .join("; "),
    );
    plans(&mut page, compute, job);
    fs::write(folder.join("README.md"), page).expect("writable");
    println!("{results:#}");
}

fn plans(page: &mut String, compute: Compute, job: &Job) {
    let strong: Vec<Job> =
        [1, 8, 16, 64].map(|n| Job { processes: n, rows: BATCH / n, group: n, ..*job }).to_vec();
    let all: Vec<Job> =
        [1, 8, 64, 256, 1024].map(|n| Job { processes: n, rows: 256, group: n, ..*job }).to_vec();
    let groups: Vec<Job> =
        [8, 64, 256, 1024].map(|n| Job { processes: n, rows: 256, group: 8, ..*job }).to_vec();
    for (title, jobs) in [
        ("A fixed batch of 1024 rows", strong),
        ("256 rows per process, negatives from all processes", all),
        ("256 rows per process, negatives from groups of 8 (`--negatives group:8`)", groups),
    ] {
        let _ = write!(
            page,
            "\n### {title}\n\n| processes | batch | compute (ms) | {} |\n|---|---|---|---|---|\n",
            ASSUMED.map(|(name, _)| format!("{name}: ms per update, rows/s")).join(" | ")
        );
        for job in jobs {
            let seconds = compute.seconds(&job);
            let cells = ASSUMED.map(|(_, link)| {
                let step = seconds + job.communication(link);
                format!("{:.0}, {:.0}", step * 1e3, (job.rows * job.processes) as f64 / step)
            });
            let _ = writeln!(
                page,
                "| {} | {} | {:.0} | {} |",
                job.processes,
                job.rows * job.processes,
                seconds * 1e3,
                cells.join(" | ")
            );
        }
    }
}
