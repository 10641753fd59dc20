"""What a first user stumbled over."""

from typing import Any

import numpy as np
import pytest

import isochrone


def test_missing_values_of_tables_are_refused() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"run": [0, 0, 0], "x": [0.0, None, 2.0]})
    with pytest.raises(isochrone.DataError, match="episode 0"):
        isochrone.from_table(table, observations=["x"], episode="run")


def test_fit_does_not_offer_to_resume_a_removed_folder() -> None:
    def stop(record: dict[str, float]) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError) as raised:
        isochrone.fit(isochrone.collect("nav2d", 20), size="small", steps=50, progress=False, callback=stop)
    assert not any("resume" in note for note in getattr(raised.value, "__notes__", []))


def test_distances_are_not_policies_and_names_are_environments() -> None:
    pytest.importorskip("gymnasium")
    data = isochrone.collect("nav2d", 20)
    refined: Any = isochrone.refine(data)
    with pytest.raises(TypeError, match="no actions"):
        isochrone.evaluate("nav2d", refined, episodes=1)
    assert isochrone.evaluate("nav2d", lambda observation, goal: np.zeros(2), episodes=1).episodes == 1
