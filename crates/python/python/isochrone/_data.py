"""Datasets from arrays, episodes, tables and files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from isochrone._isochrone import Builder, DataError, Dataset, load_file, load_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float32]

Ends: TypeAlias = Literal["timeouts", "terminals", "either"]


def load(
    path: str | os.PathLike[str],
    *,
    observations: Sequence[str] = (),
    actions: Sequence[str] = (),
    episode: str | None = None,
    reward: str | None = None,
    time: str | None = None,
    ends: Ends | None = None,
    fps: float | None = None,
    goal: tuple[int, int] | None = None,
    action_range: tuple[float, float] | None = None,
    extras: bool = False,
) -> Dataset:
    """Load a dataset from a file or folder.

    The formats are those of the command: OGBench (.npz), D4RL (.hdf5), Minari and LeRobot folders,
    Parquet, CSV, and isochrone's own .arrow files, which are mapped instead of read.

    Parameters
    ----------
    path
        The file or folder.
    observations, actions
        The columns that make up an observation and an action; by default, those that the format
        calls so.
    episode, reward, time
        Tables: the columns with the episode, the reward, and the time in seconds.
    ends
        D4RL: the flags that end an episode.
    fps
        The number of states per second, for distances in seconds.
    goal
        The dimensions of an observation that form the goal space: the first, and the one after the
        last.
    action_range
        The smallest and largest value of an action.
    extras
        Whether further columns with a row per state are kept.

    Examples
    --------
    >>> data = isochrone.load("examples/walks.csv", observations=["x", "y"])  # doctest: +SKIP
    """
    options = _options(observations, actions, episode, reward, time, ends, fps, goal, action_range, extras)
    return load_file(path, options)


def from_table(
    table: Any,
    *,
    observations: Sequence[str] = (),
    actions: Sequence[str] = (),
    episode: str | None = None,
    reward: str | None = None,
    time: str | None = None,
    fps: float | None = None,
    goal: tuple[int, int] | None = None,
    action_range: tuple[float, float] | None = None,
    extras: bool = False,
) -> Dataset:
    """Make a dataset from a table with one row per state.

    Any table with the Arrow PyCapsule interface (``__arrow_c_stream__``) works: pandas, polars,
    pyarrow, DuckDB. Columns hold numbers, or lists of numbers of the same length. The rows of an
    episode follow each other; the action of a row leads to the next row.

    Parameters
    ----------
    table
        The table.
    observations, actions, episode, reward, time, fps, goal, action_range, extras
        As for `load`.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"run": [0, 0, 0, 1, 1], "x": [0.0, 1.0, 2.0, 5.0, 4.0]})
    >>> isochrone.from_table(table, observations=["x"], episode="run")
    <isochrone.Dataset: 2 episodes, 3 transitions, observations of width 1, actions of width 0>
    """
    options = _options(observations, actions, episode, reward, time, None, fps, goal, action_range, extras)
    return load_table(table, options)


def _options(
    observations: Sequence[str],
    actions: Sequence[str],
    episode: str | None,
    reward: str | None,
    time: str | None,
    ends: Ends | None,
    fps: float | None,
    goal: tuple[int, int] | None,
    action_range: tuple[float, float] | None,
    extras: bool,
) -> dict[str, Any]:
    for name, columns in (("observations", observations), ("actions", actions)):
        if isinstance(columns, str):
            raise TypeError(f"{name}={columns!r}: pass a list of columns, such as [{columns!r}]")
    return {
        "observations": list(observations),
        "actions": list(actions),
        "episode": episode,
        "reward": reward,
        "time": time,
        "ends": ends,
        "fps": fps,
        "goal": goal,
        "action_range": action_range,
        "extras": extras,
    }


def from_lerobot(
    path: str | os.PathLike[str],
    *,
    observations: Sequence[str] = (),
    actions: Sequence[str] = (),
    goal: tuple[int, int] | None = None,
    extras: bool = False,
) -> Dataset:
    """Load a LeRobot dataset from its folder, or from the Hugging Face cache by its name.

    Nothing is downloaded: ``hf download NAME --repo-type dataset`` fetches a dataset.

    Parameters
    ----------
    path
        A folder with ``meta/info.json``, or a name such as ``"lerobot/pusht"`` that was downloaded
        before.
    observations, actions, goal, extras
        As for `load`.
    """
    folder = os.fspath(path)
    if not os.path.isdir(folder):
        folder = _cached(folder)
    return load(folder, observations=observations, actions=actions, goal=goal, extras=extras)


def _cached(name: str) -> str:
    """Return the folder of a dataset that LeRobot or the Hugging Face hub downloaded before."""
    cache = os.path.expanduser(os.environ.get("HF_HOME") or "~/.cache/huggingface")
    lerobot = os.environ.get("HF_LEROBOT_HOME") or os.path.join(cache, "lerobot")
    candidates = [os.path.join(lerobot, name)]
    snapshots = os.path.join(cache, "hub", "datasets--" + name.replace("/", "--"), "snapshots")
    if os.path.isdir(snapshots):
        candidates += [os.path.join(snapshots, revision) for revision in sorted(os.listdir(snapshots))]
    for folder in reversed(candidates):
        if os.path.isfile(os.path.join(folder, "meta", "info.json")):
            return folder
    error = FileNotFoundError(f"{name}: neither a folder nor a dataset in {cache}")
    error.add_note(f"hint: download it with `hf download {name} --repo-type dataset`")
    raise error


def from_arrays(
    observations: ArrayLike,
    actions: ArrayLike | None = None,
    terminals: ArrayLike | None = None,
    rewards: ArrayLike | None = None,
    *,
    fps: float | None = None,
    goal: tuple[int, int] | None = None,
    action_range: tuple[float, float] | None = None,
) -> Dataset:
    """Make a dataset from flat arrays with one row per state, as OGBench stores them.

    Parameters
    ----------
    observations
        Shape ``(n, observation width)``.
    actions
        Shape ``(n, action width)``. The action of the last row of an episode is ignored.
    terminals
        Shape ``(n,)``, true on the last row of each episode; without it, all rows are one episode.
    rewards
        Shape ``(n,)``.
    fps, goal, action_range
        As for `load`.

    Examples
    --------
    >>> import numpy as np
    >>> states = np.arange(10.0).reshape(5, 2)
    >>> isochrone.from_arrays(states, terminals=[0, 0, 1, 0, 1])
    <isochrone.Dataset: 2 episodes, 3 transitions, observations of width 2, actions of width 0>
    """
    import numpy as np

    states = np.ascontiguousarray(observations, np.float32)
    if states.ndim != 2:
        raise _invalid(
            f"observations have shape {states.shape}", "pass shape (n, observation width), one row per state"
        )
    n = len(states)
    acts = None if actions is None else _column(actions, "actions", n)
    pays = None if rewards is None else _column(rewards, "rewards", n)
    if terminals is None:
        ends: NDArray[np.bool_] = np.zeros(n, np.bool_)
    else:
        ends = _column(terminals, "terminals", n).reshape(n) > 0
    if n:
        ends[-1] = True
    width = 0 if acts is None else acts.shape[1]
    builder = _builder(states.shape[1], width, pays is not None, fps, goal, action_range)
    first = 0
    for last in np.flatnonzero(ends).tolist():
        if last > first:
            builder.push(
                states[first : last + 1],
                None if acts is None else acts[first:last],
                None if pays is None else pays[first:last],
            )
        first = last + 1
    return builder.finish()


def from_episodes(
    episodes: Iterable[Any],
    *,
    observation: str = "observation",
    fps: float | None = None,
    goal: tuple[int, int] | None = None,
    action_range: tuple[float, float] | None = None,
) -> Dataset:
    """Make a dataset from episodes of T + 1 observations and T actions.

    Parameters
    ----------
    episodes
        Mappings, or objects with attributes: ``observations`` and, if present, ``actions``,
        ``rewards``, ``terminations`` and ``truncations``; or arrays of observations alone. If there are as many actions as
        observations, the last action is ignored.
    observation
        The entry to use if observations are dictionaries.
    fps, goal, action_range
        As for `load`.

    Examples
    --------
    >>> import numpy as np
    >>> episode = {"observations": np.zeros((4, 3)), "actions": np.zeros((3, 2))}
    >>> isochrone.from_episodes([episode])
    <isochrone.Dataset: 1 episodes, 3 transitions, observations of width 3, actions of width 2>
    """
    builder: Builder | None = None
    widths = (0, 0)
    for number, episode in enumerate(episodes):
        states = _rows(_field(episode, "observations"), observation, f"episode {number}: observations")
        acts = _field(episode, "actions")
        pays = _field(episode, "rewards")
        steps = len(states) - 1
        action_rows = None if acts is None else _rows(acts, observation, f"episode {number}: actions")
        if builder is None:
            width = 0 if action_rows is None else action_rows.shape[1]
            widths = (states.shape[1], width)
            builder = _builder(*widths, pays is not None, fps, goal, action_range)
        # The builder sees plain numbers: rows of twice the width would pass as twice as many rows.
        for name, rows, width in (("observations", states, widths[0]), ("actions", action_rows, widths[1])):
            if rows is not None and rows.shape[1] != width:
                problem = f"episode {number}: {name} have width {rows.shape[1]} instead of {width}"
                raise _invalid(problem, "all episodes have the widths of the first")
        builder.push(
            states,
            None if action_rows is None else _transitions(action_rows, steps),
            None if pays is None else _transitions(_rows(pays, observation, f"episode {number}: rewards"), steps),
            ending=_ending(episode),
        )
    if builder is None:
        raise _invalid("no episodes", "pass at least one")
    return builder.finish()


def from_minari(
    dataset: Any,
    *,
    observation: str = "observation",
    fps: float | None = None,
    goal: tuple[int, int] | None = None,
    action_range: tuple[float, float] | None = None,
) -> Dataset:
    """Make a dataset from a Minari dataset, or from the name of a local one.

    Parameters
    ----------
    dataset
        A ``minari.MinariDataset``, or a name such as ``"D4RL/pointmaze/umaze-v2"`` that was
        downloaded before.
    observation
        The entry to use if observations are dictionaries.
    fps, goal, action_range
        As for `load`.
    """
    if isinstance(dataset, str):
        import minari  # type: ignore[import-untyped, import-not-found, unused-ignore]

        source: Any = minari.load_dataset(dataset)
    else:
        source = dataset
    space: Any = getattr(source, "action_space", None)
    if action_range is None and hasattr(space, "low"):
        action_range = (float(space.low.min()), float(space.high.max()))
    return from_episodes(
        source.iterate_episodes(), observation=observation, fps=fps, goal=goal, action_range=action_range
    )


def _builder(
    observation_width: int,
    action_width: int,
    has_rewards: bool,
    fps: float | None,
    goal: tuple[int, int] | None,
    action_range: tuple[float, float] | None,
) -> Builder:
    if fps is not None and not 0.0 < fps < float("inf"):
        raise _invalid(f"fps={fps}", "pass a positive number")
    action: dict[str, Any] = {"name": "actions", "width": action_width}
    if action_range is not None:
        low, high = action_range
        if not low < high:
            raise _invalid(f"action_range={action_range}", "pass the smallest and the largest value")
        action["bounds"] = [{"low": low, "high": high}] * action_width
    spec: dict[str, Any] = {
        "observation": {"name": "observations", "width": observation_width},
        "action": action,
        "has_rewards": has_rewards,
        "has_timestamps": False,
        "extras": [],
        "frames_per_second": fps,
        "goal": None if goal is None else {"start": goal[0], "end": goal[1]},
    }
    return Builder(json.dumps(spec))


def _column(values: ArrayLike, name: str, n: int) -> Floats:
    import numpy as np

    column = np.ascontiguousarray(values, np.float32)
    if column.ndim == 0 or len(column) != n:
        raise _invalid(f"{name} have shape {column.shape}", f"pass one row for each of the {n} observations")
    return column.reshape(n, -1)


def _field(episode: Any, name: str) -> Any:
    if hasattr(episode, "__array__") or isinstance(episode, (list, tuple)):
        return cast("Any", episode) if name == "observations" else None
    if isinstance(episode, Mapping):
        return cast("Mapping[str, Any]", episode).get(name)
    return getattr(episode, name, None)


def _rows(values: Any, entry: str, name: str) -> Floats:
    import numpy as np

    if isinstance(values, Mapping):
        known = cast("Mapping[str, Any]", values)
        if entry not in known:
            raise _invalid(f"{name} have no entry {entry!r}", f"pass observation=, one of {', '.join(known)}")
        values = known[entry]
    if values is None:
        raise _invalid(f"{name} are missing", "an episode has observations")
    rows = np.ascontiguousarray(values, np.float32)
    if rows.ndim == 0:
        raise _invalid(f"{name} are a single number", "pass one row per state")
    return rows.reshape(len(rows), -1)


def _transitions(rows: Floats, steps: int) -> Floats:
    """Ignore the action or reward of the last state, which leads out of the episode."""
    return rows[:steps] if len(rows) == steps + 1 else rows


def _ending(episode: Any) -> Literal["unknown", "terminated", "truncated"]:
    terminations: Any = _field(episode, "terminations")
    truncations: Any = _field(episode, "truncations")
    if terminations is not None and len(terminations) and bool(terminations[-1]):
        return "terminated"
    if truncations is not None and len(truncations) and bool(truncations[-1]):
        return "truncated"
    return "unknown"


def _invalid(problem: str, hint: str) -> DataError:
    error = DataError(problem)
    error.add_note(f"hint: {hint}")
    return error
