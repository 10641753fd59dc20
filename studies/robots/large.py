"""A LeRobot dataset of 10 million frames for the scale test: noisy copies of arm episodes.

    python large.py DATASET [--frames 10000000] [--seed 0]

About 0.9 GB in several Parquet files, with one row group per episode as LeRobot writes them.
"""

import argparse
import copy
from pathlib import Path

import numpy as np

import arm
from defects import make_episodes
from lerobot_files import PlainWriter

# Files of less than 100 MB, the limit of LeRobot.
EPISODES_PER_FILE = 6000
# Deviations of the noise that is added to copies: as large as the sensors' own.
STATE_NOISE, CUBE_NOISE = 0.002, 0.0008


def noisy_copy(rng, episode):
    """The same episode with other sensor noise."""
    other = copy.copy(episode)
    noise = rng.standard_normal(episode.state.shape, dtype=np.float32)
    other.state = episode.state + np.float32(STATE_NOISE) * noise
    noise = rng.standard_normal(episode.environment.shape, dtype=np.float32)
    other.environment = episode.environment + np.float32(CUBE_NOISE) * noise
    return other


def write_large(root, frames, seed):
    """Writes copies of randomly drawn episodes until there are `frames` frames."""
    rng = np.random.default_rng(seed)
    sources = make_episodes(arm, seed)
    writer = PlainWriter(root, arm, episodes_per_file=EPISODES_PER_FILE)
    while writer.frames < frames:
        episode = noisy_copy(rng, sources[int(rng.integers(len(sources)))])
        surplus = writer.frames + len(episode) - frames
        if surplus > 0:
            keep = len(episode) - surplus
            episode.apply(lambda rows, keep=keep: rows[:keep])
        writer.add(episode)
    writer.finish()
    return writer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--frames", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    writer = write_large(arguments.root, arguments.frames, arguments.seed)
    size = sum(path.stat().st_size for path in arguments.root.rglob("*") if path.is_file())
    print(
        f"{arguments.root}: {len(writer.episodes)} episodes, {writer.frames} frames,"
        f" {size / 2**20:.0f} MiB"
    )


if __name__ == "__main__":
    main()
