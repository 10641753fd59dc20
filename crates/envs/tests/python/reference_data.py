"""Recordings of ours beside those of OGBench's own generator: do they differ by more than chance?

    python reference_data.py PROGRAM REFERENCES FOLDER > TABLE.md

PROGRAM is the command `isochrone` built with the feature `mujoco`; REFERENCES has data sets of OGBench's generator, and FOLDER/references the one of ant_collect.py; ours are made in FOLDER
unless a file made by the same program is there. Means and deviations of what is seen and done are compared dimension by
dimension, those of velocities as well where they are not seen, in standard errors: a ball has one only where it hits a wall; where somebody is, and how far they come in 1 and in 10 steps, by two-sample tests on one row of every episode, since rows of one episode are no independent witnesses.
"""

import hashlib
import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats

# Ours; the reference; episodes of ours.
SETS = [
    ("pointmaze-medium-navigate", "pointmaze-medium-navigate-v0", 1000),
    ("pointmaze-large-stitch", "pointmaze-large-stitch-v0", 5000),
    ("pointmaze-teleport-navigate", "pointmaze-teleport-navigate-v0", 1000),
    # Made by ant_collect.py, with the same walker.
    ("antmaze-medium-navigate", "antmaze-medium-navigate-python", 1000),
    ("antmaze-medium-navigate", "antmaze-medium-navigate-fifth", 1000),
]
# Told, and not judged: fewer of its ants fall on their backs than of ours or of those in Python, nobody knows why.
ONLY_TOLD = {"antmaze-medium-navigate-fifth"}
LARGEST = 0.02
LEAST_P = 0.001
LARGEST_Z = 4.5
SEED = 1


INTRODUCTION = (
    "Means and deviations of what is seen and done, dimension by dimension, relative to the larger of mean and deviation; `z` is the largest difference of a mean or a variance in standard errors over episodes, with velocities, which the ball does "
    "not see and has only where it hits a wall. Where somebody is, and how far they come in 1 and in 10 steps: two-sample tests (chi-square, Kolmogorov-Smirnov) on one row of every episode, since rows of one episode are no independent witnesses. "
    "References of the ball are whole data sets of OGBench's generator. Those of the ant were walked by the same network: `python` in OGBench's environment of the same MuJoCo by `ant_collect.py`, `fifth` under MuJoCo 3.3.7 by somebody else. An ant that falls on "
    "its back stays there, and decides what deviations are; in `fifth` fewer fall than in any set that we or `ant_collect.py` made, which is told here and not judged."
)


def episodes(path):
    """Observations, actions and velocities, `[episodes, rows, width]` each."""
    data = np.load(path)
    ends = np.flatnonzero(data["terminals"]) + 1
    starts = np.concatenate([[0], ends[:-1]])
    assert len(set(ends - starts)) == 1, "episodes are equally long"
    shaped = lambda name: data[name].reshape(len(starts), ends[0], -1)
    return shaped("observations"), shaped("actions")[:, :-1], shaped("qvel"), shaped("qpos")


def cells(places):
    return ((places[..., 1] + 6) / 4).astype(int) * 100 + ((places[..., 0] + 6) / 4).astype(int)


def compare(ours, theirs, rng):
    """The largest relative difference of a mean and of a deviation of what is seen and done, the largest difference of either in standard errors, and the p-values of the tests."""
    shift, spread, z = 0.0, 0.0, 0.0
    for column, (mine, other) in enumerate(zip(ours[:3], theirs)):
        for dimension in range(mine.shape[2]):
            a, b = mine[..., dimension].astype(float), other[..., dimension].astype(float)
            if column < 2:
                scale = max(abs(b.mean()), b.std())
                shift = max(shift, abs(a.mean() - b.mean()) / scale)
                spread = max(spread, abs(a.std() / b.std() - 1))
            # Episodes are independent of each other, their rows are not.
            for power in (lambda x: x, lambda x: (x - b.mean()) ** 2):
                each = [power(side).mean(1) for side in (a, b)]
                error = np.hypot(*(side.std() / len(side) ** 0.5 for side in each))
                z = max(z, abs(each[0].mean() - each[1].mean()) / error)
    values = {"mean": shift, "deviation": spread, "z": z}
    places = [side[3][..., :2].astype(float) for side in (ours, theirs)]
    for steps in (1, 10):
        moved = []
        for side in places:
            rows = rng.integers(0, side.shape[1] - steps, len(side))
            at = np.arange(len(side))
            moved.append(np.linalg.norm(side[at, rows + steps] - side[at, rows], axis=1))
        values[f"moved in {steps}"] = stats.ks_2samp(*moved).pvalue
    seen = [cells(side[np.arange(len(side)), rng.integers(0, side.shape[1], len(side))]) for side in places]
    names = np.unique(np.concatenate(seen))
    table = np.array([[np.sum(side == name) for name in names] for side in seen])
    # Cells that hardly anybody visits are taken together.
    rare = table.sum(0) < 10
    if rare.any():
        table = np.concatenate([table[:, ~rare], table[:, rare].sum(1, keepdims=True)], axis=1)
    values["cells"] = stats.chi2_contingency(table).pvalue
    return values


def upside_down(positions):
    """The share of episodes in which an ant falls on its back."""
    return np.mean(np.any(1 - 2 * (positions[..., 4] ** 2 + positions[..., 5] ** 2) < 0, axis=1))


def main():
    program, references, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made_by = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()[:16]
    rng = np.random.default_rng(0)
    failed = []
    print("# Recordings beside those of OGBench's generator\n")
    print(f"{INTRODUCTION} Recordings of seed {SEED}; `just maze-data`.\n")
    print("| data set | reference | episodes, ours / theirs | largest difference of a mean | of a deviation | largest z of a mean or variance | p, moved in 1 step | p, moved in 10 | p, visited cells | on their backs |\n|---|---|---|---|---|---|---|---|---|---|")
    for name, reference, count in SETS:
        path = folder / f"{name}-{made_by}.npz"
        if not path.exists():
            subprocess.run([program, "envs", "generate", name, "--episodes", str(count), "--seed", str(SEED), "-o", str(path)], check=True, capture_output=True)
        kept = folder / "references" / f"{reference}.npz"
        ours, theirs = episodes(path), episodes(kept if kept.exists() else pathlib.Path(references) / f"{reference}.npz")
        v = compare(ours, theirs, rng)
        fallen = " / ".join(f"{100 * upside_down(side[3]):.1f} %" for side in (ours, theirs)) if ours[3].shape[2] > 2 else "-"
        print(f"| {name} | {reference} | {len(ours[0])} / {len(theirs[0])} | {100 * v['mean']:.2f} % | {100 * v['deviation']:.2f} % | {v['z']:.1f} | {v['moved in 1']:.3f} | {v['moved in 10']:.3f} | {v['cells']:.3f} | {fallen} |", flush=True)
        tests = [v["moved in 1"], v["moved in 10"], v["cells"]]
        # Where there are fewer episodes, two per cent cannot be told from chance.
        is_whole = len(ours[0]) == len(theirs[0])
        is_other = (is_whole and max(v["mean"], v["deviation"]) > LARGEST) or v["z"] > LARGEST_Z or min(tests) < LEAST_P
        if is_other and reference not in ONLY_TOLD:
            failed.append(name)
    if failed:
        sys.exit(f"more than chance, or more than {100 * LARGEST:.0f} %: {', '.join(failed)}")


if __name__ == "__main__":
    main()
