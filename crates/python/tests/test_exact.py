from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isochrone

Hint = Callable[[pytest.ExceptionInfo[Any]], str]

LINE = np.eye(5, k=1)
LINE[4, 4] = 1


def value_iteration(transitions: np.ndarray, goals: list[int], discount: float) -> np.ndarray:
    """Returns -log max E[discount ** hitting time] of ``(actions, states, states)``, in nats."""
    values = np.zeros(transitions.shape[1])
    for _ in range(800):
        values[goals] = 1
        values = discount * (transitions @ values).max(0)
    values[goals] = 1
    with np.errstate(divide="ignore"):
        return -np.log(values)


@pytest.fixture(scope="module")
def dense() -> np.ndarray:
    """Three actions over 30 states, all of which reach each other."""
    return np.random.default_rng(0).dirichlet(np.full(30, 0.1), (3, 30))


def test_a_line_is_exact() -> None:
    found = isochrone.exact(LINE, goal=4)
    np.testing.assert_allclose(found.steps, [4, 3, 2, 1, 0], atol=1e-12)
    assert found.error_bound < 1e-9 and found.method == "bfs" and len(found) == 5
    assert found.policy.tolist() == [0, 0, 0, 0, -1]
    assert np.isinf(isochrone.exact(LINE, goal=0).steps[1:]).all()
    np.testing.assert_allclose(isochrone.exact(LINE, goal=[4, 2]).steps, [2, 1, 0, 1, 0], atol=1e-12)


def test_dense_matrices_agree_with_value_iteration(dense: np.ndarray) -> None:
    found = isochrone.exact(dense, goal=7, discount=0.95)
    np.testing.assert_allclose(found.nats, value_iteration(dense, [7], 0.95), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.steps, found.nats / -np.log(0.95), rtol=1e-9)
    # The policy is greedy with respect to the values.
    values = np.exp(-found.nats)
    gains = (dense @ values)[:, np.arange(30) != 7]
    chosen = found.policy[np.arange(30) != 7]
    np.testing.assert_allclose(gains[chosen, np.arange(29)], gains.max(0), rtol=1e-8)


@pytest.mark.parametrize("given", ["lists", "list", "csr", "csc stack", "coo", "mixed"])
def test_all_representations_give_the_same_bits(dense: np.ndarray, given: str) -> None:
    transitions: Any = dense
    if given in ("lists", "list"):
        transitions = dense.tolist() if given == "lists" else list(dense)
    else:
        sparse = pytest.importorskip("scipy.sparse")
        transitions = {
            "csr": lambda: [sparse.csr_matrix(matrix) for matrix in dense],
            "csc stack": lambda: sparse.vstack([sparse.csc_array(matrix) for matrix in dense]),
            "coo": lambda: tuple(sparse.coo_array(matrix) for matrix in dense),
            "mixed": lambda: [sparse.csr_array(dense[0]), *dense[1:]],
        }[given]()
    expected, found = (isochrone.exact(one, goal=7, discount=0.95) for one in (dense, transitions))
    np.testing.assert_array_equal(found.steps, expected.steps)
    np.testing.assert_array_equal(found.policy, expected.policy)


def test_an_empty_row_is_an_action_that_is_not_available(dense: np.ndarray) -> None:
    fewer = dense.copy()
    fewer[2] = 0
    np.testing.assert_array_equal(isochrone.exact(fewer, 7).steps, isochrone.exact(dense[:2], 7).steps)


@pytest.mark.parametrize("method", ["lu", "policy_iteration"])
def test_methods_agree(dense: np.ndarray, method: Any) -> None:
    found = isochrone.exact(dense[0], 3, discount=0.95, method=method)
    assert found.method == method
    np.testing.assert_allclose(found.nats, value_iteration(dense[:1], [3], 0.95), rtol=1e-8, atol=1e-12)


def test_all_pairs_are_the_columns_of_exact(dense: np.ndarray) -> None:
    pairs = isochrone.exact_all_pairs(dense, discount=0.95)
    columns = [isochrone.exact(dense, goal, discount=0.95).steps for goal in range(30)]
    np.testing.assert_allclose(pairs, np.stack(columns, axis=1), rtol=1e-8)
    np.testing.assert_array_equal(isochrone.exact_all_pairs(LINE)[2], [np.inf, np.inf, 0, 1, 2])


@pytest.mark.parametrize("is_slippery", [True, False])
@pytest.mark.parametrize("name", ["FrozenLake", "CliffWalking", "Taxi"])
def test_tables_of_gymnasium_agree_with_value_iteration(name: str, is_slippery: bool) -> None:
    toy_text = pytest.importorskip("gymnasium.envs.toy_text")
    environments: dict[str, Callable[[], Any]] = {
        "FrozenLake": lambda: toy_text.FrozenLakeEnv(map_name="8x8", is_slippery=is_slippery),
        "CliffWalking": lambda: toy_text.CliffWalkingEnv(is_slippery=is_slippery),
        "Taxi": lambda: toy_text.TaxiEnv(is_rainy=is_slippery),
    }
    table = environments[name]().P
    transitions = np.zeros((len(table[0]), len(table), len(table)))
    ends: dict[int, float] = {}
    for state, actions in table.items():
        for action, outcomes in actions.items():
            for probability, successor, reward, terminated in outcomes:
                transitions[action, state, successor] += probability
                if terminated:
                    ends[int(successor)] = max(reward, ends.get(int(successor), -np.inf))
    # Episodes end in holes, too: they are left by no action.
    for state in ends:
        transitions[:, state] = np.eye(len(table))[state]
    goals = [state for state, reward in ends.items() if reward == max(ends.values())]
    found = isochrone.exact(table, goals, discount=0.95)
    np.testing.assert_allclose(found.nats, value_iteration(transitions, goals, 0.95), rtol=1e-7, atol=1e-12)
    assert np.isinf(found.steps).any() == (name == "FrozenLake")


