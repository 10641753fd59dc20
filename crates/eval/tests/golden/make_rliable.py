"""Writes rliable.json: statistics by the rliable package, with which crates/eval/tests/statistics.rs compares.

    pip install rliable==1.2.0 "pandas<3" && python make_rliable.py
"""

import json
import pathlib

import numpy as np
from rliable import library, metrics

random = np.random.RandomState(20261)
SHAPES = [(5, 1), (5, 4), (8, 5), (3, 12)]  # runs, tasks


def case(runs: int, tasks: int) -> dict:
    scores = np.clip(random.beta(2.0, 1.2, size=(runs, tasks)) * random.uniform(0.4, 1.0, size=tasks), 0, 1)
    scores = np.round(scores, 3)
    result = {"tasks": scores.T.tolist()}
    for name, function in [("mean", metrics.aggregate_mean), ("iqm", metrics.aggregate_iqm)]:
        values, intervals = library.get_interval_estimates(
            {"a": scores}, lambda x, f=function: np.array([f(x)]), reps=50_000, random_state=np.random.RandomState(7)
        )
        result[name] = {"value": float(values["a"][0]), "low": float(intervals["a"][0][0]), "high": float(intervals["a"][1][0])}
    return result


cases = [case(*shape) for shape in SHAPES]
path = pathlib.Path(__file__).parent / "rliable.json"
path.write_text(json.dumps({"rliable": "1.2.0", "resamples": 50_000, "cases": cases}, indent=1) + "\n")
