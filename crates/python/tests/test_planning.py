from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isochrone

Hint = Callable[[pytest.ExceptionInfo[Any]], str]

METHODS: dict[str, dict[str, Any]] = {
    "graph": {"method": "graph", "max_edge_steps": 8, "states": 200},
    "greedy": {"method": "greedy", "radius": 2.0, "states": 200},
}


def euclidean(start: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """About the steps of the walks, which are at most 1 long in each dimension."""
    return np.linalg.norm(start - goal, axis=-1)


class WithAllPairs:
    def __init__(self) -> None:
        self.calls = {"pairs": 0, "all_pairs": 0}

    def __call__(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        self.calls["pairs"] += 1
        return euclidean(start, goal)

    def all_pairs(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        self.calls["all_pairs"] += 1
        return euclidean(start[:, None], goal[None])


@pytest.fixture(scope="module")
def refined(walks: isochrone.Dataset) -> isochrone.RefinedDistance:
    return isochrone.refine(walks, landmarks=100)


@pytest.fixture(scope="module")
def islands() -> isochrone.Dataset:
    """Two groups of walks without a path between them."""
    steps = np.cumsum(np.full((40, 2), 0.5), axis=0)
    return isochrone.from_episodes({"observations": steps + offset} for offset in (0, 1000, 0.1, 1000.1))


def check(path: isochrone.Path | None, start: list[float], goal: list[float]) -> None:
    assert path is not None
    np.testing.assert_array_equal(path.states[[0, -1]], np.array([start, goal], np.float32))
    assert len(path) == len(path.states) == len(path.edge_steps) + 1
    assert path.steps == pytest.approx(path.edge_steps.sum())


@pytest.mark.parametrize("method", METHODS)
def test_paths_lead_from_start_to_goal(method: str, model: isochrone.Model, walks: isochrone.Dataset) -> None:
    planner = isochrone.Planner(model, walks, **METHODS[method])
    path = planner.plan([1, 1], [9, 9])
    if method == "graph":
        check(path, [1, 1], [9, 9])
        assert path.edge_steps.max() <= 8
    again = isochrone.Planner(model, walks, **METHODS[method]).plan([1, 1], [9, 9])
    assert pickle.dumps(again) == pickle.dumps(path)


def test_recorded_segments(refined: isochrone.RefinedDistance, walks: isochrone.Dataset) -> None:
    planner = isochrone.Planner(refined, walks)
    assert "recorded" in repr(planner)
    start, goal = walks[0]["observations"][0].tolist(), walks[0]["observations"][30].tolist()
    path = planner.plan(start, goal)
    check(path, start, goal)
    states = np.concatenate([episode["observations"] for episode in walks])
    known = path.rows >= 0
    np.testing.assert_array_equal(path.states[known], states[path.rows[known]])
    assert pickle.dumps(refined.path(start, goal)) == pickle.dumps(path)
    again = pickle.loads(pickle.dumps(planner)).plan(start, goal)
    np.testing.assert_array_equal(again.states, path.states)
    np.testing.assert_array_equal(again.rows, path.rows)


@pytest.mark.parametrize("options", [{}, {"calibrated": True}, {"round_trip": True}])
def test_a_callable_plans_as_the_model_natively(
    model: isochrone.Model, walks: isochrone.Dataset, options: dict[str, Any]
) -> None:
    """The callables call back into the package, from a thread of its own."""

    class Wrapped:
        def __call__(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
            return model.distance(start, goal)

        def all_pairs(self, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
            return model.all_pairs(start, goal)

    options = {**options, "max_edge_steps": 30, "states": 100}
    expected = isochrone.Planner(model, walks, **options).plan([1, 1], [9, 9])
    for callable_ in (model.distance, lambda start, goal: model.distance(start, goal), Wrapped()):
        found = isochrone.Planner(callable_, walks, **options).plan([1, 1], [9, 9])
        np.testing.assert_array_equal(found.states, expected.states)
        np.testing.assert_allclose(found.edge_steps, expected.edge_steps, rtol=1e-5)


def test_all_pairs_of_a_callable_are_used(walks: isochrone.Dataset) -> None:
    both = WithAllPairs()
    options: dict[str, Any] = {"max_edge_steps": 3, "states": 300}
    found = isochrone.Planner(both, walks, **options).plan([1, 1], [9, 9])
    expected = isochrone.Planner(euclidean, walks, **options).plan([1, 1], [9, 9])
    check(found, [1, 1], [9, 9])
    np.testing.assert_array_equal(found.states, expected.states)
    assert both.calls["all_pairs"] > 0


def test_exceptions_of_a_callable_arrive(walks: isochrone.Dataset) -> None:
    calls = [0]

    def fails_later(start: np.ndarray, goal: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] > allowed:
            raise ZeroDivisionError("in the callable")
        return euclidean(start, goal)

    allowed = 0
    with pytest.raises(ZeroDivisionError, match="in the callable"):
        isochrone.Planner(fails_later, walks, states=50)
    allowed = 10**6
    planner = isochrone.Planner(fails_later, walks, states=50, max_edge_steps=5)
    allowed = 0
    for call in (planner.plan, planner.next, planner.is_reachable):
        with pytest.raises(ZeroDivisionError, match="in the callable"):
            call([1, 1], [9, 9])
    # The error is raised once.
    allowed = 10**6
    planner.next([1, 1], [9, 9])


@pytest.mark.parametrize(
    "wrong",
    [lambda start, goal: np.zeros(3), lambda start, goal: "text", lambda start, goal: None, lambda start: 0],
    ids=["size", "type", "none", "signature"],
)
def test_wrong_results_of_a_callable_are_errors(wrong: Any, walks: isochrone.Dataset) -> None:
    with pytest.raises((isochrone.IsochroneError, TypeError)):
        isochrone.Planner(wrong, walks, states=50)


def test_a_goal_without_a_path_gives_none(islands: isochrone.Dataset) -> None:
    graph = isochrone.Planner(euclidean, islands, max_edge_steps=3, states=islands.n_transitions)
    recorded = isochrone.Planner(isochrone.refine(islands), islands)
    for planner in (graph, recorded):
        assert planner.plan([1, 1], [1005, 1005]) is None
        assert planner.plan([1, 1], [15, 15]) is not None
        reachable = planner.is_reachable([[1, 1], [1, 1]], [[1005, 1005], [15, 15]])
        assert reachable.tolist() == [False, True]
        # Without a path, the next waypoint is the goal.
        np.testing.assert_array_equal(planner.next([1, 1], [1005, 1005]), [1005, 1005])
    assert isochrone.refine(islands).gap([1, 1], [1005, 1005]) is not None


def test_the_next_waypoint_is_on_the_path(walks: isochrone.Dataset, rows: np.ndarray) -> None:
    planner = isochrone.Planner(euclidean, walks, max_edge_steps=2, states=300)
    path = planner.plan([1, 1], [9, 9])
    np.testing.assert_array_equal(planner.next([1, 1], [9, 9]), path.states[1])
    assert planner.next(rows[:70].reshape(7, 10, 2), [9, 9]).shape == (7, 10, 2)
    assert planner.is_reachable(rows[:70], rows[70:140]).shape == (70,)


def test_a_planned_policy_follows_the_waypoints(
    model: isochrone.Model, walks: isochrone.Dataset, refined: isochrone.RefinedDistance, rows: np.ndarray
) -> None:
    for planner in (isochrone.Planner(euclidean, walks, max_edge_steps=2, states=200), isochrone.Planner(refined, walks)):
        policy = planner.policy(model)
        actions = policy(rows[:100], [9, 9])
        assert actions.shape == (100, 2) and policy(rows[0], [9, 9]).shape == (2,)
        np.testing.assert_array_equal(actions, model.policy(rows[:100], planner.next(rows[:100], [9, 9])))
    again = pickle.loads(pickle.dumps(policy))
    np.testing.assert_array_equal(again(rows[:100], [9, 9]), actions)
    with pytest.raises(isochrone.IsochroneError, match="NaN"):
        policy([np.nan, 0], [9, 9])


def test_distances_on_top_of_distances_are_pickled(
    model: isochrone.Model, walks: isochrone.Dataset, refined: isochrone.RefinedDistance, rows: np.ndarray
) -> None:
    distances = [
        isochrone.calibrate(model, walks),
        isochrone.round_trip(model, walks),
        isochrone.Distance(model.distance, walks),
        isochrone.calibrate(isochrone.round_trip(model, walks), walks, seed=1),
        refined,
    ]
    for distance in distances:
        again = pickle.loads(pickle.dumps(distance))
        np.testing.assert_array_equal(again.distance(rows, rows[::-1]), distance.distance(rows, rows[::-1]))
    both = np.maximum(model.distance(rows, rows[::-1]), model.distance(rows[::-1], rows))
    np.testing.assert_array_equal(distances[1].distance(rows, rows[::-1]), both)


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("method='best'", {"method": "best"}),
    ("needs a radius", {"method": "greedy"}),
    ("needs a RefinedDistance", {"method": "recorded"}),
    ("max_edge_steps=-1", {"max_edge_steps": -1}),
    ("states=0", {"states": 0}),
    ("states=10001", {"states": 10_001}),
]


@pytest.mark.parametrize(("message", "options"), REFUSED, ids=[message for message, _ in REFUSED])
def test_invalid_options_are_refused(message: str, options: dict[str, Any], walks: isochrone.Dataset, hint: Hint) -> None:
    with pytest.raises(isochrone.IsochroneError, match=message) as raised:
        isochrone.Planner(euclidean, walks, **options)
    assert hint(raised)


def test_other_data_are_refused(
    refined: isochrone.RefinedDistance, model: isochrone.Model, islands: isochrone.Dataset, hint: Hint
) -> None:
    with pytest.raises(isochrone.IsochroneError, match="other data") as raised:
        isochrone.Planner(refined, islands)
    assert hint(raised)
    wide = isochrone.from_arrays(np.ones((4, 3)))
    with pytest.raises(isochrone.IsochroneError, match="width 3") as raised:
        isochrone.Planner(model, wide)
    assert hint(raised)
    with pytest.raises(TypeError, match="not a distance"):
        isochrone.Planner(3, wide)
