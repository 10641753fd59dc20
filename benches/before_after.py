"""Update times of every algorithm with two versions of the command, in alternation.

    python benches/before_after.py BEFORE AFTER OUTPUT

BEFORE and AFTER are `isochrone` programs; OUTPUT is a folder for results.json and README.md. A time is
the difference of a long and a short run divided by the difference of their updates, so that starting
and loading do not count; the minimum of several rounds, in which both versions take turns.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ALGORITHMS = ["cmd1", "cmd2", "crl-nce", "crl-cpc", "qrl", "gcbc", "gciql", "ddpg"]
# Updates of the short and the long run.
SIZES = {"small": (200, 1200), "standard": (30, 150), "paper": (6, 24)}
ROUNDS = 2
OBSERVATION, ACTION, EPISODES, LENGTH = 29, 8, 50, 501


def write_dataset(path):
    """Writes random numbers in the layout of OGBench: only sizes matter here."""
    rng = np.random.default_rng(1)
    rows = EPISODES * LENGTH
    terminals = np.zeros(rows, np.float32)
    terminals[LENGTH - 1 :: LENGTH] = 1
    np.savez(
        path,
        observations=rng.uniform(-1, 1, (rows, OBSERVATION)).astype(np.float32),
        actions=rng.uniform(-1, 1, (rows, ACTION)).astype(np.float32),
        terminals=terminals,
    )


def seconds(program, data, algorithm, size, updates, folder):
    run = Path(folder) / f"{algorithm}-{size}-{updates}-{time.time_ns()}"
    command = [program, "train", "--data", data, "-a", algorithm, "--size", size, "--steps", str(updates)]
    command += ["--run", run, "metrics.evaluate_every=0", "batch_size=256", "data.hold_out=0"]
    start = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - start


def measure(programs, data, folder, sizes):
    """Returns milliseconds per update by size, algorithm and version."""
    found = {}
    for size in sizes:
        short, long = SIZES[size]
        for algorithm in ALGORITHMS:
            times = {version: [] for version in programs}
            for _ in range(ROUNDS):
                for version, program in programs.items():
                    difference = seconds(program, data, algorithm, size, long, folder)
                    difference -= seconds(program, data, algorithm, size, short, folder)
                    times[version].append(1e3 * difference / (long - short))
            found.setdefault(size, {})[algorithm] = {version: min(values) for version, values in times.items()}
            print(size, algorithm, found[size][algorithm], file=sys.stderr, flush=True)
    return found


def version_of(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def page(results):
    lines = ["# Updates before and after", ""]
    lines += ["Made by `benches/before_after.py` with the programs of two revisions in alternation."]
    lines += ["Milliseconds per update of the complete trainer, batch 256, observations 29, actions 8, random data."]
    lines += [f"Machine: {results['machine']['processor']}, {results['machine']['threads']} threads."]
    for size, algorithms in results["milliseconds"].items():
        lines += ["", f"## {size}", "", "| algorithm | before | after | times faster |", "|---|---|---|---|"]
        for algorithm, times in algorithms.items():
            before, after = times["before"], times["after"]
            lines.append(f"| {algorithm} | {before:.2f} | {after:.2f} | {before / after:.2f} |")
        ratio = algorithms["qrl"]["after"] / algorithms["cmd1"]["after"]
        lines += ["", f"A QRL update takes {ratio:.2f} times a CMD-1 update."]
    return "\n".join(lines) + "\n"


def main():
    before, after, output = sys.argv[1:4]
    sizes = sys.argv[4].split(",") if len(sys.argv) > 4 else list(SIZES)
    programs = {"before": before, "after": after}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "noise.npz"
        write_dataset(data)
        results = {
            "seed": 1,
            "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
            "versions": {name: version_of(program) for name, program in programs.items()},
            "machine": {"processor": processor(), "threads": os.cpu_count(), "system": platform.platform()},
            "rounds": ROUNDS,
            "milliseconds": measure(programs, data, folder, sizes),
        }
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "README.md").write_text(page(results))
    print(page(results))


if __name__ == "__main__":
    main()
