"""Temporal distances: how many steps it takes to get from one state to another.

Learn them from offline data, compute them exactly for tabular problems, and use them to measure
progress, plan and act.

>>> import numpy as np
>>> import isochrone
>>> episodes = [np.cumsum(np.full((50, 2), 0.1 * k), axis=0) for k in range(1, 9)]
>>> data = isochrone.from_episodes({"observations": states} for states in episodes)
>>> model = isochrone.fit(data, size="small", steps=20, progress=False)
>>> model.distance([0.1, 0.1], [2.0, 2.0]).shape
()
"""

from isochrone._audit import Audit, audit
from isochrone._batches import DistanceColumn
from isochrone._data import from_arrays, from_episodes, from_lerobot, from_minari, from_table, load
from isochrone._evaluate import Evaluation, evaluate
from isochrone._exact import event_log, exact, exact_all_pairs
from isochrone._isochrone import (
    ConfigError,
    DataError,
    Dataset,
    Distance,
    DivergedError,
    ExactDistances,
    Figure,
    IsochroneError,
    Model,
    Path,
    PhysicsError,
    PlannedPolicy,
    Planner,
    RefinedDistance,
    Run,
    __version__,
    calibrate,
    collect,
    datasets,
    environments,
    get_num_threads,
    mujoco_version,
    refine,
    round_trip,
    set_num_threads,
)
from isochrone._train import IsochroneWarning, StopTraining, fit, resume, train

__all__ = [
    "Audit",
    "ConfigError",
    "DataError",
    "Dataset",
    "Distance",
    "DistanceColumn",
    "DivergedError",
    "Evaluation",
    "ExactDistances",
    "Figure",
    "IsochroneError",
    "IsochroneWarning",
    "Model",
    "Path",
    "PhysicsError",
    "PlannedPolicy",
    "Planner",
    "RefinedDistance",
    "Run",
    "StopTraining",
    "__version__",
    "audit",
    "calibrate",
    "collect",
    "datasets",
    "environments",
    "evaluate",
    "event_log",
    "exact",
    "exact_all_pairs",
    "fit",
    "from_arrays",
    "from_episodes",
    "from_lerobot",
    "from_minari",
    "from_table",
    "get_num_threads",
    "load",
    "mujoco_version",
    "refine",
    "resume",
    "round_trip",
    "set_num_threads",
    "train",
]
