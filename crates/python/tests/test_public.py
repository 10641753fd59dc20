from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import isochrone

PUBLIC = [name for name in isochrone.__all__ if name != "__version__"]


def test_all_names_exist_and_are_sorted() -> None:
    assert isochrone.__all__ == sorted(isochrone.__all__)
    assert len(set(isochrone.__all__)) == len(isochrone.__all__)
    public = {name for name, value in vars(isochrone).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public == set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_is_documented(name: str) -> None:
    value = getattr(isochrone, name)
    assert (inspect.getdoc(value) or "").strip(), name
    if inspect.isclass(value) and not issubclass(value, BaseException):
        for member, what in vars(value).items():
            if not member.startswith("_") and (callable(what) or inspect.isdatadescriptor(what)):
                assert inspect.getdoc(what), f"{name}.{member} is not documented"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_function_has_a_signature(name: str) -> None:
    value = getattr(isochrone, name)
    if inspect.isroutine(value):
        assert inspect.signature(value) is not None


def test_every_class_is_pickled(
    model: isochrone.Model, run: isochrone.Run, walks: isochrone.Dataset, rows: np.ndarray
) -> None:
    refined = isochrone.refine(walks, landmarks=50)
    planner = isochrone.Planner(refined, walks)
    objects: list[Any] = [
        isochrone.audit(refined, walks),
        walks,
        isochrone.calibrate(model, walks),
        isochrone.DistanceColumn(model, [0, 0], threads=None),
        isochrone.Evaluation({1: 0.5}, 2, [[1, 2]], [[True, False]]),
        isochrone.exact(np.eye(2), 0),
        walks.plot(),
        model,
        isochrone.Path([[0, 0], [1, 1]], [2.0]),
        planner.policy(model),
        planner,
        refined,
        run,
        isochrone.IsochroneError("a"),
        isochrone.DataError("a"),
        isochrone.ConfigError("a"),
        isochrone.DivergedError("a"),
        isochrone.PhysicsError("a"),
        isochrone.StopTraining("a"),
        isochrone.IsochroneWarning("a"),
    ]
    classes = {name for name in PUBLIC if inspect.isclass(getattr(isochrone, name))}
    assert {type(one).__name__ for one in objects} == classes
    for one in objects:
        again = pickle.loads(pickle.dumps(one))
        assert type(again) is type(one)
        if not isinstance(one, isochrone.DistanceColumn):
            assert repr(again) == repr(one)


def test_errors_keep_their_hints_in_pickles() -> None:
    with pytest.raises(isochrone.DataError) as raised:
        isochrone.from_episodes([])
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and again.__notes__ == raised.value.__notes__
