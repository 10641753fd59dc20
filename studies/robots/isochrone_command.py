"""Runs the `isochrone` command."""

import json
import subprocess
import time


def run(binary, *arguments):
    """Runs the command; returns its standard output and the seconds that it took."""
    command = [str(binary), *map(str, arguments)]
    start = time.monotonic()
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if finished.returncode != 0:
        message = finished.stderr.strip()[-2000:]
        raise RuntimeError(f"{' '.join(command)}: exit code {finished.returncode}: {message}")
    return finished.stdout, seconds


def run_json(binary, *arguments):
    """Runs the command with --json; returns its output and the seconds that it took."""
    output, seconds = run(binary, *arguments, "--json")
    return json.loads(output), seconds
