"""Runs the whole study of robot datasets and writes its results.

    python run.py BINARY OUT.json [--data FOLDER] [--maze NPZ] [--lerobot-python PYTHON] [--large]

Generates the datasets that FOLDER lacks, runs `isochrone doctor`, `progress` and `gaps` on them,
and compares the outputs with the planted truth. OUT.json is written atomically at the end, and
after each part, so that an interrupted study keeps its finished parts.
"""

import argparse
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import arm
import evaluate
import gaps
import push
import scale
from defects import make_episodes
from isochrone_command import run
from large import write_large
from lerobot_files import truth_path, write_plain, write_truth

SCENES = {"arm": arm, "push": push}
HERE = Path(__file__).parent


def machine():
    """What a reader needs to compare times."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "platform": f"{platform.machine()}-{sys.platform}",
        "load_average": os.getloadavg()[0],
    }


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions(binary):
    """Versions of the command and of what made the data."""
    packages = ("mujoco", "numpy", "scipy", "pyarrow")
    found = {package: importlib.metadata.version(package) for package in packages}
    return {"isochrone": run(binary, "--version")[0].strip()} | found


def without_nan(value):
    """The same value with null for numbers that JSON cannot hold."""
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_atomically(path, result):
    """Writes JSON to a temporary file and renames it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(without_nan(result), indent=1) + "\n")
    temporary.replace(path)


def dataset(folder, scene_name, seed):
    """The dataset of a scene and seed; generated if it is not there."""
    root = folder / f"{scene_name}{seed}"
    # The truth is written last: without it the dataset is incomplete.
    if not truth_path(root).exists():
        print(f"generating {root}", flush=True)
        scene = SCENES[scene_name]
        episodes = make_episodes(scene, seed)
        write_plain(root, scene, episodes)
        write_truth(root, episodes)
    return root


def data_hash(root):
    """One hash over the data files of a dataset."""
    return scale.sha256_of(*sorted(Path(root).glob("data/**/*.parquet")))


def evaluate_dataset(binary, folder, scene_name, seed, work):
    """Runs doctor and progress on one dataset and compares them with its truth."""
    root = dataset(folder, scene_name, seed)
    doctor_file = work / f"{root.name}.doctor.json"
    progress_file = work / f"{root.name}.progress.parquet"
    output, doctor_seconds = run(binary, "doctor", root, "--json")
    doctor_file.write_text(output)
    progress_file.unlink(missing_ok=True)
    _, progress_seconds = run(binary, "progress", root, "-o", progress_file)
    result = evaluate.evaluate(root, doctor=doctor_file, progress=progress_file)
    evaluate.print_result(result)
    result |= {
        "seed": seed,
        "data_sha256": data_hash(root),
        "doctor_seconds": doctor_seconds,
        "progress_seconds": progress_seconds,
    }
    return result, root, progress_file


def lerobot_weights(python, root, progress_file, work):
    """Runs `rabc.py` with the Python that has lerobot."""
    output = work / f"{root.name}.rabc.json"
    command = [str(python), str(HERE / "rabc.py"), str(root), str(progress_file), "-o", str(output)]
    subprocess.run(command, check=True)
    return json.loads(output.read_text())


def study(arguments, work):
    """Runs all parts; yields the results after each of them."""
    binary, folder = arguments.binary, arguments.data
    results = {"versions": versions(binary), "machine": machine()}
    names = {"thresholds": [("arm", arguments.threshold_seed)]}
    names["arm"] = [("arm", seed) for seed in arguments.arm_seeds]
    names["push"] = [("push", seed) for seed in arguments.push_seeds]
    # Filled below, so that the results after every part hold the weights so far.
    weights = results["rabc"] = []
    for group, datasets in names.items():
        parts = []
        for scene_name, seed in datasets:
            part, root, progress = evaluate_dataset(binary, folder, scene_name, seed, work)
            parts.append(part)
            if arguments.lerobot_python and group != "thresholds":
                weights.append(lerobot_weights(arguments.lerobot_python, root, progress, work))
        results[group] = {"datasets": parts, "totals": evaluate.totals(parts)}
        yield results
    if arguments.gaps:
        results["gaps"] = gaps.evaluate(binary, work / "gaps", arguments.maze)
        gaps.print_result(results["gaps"])
        yield results
    if arguments.large:
        root = folder / "large"
        if not (root / "meta/info.json").exists():
            write_large(root, 10_000_000, 0)
        results["scale"] = scale.evaluate(binary, root)
        scale.print_result(results["scale"])
        yield results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path, help="the isochrone command")
    parser.add_argument("output", type=Path, help="results.json to write")
    parser.add_argument("--data", type=Path, default=Path("target/robots"))
    parser.add_argument("--threshold-seed", type=int, default=0, help="thresholds were set on it")
    parser.add_argument("--arm-seeds", nargs="*", type=int, default=[5, 7, 11])
    parser.add_argument("--push-seeds", nargs="*", type=int, default=[0, 5, 7])
    parser.add_argument("--maze", type=Path, help="pointmaze-medium-navigate-v0.npz, for gaps")
    parser.add_argument("--no-gaps", dest="gaps", action="store_false")
    parser.add_argument("--lerobot-python", type=Path, help="a Python with lerobot 0.6.1")
    parser.add_argument("--large", action="store_true", help="measure 10 million frames")
    parser.add_argument("--keep", type=Path, help="keep the command's outputs in this folder")
    arguments = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.keep or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for results in study(arguments, work):
            write_atomically(arguments.output, results)


if __name__ == "__main__":
    main()
