"""Counts the instructions that checks of arithmetic for overflow add to releases.

    python tools/reliability/overflow.py target/reliability --out docs/results/reliability

Builds the command three times: without these checks, as released, and with checks in all of our
crates. Needs Valgrind. The counts of one thread hardly vary, in contrast to seconds.
"""

import argparse
import json
import math
import platform
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROWS = 20_000
COLUMNS = ["--observations", "x,y", "--actions", "ax,ay"]
TASKS = {
    "CSV to Arrow": ["data", "convert", "walks.csv", "-o", "walks.arrow", *COLUMNS],
    "CSV to NumPy": ["data", "convert", "walks.csv", "-o", "walks.npz", *COLUMNS],
    "inspect CSV": ["data", "inspect", "walks.csv", *COLUMNS],
    "exact distances of a map": ["exact", "map.txt"],
    "20 small updates": ["train", "--data", "walks.csv", *COLUMNS, "--size", "small", "--steps", "20", "--seed", "1", "--run", "run"],
}


# The crates in which a build differs from a release, and whether they check there.
BUILDS = {
    "none": (["data", "envs", "learn"], "false"),
    "release": ([], ""),
    "all": (["core", "eval", "nn", "plot", "studies", "cli"], "true"),
}


def build(checks: str, folder: Path) -> Path:
    crates, value = BUILDS[checks]
    settings = [f"profile.release.package.isochrone-{crate}.overflow-checks={value}" for crate in crates]
    words = [word for setting in settings for word in ["--config", setting]]
    subprocess.run(["cargo", "build", "--release", "--locked", "--bin", "isochrone", *words], check=True)
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy("target/release/isochrone", folder / f"isochrone-{checks}")).resolve()


def write_inputs(folder: Path) -> None:
    """Random walks in episodes of 100 rows, and an open map of 20 by 20 cells."""
    draw, rows = random.Random(1), ["episode,x,y,ax,ay"]
    for episode in range(ROWS // 100):
        x = y = 0.0
        for _ in range(100):
            angle = draw.uniform(0, 2 * math.pi)
            ax, ay = math.cos(angle), math.sin(angle)
            rows.append(f"{episode},{x:.5f},{y:.5f},{ax:.5f},{ay:.5f}")
            x, y = x + ax, y + ay
    (folder / "walks.csv").write_text("\n".join(rows) + "\n")
    cells = [list("." * 20) for _ in range(20)]
    cells[0][0], cells[19][19] = "S", "G"
    (folder / "map.txt").write_text("\n".join(map("".join, cells)) + "\n")


def instructions(command: Path, task: list[str]) -> int:
    with tempfile.TemporaryDirectory() as name:
        write_inputs(Path(name))
        count = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        run = subprocess.run([*count, command, "--threads", "1", *task], cwd=name, capture_output=True, text=True)
    found = re.search(r"I +refs: +([\d,]+)", run.stderr)
    if run.returncode or not found:
        raise SystemExit(f"{command} {' '.join(task)}: {run.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    builds = {checks: build(checks, options.folder) for checks in BUILDS}
    results = {
        "version": subprocess.run([builds["release"], "--version"], check=True, capture_output=True, text=True).stdout.strip(),
        "revision": subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip(),
        "platform": platform.platform(),
        "rows": ROWS,
        "instructions": {
            task: {checks: instructions(command, words) for checks, command in builds.items()}
            for task, words in TASKS.items()
        },
    }
    (options.out / "overflow.json").write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
