"""Exact distances of tabular processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from isochrone._isochrone import EventLog, ExactDistances, IsochroneError, solve, solve_all_pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Method: TypeAlias = Literal["bfs", "lu", "policy_iteration"]


class _Rows:
    """The rows of all actions on top of each other, in compressed form."""

    def __init__(
        self,
        n_states: int,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int64],
        probabilities: NDArray[np.float64],
    ) -> None:
        self.n_states = n_states
        self.indptr = indptr
        self.indices = indices
        self.probabilities = probabilities


def exact(
    transitions: Any,
    goal: int | Sequence[int],
    *,
    discount: float = 0.99,
    tolerance: float = 1e-9,
    method: Method | None = None,
) -> ExactDistances:
    """Compute the distance from every state to a goal, with a certified error bound.

    Parameters
    ----------
    transitions
        A Markov chain ``(states, states)``, or the matrices of the actions: ``(actions, states,
        states)``, or a list of matrices. Matrices are NumPy arrays or SciPy sparse matrices. Rows
        sum to 1; an action with an empty row is not available. Also the ``P`` of Gymnasium's
        toy-text environments: ``env.unwrapped.P``.
    goal
        A state, or several: the first that is reached counts.
    discount
        The discount per step; 0.99 is an effective horizon of about 100 steps.
    tolerance
        The relative accuracy of stochastic control.
    method
        The solver; chosen automatically by default.

    Examples
    --------
    >>> import numpy as np
    >>> isochrone.exact(np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]), goal=2).steps.round(2)
    array([3.96, 2.96, 0.  ])
    """
    import numpy as np

    goals = cast("list[int]", np.atleast_1d(np.asarray(goal)).tolist())
    if negative := [state for state in goals if state < 0]:
        error = IsochroneError(f"goal {negative[0]} is out of range")
        error.add_note("hint: states are numbered from 0")
        raise error
    return solve(_rows(transitions), goals, discount, tolerance, method)


def exact_all_pairs(
    transitions: Any,
    *,
    discount: float = 0.99,
    tolerance: float = 1e-9,
    method: Method | None = None,
) -> NDArray[np.float64]:
    """Compute the steps between all pairs of states, ``[from, to]``.

    Parameters
    ----------
    transitions, discount, tolerance, method
        As for `exact`.

    Examples
    --------
    >>> import numpy as np
    >>> isochrone.exact_all_pairs(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])).round(2)
    array([[ 0.,  1.,  2.],
           [inf,  0.,  1.],
           [inf, inf,  0.]])
    """
    return solve_all_pairs(_rows(transitions), discount, tolerance, method)


def event_log(
    table: Any,
    goal: str | Sequence[str],
    *,
    case: str | None = None,
    activity: str | None = None,
    timestamp: str | None = None,
    discount: float = 0.99,
) -> dict[str, Any]:
    """Compute how far every activity of an event log is from a goal activity.

    Parameters
    ----------
    table
        A table with one row per event, with the Arrow PyCapsule interface: pandas, polars, pyarrow,
        DuckDB.
    goal
        An activity, or several; ``"(end)"`` is the end of a case.
    case, activity, timestamp
        The columns; by default, common names such as pm4py's ``case:concept:name``.
    discount
        The discount per event of ``distance_steps``.

    Returns
    -------
    dict
        Columns for ``pandas.DataFrame``: ``activity``, ``steps_if_reached``, ``reach_probability``,
        ``seconds_if_reached``, ``distance_steps`` and ``visits``.

    Examples
    --------
    >>> import pyarrow
    >>> log = pyarrow.table({"case": [1, 1, 2, 2], "activity": ["order", "pay", "order", "pay"],
    ...                      "timestamp": [0.0, 60.0, 0.0, 120.0]})
    >>> isochrone.event_log(log, "pay")["seconds_if_reached"][0]
    np.float64(90.0)
    """
    goals = [goal] if isinstance(goal, str) else list(goal)
    return EventLog(table, case, activity, timestamp).to_goal(goals, discount)


def _rows(transitions: Any) -> _Rows:
    if isinstance(transitions, Mapping):
        return _of_gymnasium(cast("Mapping[int, Any]", transitions))
    if hasattr(transitions, "tocsr"):
        return _of_sparse([transitions])
    matrices: Any = transitions
    if isinstance(transitions, Sequence) and transitions and any(hasattr(matrix, "tocsr") for matrix in matrices):
        return _of_sparse(matrices)
    return _of_dense(transitions)


def _of_dense(transitions: Any) -> _Rows:
    import numpy as np

    dense = np.asarray(transitions, np.float64)
    if dense.ndim == 2:
        dense = dense[None]
    if dense.ndim != 3 or dense.shape[1] != dense.shape[2] or not dense.size:
        error = IsochroneError(f"transitions have shape {dense.shape}")
        error.add_note("hint: pass (states, states) or (actions, states, states)")
        raise error
    rows = dense.reshape(-1, dense.shape[2])
    row, column = np.nonzero(rows)
    return _compressed(dense.shape[2], len(rows), row, column, rows[row, column])


def _of_sparse(matrices: Sequence[Any]) -> _Rows:
    import numpy as np

    parts: list[Any] = [
        matrix.tocsr() if hasattr(matrix, "tocsr") else _sparse(matrix) for matrix in matrices
    ]
    shapes = [tuple(cast("tuple[int, int]", part.shape)) for part in parts]
    n = shapes[0][1]
    if not n or any(shape[1] != n or shape[0] % n for shape in shapes):
        error = IsochroneError(f"transitions have shapes {shapes}")
        error.add_note("hint: pass one (states, states) matrix per action")
        raise error
    counts = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = np.concatenate([part.indices for part in parts]).astype(np.int64)
    probabilities = np.concatenate([part.data for part in parts]).astype(np.float64)
    return _Rows(n, indptr, indices, probabilities)


def _sparse(matrix: Any) -> Any:
    # One matrix of the list is sparse, so SciPy is installed.
    from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

    return sparse.csr_array(matrix)


def _of_gymnasium(transitions: Mapping[int, Any]) -> _Rows:
    """``P[state][action]`` is a list of ``(probability, next state, reward, terminated)``.

    A terminated transition stays where it ends: Gymnasium's tables let episodes go on from there.
    """
    import numpy as np

    if not transitions:
        error = IsochroneError("transitions are empty")
        error.add_note("hint: pass env.unwrapped.P")
        raise error
    n_states = len(transitions)
    n_actions = max(len(actions) for actions in transitions.values())
    absorbing = {
        int(successor)
        for actions in transitions.values()
        for outcomes in actions.values()
        for _, successor, _, terminated in outcomes
        if terminated
    }
    entries = {(action * n_states + state, state): 1.0 for state in absorbing for action in range(n_actions)}
    for state, actions in transitions.items():
        if state in absorbing:
            continue
        for action, outcomes in actions.items():
            for probability, successor, _, _ in outcomes:
                key = (action * n_states + state, int(successor))
                entries[key] = entries.get(key, 0.0) + float(probability)
    keys = sorted(key for key, probability in entries.items() if probability > 0.0)
    rows = np.array([key[0] for key in keys], np.int64)
    columns = np.array([key[1] for key in keys], np.int64)
    probabilities = np.array([entries[key] for key in keys], np.float64)
    return _compressed(n_states, n_actions * n_states, rows, columns, probabilities)


def _compressed(n_states: int, n_rows: int, row: Any, column: Any, probabilities: Any) -> _Rows:
    import numpy as np

    indptr = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n_rows), out=indptr[1:])
    return _Rows(
        n_states,
        indptr,
        np.ascontiguousarray(column, np.int64),
        np.ascontiguousarray(probabilities, np.float64),
    )
