"""Recordings of ours beside those of OGBench's own generator: do they differ by more than chance?

    python reference_data.py PROGRAM REFERENCES FOLDER [NAME ...] > TABLE.md

PROGRAM is the command `isochrone` built with the feature `mujoco`; REFERENCES has the data sets of OGBench's generator, FOLDER keeps ours. Means and deviations of what is seen and done are compared dimension by
dimension, those of velocities as well where they are not seen, in standard errors: a ball has one only where it hits a wall; where somebody is, and how far they come in 1 and in 10 steps, by two-sample tests on one row of every episode, since rows of one episode are no independent witnesses.
"""

import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats

# Ours, the reference, episodes of ours.
SETS = {
    "pointmaze-medium-navigate": ("pointmaze-medium-navigate-v0", 1000),
    "pointmaze-large-stitch": ("pointmaze-large-stitch-v0", 5000),
    "pointmaze-teleport-navigate": ("pointmaze-teleport-navigate-v0", 1000),
    "antmaze-medium-navigate": ("antmaze-medium-navigate-fifth", 1000),
}
LARGEST = 0.02
LEAST_P = 0.001
LARGEST_Z = 4.5
SEED = 1


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


def main():
    program, references, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    failed = []
    print("| data set | episodes, ours / theirs | largest difference of a mean | of a deviation | largest z of a mean or variance | p, moved in 1 step | p, moved in 10 | p, visited cells |\n|---|---|---|---|---|---|---|---|")
    for name in names or SETS:
        reference, count = SETS[name]
        path = folder / f"{name}.npz"
        if not path.exists():
            subprocess.run([program, "envs", "generate", name, "--episodes", str(count), "--seed", str(SEED), "-o", str(path)], check=True, capture_output=True)
        ours, theirs = episodes(path), episodes(pathlib.Path(references) / f"{reference}.npz")
        v = compare(ours, theirs, rng)
        print(f"| {name} | {len(ours[0])} / {len(theirs[0])} | {100 * v['mean']:.2f} % | {100 * v['deviation']:.2f} % | {v['z']:.1f} | {v['moved in 1']:.3f} | {v['moved in 10']:.3f} | {v['cells']:.3f} |", flush=True)
        tests = [v["moved in 1"], v["moved in 10"], v["cells"]]
        # A fifth of the episodes cannot tell two per cent from chance.
        is_whole = len(ours[0]) == len(theirs[0])
        if (is_whole and max(v["mean"], v["deviation"]) > LARGEST) or v["z"] > LARGEST_Z or min(tests) < LEAST_P:
            failed.append(name)
    if failed:
        sys.exit(f"more than chance, or more than {100 * LARGEST:.0f} %: {', '.join(failed)}")


if __name__ == "__main__":
    main()