# Event logs


EVENTS: dict[str, list[Any]] = {
    "case:concept:name": ["1", "1", "1", "2", "2"],
    "concept:name": ["order", "check", "pay", "order", "pay"],
    "time:timestamp": ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-01", "2026-01-05"],
}
DAY = 86_400


@pytest.fixture()
def log() -> Any:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(EVENTS)
    frame["time:timestamp"] = pd.to_datetime(frame["time:timestamp"], utc=True)
    return frame


def test_event_logs_with_the_columns_of_pm4py(log: Any) -> None:
    import pandas as pd

    table = pd.DataFrame(isochrone.event_log(log, "pay", discount=0.9)).set_index("activity")
    assert table.loc["order", "steps_if_reached"] == 1.5
    assert table.loc["order", "seconds_if_reached"] == pytest.approx(3 * DAY)
    assert table.loc["check", "seconds_if_reached"] == pytest.approx(DAY)
    assert table.loc["pay", "distance_steps"] == 0 and table.loc["(end)", "reach_probability"] == 0
    assert table["visits"].loc[["order", "check", "pay"]].tolist() == [2, 1, 2]
    expected = np.log(np.mean([0.9, 0.9**2])) / np.log(0.9)
    assert table.loc["order", "distance_steps"] == pytest.approx(expected)
    end = pd.DataFrame(isochrone.event_log(log, "(end)")).set_index("activity")
    assert end.loc["check", "steps_if_reached"] == 2


def test_event_logs_in_other_forms(log: Any) -> None:
    expected = isochrone.event_log(log, ["pay", "check"])
    names = {"case:concept:name": "k", "concept:name": "what", "time:timestamp": "when"}
    forms: list[tuple[Any, dict[str, str]]] = [
        (log.rename(columns=names), {"case": "k", "activity": "what", "timestamp": "when"}),
        (log.assign(**{"concept:name": log["concept:name"].astype("category")}), {}),
        (log.assign(**{"case:concept:name": [1, 1, 1, 2, 2]}), {}),
        (log.assign(**{"time:timestamp": log["time:timestamp"].dt.tz_localize(None)}), {}),
        (log.assign(**{"time:timestamp": EVENTS["time:timestamp"]}), {}),
        (pytest.importorskip("pyarrow").table(log), {}),
    ]
    for form, columns in forms:
        found = isochrone.event_log(form, ["pay", "check"], **columns)
        assert found["activity"] == expected["activity"]
        for name in ("steps_if_reached", "seconds_if_reached", "distance_steps", "reach_probability"):
            np.testing.assert_array_equal(found[name], expected[name])


def test_errors_of_event_logs(log: Any, hint: Hint) -> None:
    with pytest.raises(isochrone.IsochroneError, match="'ship': unknown activity") as raised:
        isochrone.event_log(log, "ship")
    assert "order, check, pay" in hint(raised)
    with pytest.raises(isochrone.DataError, match="looks like the case") as raised:
        isochrone.event_log(log.rename(columns={"case:concept:name": "k"}), "pay")
    assert "`case`" in hint(raised)
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        isochrone.event_log([], "pay")


# The class, and errors


def test_results_are_pickled(dense: np.ndarray) -> None:
    found = isochrone.exact(dense, 7)
    again = pickle.loads(pickle.dumps(found))
    for name in ("steps", "nats", "policy", "error_bound", "method"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert repr(again) == repr(found)


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("sum to 0.5", lambda: isochrone.exact([[0.5, 0], [0, 1]], goal=1)),
    ("not in", lambda: isochrone.exact([[-1.0, 2.0], [0, 1]], goal=1)),
    ("NaN", lambda: isochrone.exact([[np.nan, 0], [0, 1]], goal=1)),
    ("goal 5 is out of range", lambda: isochrone.exact(LINE, goal=5)),
    ("goal -1 is out of range", lambda: isochrone.exact(LINE, goal=-1)),
    ("no goal", lambda: isochrone.exact(LINE, goal=[])),
    ("discount", lambda: isochrone.exact(LINE, goal=4, discount=1.0)),
    ("deterministic", lambda: isochrone.exact(np.full((2, 2), 0.5), goal=0, method="bfs")),
    ("method='dp'", lambda: isochrone.exact(LINE, goal=0, method="dp")),  # type: ignore[arg-type]
    ("shape", lambda: isochrone.exact(np.ones((2, 3)), goal=0)),
    ("shape", lambda: isochrone.exact(np.zeros((0, 0)), goal=0)),
    ("empty", lambda: isochrone.exact({}, goal=0)),
]


@pytest.mark.parametrize(("message", "call"), REFUSED, ids=[message for message, _ in REFUSED])
def test_errors_have_a_message_and_a_hint(message: str, call: Callable[[], object], hint: Hint) -> None:
    with pytest.raises(isochrone.IsochroneError, match=message) as raised:
        call()
    assert hint(raised)
