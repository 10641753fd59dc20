"""Weights that the real `RABCWeights` of lerobot 0.6.1 computes from a progress file.

    python rabc.py DATASET PROGRESS.parquet [--chunk 50 10] [-o OUT.json]

Needs Python 3.12 or later and `pip install "lerobot[dataset]==0.6.1" scipy` (5.4 GB with the CUDA
libraries of the default torch; a CPU build of torch is enough).
"""

import argparse
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

from evaluate import frame_groups
from lerobot_files import read_frames, truth_path
from metrics import rabc_weights


def lerobot_weights(progress_path, frames, chunk):
    """The weight of every frame, before lerobot normalizes them per batch."""
    import torch
    from lerobot.rewards.sarm.rabc import RABCWeights

    weighter = RABCWeights(progress_path, chunk_size=chunk, device=torch.device("cpu"))
    batch = {"index": torch.arange(frames)}
    # Weights of a batch are divided by their mean, which the statistics hold.
    normalized, statistics = weighter.compute_batch_weights(batch)
    return normalized.numpy().astype(float) * statistics["mean_weight"], weighter.get_stats()


def evaluate(root, progress_path, chunks=(50, 10)):
    """Mean weights of groups of frames, and the largest difference to `metrics.rabc_weights`."""
    import pyarrow.parquet as pq

    frames = read_frames(root)
    truth = json.loads(truth_path(root).read_text())
    groups = frame_groups(frames, truth)
    table = pq.read_table(progress_path).sort_by("index")
    progress = table["progress_sparse"].to_numpy().astype(float)
    result = {"dataset": Path(root).name, "lerobot": version("lerobot"), "chunks": {}}
    for chunk in chunks:
        weights, statistics = lerobot_weights(progress_path, len(frames.episode), chunk)
        formula = rabc_weights(progress, frames.rows(), chunk)
        result["chunks"][str(chunk)] = {
            "mean_weight": {name: float(weights[m].mean()) for name, m in groups.items()},
            "zero_share": float((weights == 0).mean()),
            "largest_difference_to_formula": float(np.abs(weights - formula).max()),
            "statistics": statistics,
        }
    return result


def print_result(result):
    for chunk, values in result["chunks"].items():
        means = ", ".join(f"{k} {v:.3f}" for k, v in values["mean_weight"].items())
        print(
            f"{result['dataset']}: lerobot {result['lerobot']}, chunk {chunk}: mean weight {means};"
            f" zero {values['zero_share']:.1%}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("progress", type=Path)
    parser.add_argument("--chunk", nargs="+", type=int, default=[50, 10])
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    arguments = parser.parse_args()
    result = evaluate(arguments.dataset, arguments.progress, arguments.chunk)
    print_result(result)
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
