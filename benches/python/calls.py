"""Measures calls, training, Ctrl-C and export of the installed package; writes results.json.

    python benches/python/calls.py docs/results/python [--quick]

Times are the best of alternated repetitions in one process; ratios are measured side by side.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import isochrone

SEED = 0


def best(repetitions: int, *functions: Callable[[], Any]) -> list[float]:
    """Return the fastest call of each function in seconds, alternated."""
    times = [[float("inf")] for _ in functions]
    for _ in range(repetitions):
        for function, seconds in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    return [min(seconds) for seconds in times]


def queries(model: isochrone.Model, data: isochrone.Dataset, folder: pathlib.Path, n: int) -> dict[str, Any]:
    states = np.concatenate([episode["observations"] for episode in data])[:2000]
    start, goal = np.ascontiguousarray(states[:1000]), np.ascontiguousarray(states[-1000:])
    one = (start[0], goal[0])
    found: dict[str, Any] = {}
    pair, listed, policy, embed = best(
        20 * n,
        lambda: model.distance(*one),
        lambda: model.distance([0.0, 0.0], [1.0, 1.0]),
        lambda: model.policy(*one),
        lambda: model.embed(one[0]),
    )
    found["microseconds"] = {
        "distance, 1 pair": 1e6 * pair,
        "distance, 1 pair of lists": 1e6 * listed,
        "policy, 1 row": 1e6 * policy,
        "embed, 1 row": 1e6 * embed,
    }
    thousand, all_pairs = best(n, lambda: model.distance(start, goal), lambda: model.all_pairs(start, goal))
    found["milliseconds"] = {"distance, 1000 pairs": 1e3 * thousand, "all_pairs, 1000 x 1000": 1e3 * all_pairs}
    try:
        import onnxruntime
    except ImportError:
        return found
    model.export(folder / "distance.onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = isochrone.get_num_threads()
    session = onnxruntime.InferenceSession(folder / "distance.onnx", options, providers=["CPUExecutionProvider"])
    feeds = {"observation": start, "goal": goal}
    ours, theirs = best(n, lambda: model.distance(start, goal), lambda: session.run(None, feeds))
    single = {"observation": start[:1], "goal": goal[:1]}
    ours_one, theirs_one = best(20 * n, lambda: model.distance(*one), lambda: session.run(None, single))
    difference = np.abs(session.run(None, feeds)[0] - model.distance(start, goal))
    found["onnxruntime"] = {
        "version": onnxruntime.__version__,
        "1000 pairs, its time / ours": theirs / ours,
        "1 pair, its time / ours": theirs_one / ours_one,
        "largest difference in steps": float(difference.max()),
    }
    return found


def bits(model: isochrone.Model, data: isochrone.Dataset) -> dict[str, bool]:
    """Compare the bits of distances for different batches and thread counts."""
    states = np.concatenate([episode["observations"] for episode in data])[:3000]
    goals = states[::-1].copy()
    known = model.distance(states, goals)
    threads = isochrone.get_num_threads()
    equal = {}
    for count in (1, 2, 3):
        isochrone.set_num_threads(count)
        equal[f"{count} threads"] = bool((model.distance(states, goals) == known).all())
    isochrone.set_num_threads(threads)
    for size in (1, 7, 64, 65, 1000):
        parts = [model.distance(states[i : i + size], goals[i : i + size]) for i in range(0, 3000, size)]
        equal[f"batches of {size}"] = bool((np.concatenate(parts) == known).all())
    single = model.distance(states, goals[0])
    equal["one goal for all"] = bool((single == model.distance(states, np.tile(goals[0], (3000, 1)))).all())
    return equal


def copies(model: isochrone.Model) -> dict[str, float]:
    """Measure the memory that two million pairs take beyond their arrays."""
    start = np.zeros((2_000_000, 2), np.float32)
    goal = np.ones((2_000_000, 2), np.float32)
    model.distance(start[:100_000], goal[:100_000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = model.distance(start, goal)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "input MiB": (start.nbytes + goal.nbytes) / 2**20,
        "output MiB": result.nbytes / 2**20,
        "peak beyond the input MiB": (after - before) / 1024,
    }


def lock(model: isochrone.Model) -> float:
    """Return the speed of another Python thread during a call, relative to its speed alone."""
    states = np.zeros((3000, 2), np.float32)

    def count(seconds: float, is_over: Callable[[], bool]) -> float:
        start, n = time.perf_counter(), 0
        while not is_over() and time.perf_counter() - start < seconds:
            n += 1
        return n / (time.perf_counter() - start)

    alone = count(0.5, lambda: False)
    worker = threading.Thread(target=lambda: [model.all_pairs(states, states) for _ in range(4)])
    worker.start()
    beside = count(60.0, lambda: not worker.is_alive())
    worker.join()
    return beside / alone


def training(folder: pathlib.Path, data: pathlib.Path, repetitions: int, steps: int) -> dict[str, Any]:
    """Compare training through the package with the command, one thread each, alternated."""
    common = ["--size", "small", "--steps", str(steps), "--data", str(data)]
    times: dict[str, list[float]] = {"package": [], "command": []}
    for number in range(repetitions):
        run = folder / f"package-{number}"
        isochrone.train(data, run=run, size="small", steps=steps, threads=1, progress=False)
        times["package"].append(isochrone.Run(run).status["seconds"])
        run = folder / f"command-{number}"
        command = [sys.executable, "-m", "isochrone", "train", *common, "--run", str(run), "--threads", "1"]
        subprocess.run(command, check=True, capture_output=True)
        times["command"].append(isochrone.Run(run).status["seconds"])
    weights = [next((folder / name).glob("checkpoints/*/weights.safetensors")) for name in ("package-0", "command-0")]
    return {
        "steps": steps,
        "package seconds / command seconds": min(times["package"]) / min(times["command"]),
        "seconds": times,
        "weights are byte-identical": weights[0].read_bytes() == weights[1].read_bytes(),
    }


INTERRUPTED = """
import sys, isochrone
isochrone.train(sys.argv[1], run=sys.argv[2], size=sys.argv[3], steps=100000, progress=False)
"""


def interrupt(folder: pathlib.Path, data: pathlib.Path, size: str) -> dict[str, Any]:
    """Measure the time from SIGINT to the end of the process, which saved a checkpoint."""
    run = folder / f"interrupted-{size}"
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(data), str(run), size], stderr=subprocess.PIPE)
    while not (run / "metrics.jsonl").exists() and process.poll() is None:
        time.sleep(0.2)
    time.sleep(2.0)
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    error = process.communicate()[1].decode()
    seconds = time.perf_counter() - start
    status = isochrone.Run(run).status
    return {"seconds": seconds, "state": status["state"], "step": status["step"], "note": "isochrone.resume" in error}


def imports() -> dict[str, float]:
    def seconds(program: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        return time.perf_counter() - start

    times = [(seconds("pass"), seconds("import isochrone"), seconds("import numpy")) for _ in range(15)]
    bare, package, numpy = (min(column) for column in zip(*times, strict=True))
    return {"isochrone ms": 1e3 * (package - bare), "numpy ms": 1e3 * (numpy - bare), "interpreter ms": 1e3 * bare}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="few repetitions, for tests of this script")
    arguments = parser.parse_args()
    n = 5 if arguments.quick else 100
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = isochrone.collect("nav2d", 300, seed=SEED)
        path = folder / "nav2d.arrow"
        data.save(path)
        model = isochrone.fit(data, size="small", steps=200, seed=SEED, progress=False)
        results: dict[str, Any] = {
            "network": "cmd1, small (2 x 64), 2-dimensional observations",
            "seed": SEED,
            "data_sha256": data.content_hash,
            "version": isochrone.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "machine": {"cpu": cpu(), "cores": os.cpu_count(), "load": os.getloadavg()[0]},
            "import": imports(),
            "calls": queries(model, data, folder, n),
            "equal_bits": bits(model, data),
            "copies": copies(model),
            "speed_of_another_thread": lock(model),
            "training": training(folder, path, 2 if arguments.quick else 5, 100 if arguments.quick else 800),
            "interrupt": {size: interrupt(folder, path, size) for size in ("small", "paper")},
        }
    arguments.folder.mkdir(parents=True, exist_ok=True)
    (arguments.folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (arguments.folder / "README.md").write_text(page(results))
    print(json.dumps(results, indent=1))


def page(results: dict[str, Any]) -> str:
    """Return the page of the results."""
    calls, ratio = results["calls"], results["training"]["package seconds / command seconds"]
    rows = [
        *((name, f"{value:.0f} µs") for name, value in calls["microseconds"].items()),
        *((name, f"{value:.1f} ms") for name, value in calls["milliseconds"].items()),
        ("import, over a bare interpreter", f"{results['import']['isochrone ms']:.0f} ms (NumPy: {results['import']['numpy ms']:.0f} ms)"),
        ("training, time of the package / time of the command", f"{ratio:.2f}"),
        *((f"Ctrl-C to the end of the process, {size} network", f"{found['seconds']:.2f} s") for size, found in results["interrupt"].items()),
        ("2 million pairs: memory beyond the input", f"{results['copies']['peak beyond the input MiB']:.0f} MiB (input {results['copies']['input MiB']:.0f}, output {results['copies']['output MiB']:.0f})"),
    ]
    if "onnxruntime" in calls:
        for name in ("1 pair", "1000 pairs"):
            rows.append((f"{name}: time of ONNX Runtime / ours", f"{calls['onnxruntime'][f'{name}, its time / ours']:.1f}"))
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    equal = "are" if all(results["equal_bits"].values()) else "are **not**"
    same = "are" if results["training"]["weights are byte-identical"] else "are **not**"
    return f"""# Calls, training and Ctrl-C in Python

Measured by `benches/python/calls.py` with the release wheel of version {results["version"]} on CPython {results["python"]} and {results["machine"]["cores"]} cores ({results["machine"]["cpu"]}, load {results["machine"]["load"]:.1f}).
The model is {results["network"]}.
Times are the best of alternated repetitions, and ratios are measured side by side; the raw numbers are in `results.json`.

| what | measured |
|---|---|
{table}

Distances {equal} bit-identical for 1, 2 and 3 threads, for batches of 1 to 1000 pairs, and for one goal against many states.
The weights of a run of the package {same} byte-identical to those of the command.
"""


def cpu() -> str:
    names = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.processor()


if __name__ == "__main__":
    main()
