#!/usr/bin/env python3
"""Runs fuzz targets with limits, and records what they covered and found.

`just fuzz-coverage` calls it; README.md describes the options.
"""

import argparse
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

FUZZ = Path(__file__).resolve().parent
ROOT = FUZZ.parent
HOST = "x86_64-unknown-linux-gnu"
BINARIES = Path(os.environ.get("ISOCHRONE_FUZZ_BINARIES", FUZZ / "target" / HOST / "release"))
LIMIT_MIB = 256
# Of processor time, which a target checks after every input.
LIMIT_SECONDS = 5
# Ends an input that never returns. Other work on the machine counts, so that it is larger.
TIMEOUT_SECONDS = 60
# The exit code of a fuzzer that a signal stopped.
INTERRUPTED = 72
# The fuzzer's own memory, such as its corpus, comes on top of that of an input.
RESIDENT_MIB = 2048
# The most that a committed corpus may take.
CORPUS_BYTES = 100_000
CORPUS_FILES = 200


def targets():
    package = tomllib.loads((FUZZ / "Cargo.toml").read_text())
    return [target["name"] for target in package["bin"]]


def environment(**more):
    # One thread, so that counters of edges are not shared, and no downloads.
    return dict(os.environ, RAYON_NUM_THREADS="1", HF_HUB_OFFLINE="1", **more)


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def kind_of(log):
    """The kind of finding that ended a process, or None."""
    if "over-allocation:" in log or "libFuzzer: out-of-memory" in log:
        return "over_allocations"
    if "hang:" in log or "libFuzzer: timeout" in log:
        return "hangs"
    if "SUMMARY: libFuzzer" in log or "ERROR: libFuzzer" in log:
        return "crashes"
    return None


def replay(target, path):
    """Whether an input that was a finding still is one."""
    command = [BINARIES / target, f"-timeout={TIMEOUT_SECONDS}", f"-rss_limit_mb={RESIDENT_MIB}", path]
    with tempfile.TemporaryDirectory() as scratch:
        environ = environment(ISOCHRONE_FUZZ_SCRATCH=scratch)
        return subprocess.run(command, env=environ, capture_output=True).returncode != 0


