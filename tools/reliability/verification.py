"""Measures which part of the start of a training is the check of its data against their hash.

    python tools/reliability/verification.py COMMAND FOLDER --rows 100000000 --out docs/results/reliability

Writes a dataset of ROWS rows to FOLDER, trains one update under `perf`, and counts the samples in
SHA-256. Needs 2 GB of memory and 4 GB of disk for 10^8 rows.
"""

import argparse
import json
import platform
import re
import subprocess
from pathlib import Path

import numpy as np


def write(path: Path, rows: int, command: str) -> None:
    """Random positions in episodes of 1,000 rows, converted to Arrow."""
    observations = np.random.default_rng(1).standard_normal((rows, 2), dtype=np.float32)
    terminals = np.zeros(rows, np.float32)
    terminals[999::1000] = 1
    archive = path.with_suffix(".npz")
    np.savez(archive, observations=observations, actions=observations, terminals=terminals)
    subprocess.run([command, "data", "convert", archive, "-o", path], check=True, capture_output=True)
    archive.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    data, samples = options.folder / "big.arrow", options.folder / "perf.data"
    if not data.exists():
        write(data, options.rows, options.command)
    seconds, shares = [], []
    for number in range(3):
        run = options.folder / f"run-{number}"
        train = [options.command, "train", "--data", data, "--size", "small", "--threads", "1", "--run", run]
        record = ["perf", "record", "-q", "-F", "199", "-o", samples]
        subprocess.run([*record, *train, "--steps", "1"], check=True, capture_output=True)
        report = ["perf", "report", "-i", samples, "--no-children", "--sort", "symbol", "--stdio"]
        lines = subprocess.run([*report, "-n"], check=True, capture_output=True, text=True).stdout
        rows = [(int(count), name) for count, name in re.findall(r"(?m)^ +[\d.]+% +(\d+) +\[.\] (.*)$", lines)]
        total = sum(int(count) for count in re.findall(r"(?m)^ +[\d.]+% +(\d+) ", lines))
        shares.append(sum(count for count, name in rows if "sha2" in name) / total)
        seconds.append(total / 199)
    results = {
        "version": subprocess.run([options.command, "--version"], check=True, capture_output=True, text=True).stdout.strip(),
        "platform": platform.platform(),
        "rows": options.rows,
        "bytes": data.stat().st_size,
        "seconds_of_processor_time": seconds,
        "share_of_hash": shares,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "verification.json").write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
