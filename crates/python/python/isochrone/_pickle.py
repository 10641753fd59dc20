"""The functions that pickles call."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from isochrone._data import load
from isochrone._isochrone import (
    Builder,
    Dataset,
    Distance,
    Model,
    PlannedPolicy,
    Planner,
    RefinedDistance,
    calibrate,
    refine,
    round_trip,
)

__all__ = [
    "calibrated",
    "dataset_of",
    "distance_of_callable",
    "load_with",
    "model_of_files",
    "planned_policy",
    "planner",
    "refined",
    "round_trip",
]


def load_with(path: str, options: Mapping[str, Any]) -> Dataset:
    goal, bounds = options.get("goal"), options.get("action_bounds")
    return load(
        path,
        observations=options["observations"],
        actions=options["actions"],
        episode=options["episode"],
        reward=options["reward"],
        time=options["time"],
        ends=None if options["ends"] == "auto" else options["ends"],
        fps=options["frames_per_second"],
        goal=None if goal is None else (goal["start"], goal["end"]),
        action_range=None if bounds is None else (bounds["low"], bounds["high"]),
        extras=options["extras"] == "all",
    )


def dataset_of(spec: Mapping[str, Any], episodes: Sequence[Mapping[str, Any]]) -> Dataset:
    builder = Builder(json.dumps(spec))
    names = [extra["name"] for extra in spec["extras"]]
    for episode in episodes:
        builder.push(
            episode["observations"],
            episode["actions"] if spec["action"]["width"] else None,
            episode.get("rewards"),
            None if "timestamps" not in episode else episode["timestamps"].tolist(),
            [episode[name] for name in names],
            episode["ending"],
        )
    return builder.finish()


def model_of_files(files: Mapping[str, bytes], step: int) -> Model:
    with tempfile.TemporaryDirectory(prefix="isochrone-") as folder:
        write_files(files, folder)
        return Model.load(folder, step)


def write_files(files: Mapping[str, bytes], folder: str | os.PathLike[str]) -> None:
    for name, contents in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents)


def refined(data: Dataset, reading: Any, landmarks: int, seed: int) -> RefinedDistance:
    return refine(data, reading=reading, landmarks=landmarks, seed=seed)


def calibrated(distance: Any, data: Dataset, seed: int) -> Distance:
    return calibrate(distance, data, seed=seed)


def distance_of_callable(callable: Any, data: Dataset, discount: float) -> Distance:
    return Distance(callable, data, discount=discount)


def planner(arguments: tuple[Any, Dataset], keywords: Mapping[str, Any]) -> Planner:
    return Planner(*arguments, **keywords)


def planned_policy(planner: Planner, model: Model) -> PlannedPolicy:
    return planner.policy(model)
