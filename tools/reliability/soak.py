"""Trains, queries and scores for hours, and records memory and file descriptors.

    python tools/reliability/soak.py COMMAND FOLDER --minutes 120 --out docs/results/reliability

One process trains without end; this process answers queries through the Python package, fits small
models and plans; the command scores the same logs again and again. Memory that grows with the
number of rounds is a leak: the slope over the second half is reported.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import isochrone


def usage(pid: int) -> tuple[float, int]:
    """The resident memory in MiB and the number of open file descriptors of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]) / 1024, len(list(Path(f"/proc/{pid}/fd").iterdir()))


def walks(seed: int) -> isochrone.Dataset:
    """Random walks in a square."""
    rng = np.random.default_rng(seed)
    episodes = [np.cumsum(rng.normal(size=(101, 2)), axis=0).astype(np.float32) for _ in range(40)]
    return isochrone.from_episodes([{"observations": rows} for rows in episodes])


def one_round(run: Path, seed: int) -> int:
    """Does what a server of queries does; returns the number of queries."""
    model = isochrone.Model.load(run)
    rng = np.random.default_rng(seed)
    starts, goals = rng.uniform(0, 10, size=(2, 4096, 2)).astype(np.float32)
    assert np.isfinite(model.distance(starts, goals)).all()
    data = walks(seed)
    isochrone.fit(data, steps=20, size="small", progress=False)
    isochrone.refine(data)(starts[:512], goals[:512])
    return len(starts) + 512


def slope(minutes: np.ndarray, values: np.ndarray) -> float:
    """The growth per hour over the second half, by least squares."""
    half = len(minutes) // 2
    return float(np.polyfit(minutes[half:] / 60, values[half:], 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    folder = options.folder
    (folder / "logs").mkdir(parents=True)
    rows = np.arange(20_000)
    logs = {"episode": rows // 100, "x": rows % 100 / 10, "y": rows % 37 / 4}
    pyarrow.parquet.write_table(pyarrow.table(logs), folder / "logs/0.parquet")
    data = Path(__file__).parents[2] / "examples/walks.csv"
    train = [options.command, "train", "--data", data, "--observations", "x,y", "--size", "small", "--threads", "1"]
    subprocess.run([*train, "--steps", "50", "--run", "served"], cwd=folder, check=True, capture_output=True)
    endless = subprocess.Popen(
        [*train, "--steps", "100000000", "--run", "endless", "metrics.every=10", "checkpoints.every=500"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    score = [options.command, "score", "logs", "scored", "--run", "served", "--to", "last"]
    samples, began, queries, rounds = [], time.monotonic(), 0, 0
    try:
        while (elapsed := time.monotonic() - began) < 60 * options.minutes:
            queries += one_round(folder / "served", rounds)
            rounds += 1
            shutil.rmtree(folder / "scored", ignore_errors=True)
            subprocess.run(score, cwd=folder, check=True, capture_output=True)
            samples.append([elapsed / 60, *usage(os.getpid()), *usage(endless.pid)])
            assert endless.poll() is None, "training has ended"
    finally:
        endless.terminate()
        endless.wait()
    write(options, samples, {"rounds": rounds, "queries": queries, "scored_rows": rounds * len(rows)})


def write(options: argparse.Namespace, samples: list[list[float]], counts: dict[str, int]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    values = np.array(samples)
    names = ["queries, MiB", "queries, descriptors", "training, MiB", "training, descriptors"]
    slopes = {name: slope(values[:, 0], values[:, 1 + at]) for at, name in enumerate(names)}
    results = {
        "version": isochrone.__version__,
        "platform": platform.platform(),
        "minutes": float(values[-1, 0]),
        **counts,
        "growth_per_hour": slopes,
        "last": dict(zip(names, values[-1, 1:].tolist())),
        "columns": ["minute", *names],
        "samples": values[:: max(1, len(values) // 300)].round(3).tolist(),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "soak.json").write_text(json.dumps(results, indent=1) + "\n")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharex=True)
    for axis, unit, offset in [(axes[0], "resident memory (MiB)", 1), (axes[1], "open file descriptors", 2)]:
        axis.plot(values[:, 0], values[:, offset], label="queries, fits, plans (Python)")
        axis.plot(values[:, 0], values[:, offset + 2], label="training")
        axis.set_xlabel("minutes")
        axis.set_title(unit, fontsize=10)
        axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(options.out / "soak.svg")
    print(json.dumps({key: results[key] for key in ["minutes", "rounds", "queries", "scored_rows", "growth_per_hour"]}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
