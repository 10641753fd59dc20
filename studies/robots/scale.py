"""Time and memory of `isochrone progress` on a large dataset, for several thread counts.

    python scale.py BINARY DATASET [--threads 1 2] [-o OUT.json]

Linux and macOS only: the peak memory comes from the resource usage of the finished process.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def sha256_of(*paths):
    """One hash over the contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def measure(binary, root, output, threads):
    """Runs `progress` once; returns seconds, peak resident MiB and the hash of its output."""
    command = [str(binary), "progress", str(root), "-o", str(output), "--threads", str(threads)]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read().decode(errors="replace")
    # Not `wait`, which does not report the memory of this one process.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    if process.returncode != 0:
        reason = f"exit code {process.returncode}: {message.strip()[-2000:]}"
        raise RuntimeError(f"{' '.join(command)}: {reason}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "threads": threads,
        "seconds": seconds,
        "peak_resident_mib": usage.ru_maxrss / unit,
        "output_sha256": sha256_of(output),
    }


def evaluate(binary, root, threads=(1, 2)):
    """Measures all thread counts and compares their outputs."""
    frames = json.loads((Path(root) / "meta/info.json").read_text())["total_frames"]
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / "progress.parquet"
        runs = []
        for count in threads:
            output.unlink(missing_ok=True)
            runs.append(measure(binary, root, output, count))
    for run in runs:
        run["frames_per_second"] = frames / run["seconds"]
    identical = len({run["output_sha256"] for run in runs}) == 1
    return {"frames": frames, "runs": runs, "identical_for_all_thread_counts": identical}


def print_result(result):
    for run in result["runs"]:
        print(
            f"{result['frames']} frames, {run['threads']} threads: {run['seconds']:.1f} s,"
            f" {run['frames_per_second']:.0f} frames/s, {run['peak_resident_mib']:.0f} MiB"
        )
    print(f"identical for all thread counts: {result['identical_for_all_thread_counts']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    arguments = parser.parse_args()
    result = evaluate(arguments.binary, arguments.dataset, arguments.threads)
    print_result(result)
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