def run(target, runs, seconds, seed, longest):
    """Runs a target once and returns what it did."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as scratch:
        scratch = Path(scratch)
        seeds, artifacts = scratch / "seeds", FUZZ / "artifacts" / target
        work, committed = FUZZ / "corpus-work" / target, FUZZ / "corpus" / target
        reproducers = FUZZ / "reproducers" / target
        for folder in (seeds, artifacts, work):
            folder.mkdir(parents=True, exist_ok=True)
        environ = environment(ISOCHRONE_FUZZ_SEEDS=str(seeds), ISOCHRONE_FUZZ_SCRATCH=str(scratch))
        subprocess.run([BINARIES / target], env=environ, check=True, capture_output=True)
        inputs = [folder for folder in (work, committed, reproducers, seeds) if folder.is_dir()]
        command = [
            BINARIES / target,
            *inputs,
            f"-runs={runs}",
            f"-max_total_time={seconds}",
            f"-seed={seed}",
            f"-max_len={longest}",
            f"-timeout={TIMEOUT_SECONDS}",
            f"-rss_limit_mb={RESIDENT_MIB}",
            f"-artifact_prefix={artifacts}/",
            "-print_final_stats=1",
            "-reload=0",
            # Its bookkeeping of rare features takes half of the time of targets with many edges.
            "-entropic=0",
        ]
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        environ = environment(ISOCHRONE_FUZZ_SCRATCH=str(scratch))
        done = subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        log = done.stderr.decode(errors="replace")
        took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    (FUZZ / "artifacts" / f"{target}.log").write_text(log)
    progress = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", log)
    executed = re.search(r"number_of_executed_units: (\d+)", log)
    numbers = [int(number) for number in progress[-1]] if progress else [0, 0, 0]
    result = {
        "seed": seed,
        "longest_bytes": longest,
        "inputs": int(executed[1]) if executed else 0,
        "seconds": round(took, 1),
        "processor_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "edges": numbers[0],
        "features": numbers[1],
        "corpus": numbers[2],
    }
    kind = kind_of(log)
    if kind or done.returncode not in (0, INTERRUPTED):
        written = re.search(r"Test unit written to (\S+)", log)
        # Measured by the clock, so that it may be the machine that stood still.
        is_by_clock = written and "libFuzzer: timeout" in log
        if is_by_clock and not replay(target, written[1]):
            return {**result, "stopped": f"{TIMEOUT_SECONDS} s by the clock; the input passes when it is run again"}
        result["found"] = kind or "crashes"
        result["artifact"] = Path(written[1]).name if written else None
    return result


def minimize(target):
    """Replaces the committed corpus by few inputs that cover as much."""
    work, committed = FUZZ / "corpus-work" / target, FUZZ / "corpus" / target
    if not work.is_dir():
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as scratch:
        merged = Path(scratch) / "merged"
        merged.mkdir()
        sources = [folder for folder in (work, committed) if folder.is_dir()]
        environ = environment(ISOCHRONE_FUZZ_SCRATCH=scratch)
        command = [BINARIES / target, "-set_cover_merge=1", f"-timeout={TIMEOUT_SECONDS}", merged, *sources]
        subprocess.run(command, env=environ, check=True, capture_output=True)
        shutil.rmtree(committed, ignore_errors=True)
        committed.mkdir(parents=True)
        for path in selected(merged):
            shutil.copy(path, committed / path.name)


def selected(folder):
    """The smallest files of a folder that fit, and of those every n-th, from small to large."""
    fitting, left = [], CORPUS_BYTES
    for path in sorted(folder.iterdir(), key=lambda path: (path.stat().st_size, path.name)):
        left -= path.stat().st_size
        if left < 0:
            break
        fitting.append(path)
    return fitting[:: -(-len(fitting) // CORPUS_FILES) or 1]


def summary(runs, is_fixed):
    """The sums of all runs of a target; edges, features and corpus are those of the largest run."""
    of_largest = max(runs, key=lambda run: run["edges"])
    total = {
        "inputs": sum(run["inputs"] for run in runs),
        "seconds": round(sum(run["seconds"] for run in runs), 1),
        "processor_seconds": round(sum(run["processor_seconds"] or 0 for run in runs), 1),
        **{key: of_largest[key] for key in ("edges", "features", "corpus")},
        "crashes": 0,
        "hangs": 0,
        "over_allocations": 0,
        "fixed": 0,
    }
    for run in runs:
        if "found" in run:
            total["fixed" if is_fixed(run) else run["found"]] += 1
    return {**total, "runs": runs}


def record(path, target, new):
    """Adds a run of a target to the results, and writes the page."""
    results = json.loads(path.read_text()) if path.exists() else {}
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    results |= {
        "version": version,
        "revision": output_of("git", "rev-parse", "--short=12", "HEAD"),
        "toolchain": output_of("rustc", "+nightly", "--version"),
        "machine": {"processor": processor(), "cores_used": 1, "system": platform.system()},
        "limits": {"mebibytes": LIMIT_MIB, "seconds": LIMIT_SECONDS},
    }
    results["findings"] = json.loads((FUZZ / "findings.json").read_text())
    known = results.setdefault("targets", {})
    if new is not None:
        runs = [*known.get(target, {}).get("runs", []), {**new, "revision": results["revision"]}]
        known[target] = {"runs": runs}
    for name in known:
        if name != target and not (BINARIES / name).exists():
            continue  # It was not built this time, so that nothing of it can have changed.
        # Replayed at every update: a finding is fixed when its reproducer passes.
        def is_fixed(run, name=name):
            reproducer = FUZZ / "reproducers" / name / (run.get("artifact") or "none")
            return reproducer.exists() and not replay(name, reproducer)

        known[name] = summary(known[name]["runs"], is_fixed)
    results.pop("targets")
    results["targets"] = {name: known[name] for name in targets() if name in known}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    path.with_suffix(".md").write_text(page(results))


def stopped(rows):
    """The lines on runs that the clock ended without a finding."""
    runs = sum("stopped" in run for row in rows.values() for run in row["runs"])
    if runs:
        yield f"In {runs} of the runs an input took {TIMEOUT_SECONDS} s by the clock; it passes when it is run again, and is no finding."


def page(results):
    rows = results["targets"]
    columns = ["inputs", "processor_seconds", "edges", "features", "corpus", "crashes", "hangs", "over_allocations", "fixed"]
    lines = [
        "# Coverage-guided fuzzing",
        "",
        "Every reader of files is run on inputs that a coverage-guided fuzzer (libFuzzer) makes from valid files.",
        "No input may panic, take more than "
        f"{results['limits']['seconds']} s of processor time, or hold more than {results['limits']['mebibytes']} MiB.",
        "Checks of arithmetic and debug assertions are on.",
        "",
        "| target | inputs | processor seconds | inputs per second | edges | features | corpus | crashes | hangs "
        "| over-allocations | found and fixed |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        numbers = [f"{row[column]:,.0f}" for column in columns]
        numbers.insert(2, f"{row['inputs'] / max(row['processor_seconds'], 1e-9):,.0f}")
        lines.append(f"| {name} | " + " | ".join(numbers) + " |")
    enough = sum(row["inputs"] >= 10_000_000 for row in rows.values())
    total = sum(row["inputs"] for row in rows.values())
    lines += [
        "",
        f"{len(rows)} targets ran {total:,} inputs in all; {enough} of them ran at least 10,000,000.",
        "Edges are those of the target with all its dependencies, without the standard library.",
        "Inputs and seconds are sums over runs; edges, features and corpus are those of the run with most edges.",
        "The revision of a run is in `fuzz.json`; runs of revision 4a5d9af had only a limit of 60 s by the clock.",
        "Revisions 4a5d9af, 2bc8d9f and c1622304 are not in the repository: their commits were rewritten before they landed.",
        "The columns of crashes, hangs and over-allocations count open findings; a finding is fixed when its reproducer passes.",
        *stopped(rows),
        "Inputs per second are per second of processor time, since the machine was shared with other work.",
        "",
        "## Findings",
        "",
        "| target | kind | problem | found | fix | test |",
        "|---|---|---|---|---|---|",
        *("| " + " | ".join(finding.values()) + " |" for finding in results["findings"]),
        "",
        f"Page made at version {results['version']}, revision {results['revision']}; {results['toolchain']}, "
        f"{results['machine']['processor']}, one core.",
        "`just fuzz-coverage` makes this page from `fuzz.json`; `fuzz/README.md` describes the targets.",
        "",
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="all", help="names separated by commas")
    parser.add_argument("--runs", type=int, default=10_000_000, help="inputs per target")
    parser.add_argument("--seconds", type=int, default=0, help="most seconds per target; 0 for no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=int, default=0, help="most bytes of an input; 0 for those of the corpus")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/results/reliability/fuzz.json")
    parser.add_argument("--minimize", action="store_true", help="only replace the committed corpora")
    parser.add_argument("--page", action="store_true", help="only replay reproducers and write the page")
    options = parser.parse_args()
    if options.page:
        record(options.output, None, None)
        return
    names = targets() if options.target == "all" else options.target.split(",")
    has_found = False
    for name in names:
        if options.minimize:
            minimize(name)
            continue
        result = run(name, options.runs, options.seconds, options.seed, options.longest)
        print(name, json.dumps(result), flush=True)
        has_found |= "found" in result
        record(options.output, name, result)
    sys.exit(has_found)


if __name__ == "__main__":
    main()
