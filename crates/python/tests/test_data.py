from __future__ import annotations

import gc
import importlib.util
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import isochrone

STATES = np.arange(14, dtype=np.float32).reshape(7, 2)
ACTIONS = np.linspace(-1, 1, 7, dtype=np.float32).reshape(7, 1)
REWARDS = np.arange(7, dtype=np.float32)
EPISODES = [slice(0, 3), slice(3, 7)]

Hint = Callable[[pytest.ExceptionInfo[Any]], str]


def episode(rows: slice, ignored: int = 0) -> dict[str, Any]:
    last = rows.stop - 1 + ignored
    return {
        "observations": STATES[rows],
        "actions": ACTIONS[rows.start : last],
        "rewards": REWARDS[rows.start : last],
    }


@pytest.fixture(scope="module")
def flat() -> isochrone.Dataset:
    return isochrone.from_arrays(STATES, ACTIONS, [0, 0, 1, 0, 0, 0, 1], REWARDS)


@pytest.mark.parametrize("ignored", [0, 1])
@pytest.mark.parametrize("kind", ["mapping", "object", "dictionary observations", "lists"])
def test_arrays_and_episodes_are_the_same_data(flat: isochrone.Dataset, kind: str, ignored: int) -> None:
    episodes: list[Any] = [episode(rows, ignored) for rows in EPISODES]
    if kind == "object":
        episodes = [SimpleNamespace(**given) for given in episodes]
    elif kind == "lists":
        episodes = [{name: values.tolist() for name, values in given.items()} for given in episodes]
    elif kind == "dictionary observations":
        for given in episodes:
            given["observations"] = {"state": given["observations"], "goal": np.ones(3)}
    found = isochrone.from_episodes(iter(episodes), observation="state")
    assert found.content_hash == flat.content_hash
    assert (len(found), found.n_transitions, found.n_states) == (2, 5, 7)
    np.testing.assert_array_equal(found[1]["rewards"], REWARDS[3:6])


def test_arrays_without_terminals_are_one_episode() -> None:
    data = isochrone.from_arrays(STATES.astype(np.float64)[::-1])
    assert (len(data), data.n_transitions, data.action_width) == (1, 6, 0)
    assert data[0]["actions"].shape == (6, 0) and "rewards" not in data[0]
    np.testing.assert_array_equal(data[0]["observations"], STATES[::-1])


def test_endings_are_kept(walks: isochrone.Dataset) -> None:
    assert [walks[i]["ending"] for i in range(2)] == ["terminated", "truncated"]


def test_options_are_in_the_spec() -> None:
    data = isochrone.from_arrays(STATES, ACTIONS, fps=20, goal=(0, 1), action_range=(-2, 2))
    assert data.spec["frames_per_second"] == 20
    assert data.spec["goal"] == {"start": 0, "end": 1}
    assert data.spec["action"]["bounds"] == [{"low": -2, "high": 2}]


# Tables


COLUMNS: dict[str, Any] = {
    "case": ["b", "b", "b", "a", "a"],
    "number": [7, 7, 7, 3, 3],
    "x": [0.0, 1.0, 2.0, 5.0, 4.0],
    "xy": [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [5.0, 6.0], [4.0, 3.0]],
    "push": [1, -1, 0, 1, 0],
    "seconds": [0.0, 0.5, 1.0, 0.0, 0.5],
}
TIMES = ["2026-01-01T00:00:00", "2026-01-01T00:00:00.5", "2026-01-01T00:00:01"]


def table_of(library: str) -> Any:
    """COLUMNS as a table, with a column `when` of timestamps and a categorical `kind`."""
    times = [np.datetime64(TIMES[i], "us") for i in (0, 1, 2, 0, 1)]
    if library == "pyarrow":
        pa = pytest.importorskip("pyarrow")
        table = pa.table(COLUMNS).append_column("when", pa.array(times))
        return table.append_column("kind", pa.array(COLUMNS["case"]).dictionary_encode())
    if library == "polars":
        pl = pytest.importorskip("polars")
        table = pl.DataFrame({**COLUMNS, "when": np.array(times)})
        return table.with_columns(
            pl.col("case").cast(pl.Categorical).alias("kind"), pl.col("xy").cast(pl.Array(pl.Float32, 2))
        )
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({**COLUMNS, "when": times})
    frame["kind"] = frame["case"].astype("category")
    if library == "pandas":
        return frame
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("frame", frame)
    return connection.sql("select * replace (kind::ENUM('a', 'b') as kind, xy::FLOAT[2] as xy) from frame")


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", "duckdb"])
def test_a_table_gives_the_same_data_in_every_library(library: str) -> None:
    table = table_of(library)
    expected = isochrone.from_episodes(
        {
            "observations": np.column_stack([COLUMNS["x"][rows], COLUMNS["xy"][rows]]),
            "actions": np.array(COLUMNS["push"][rows])[:-1, None],
            "rewards": COLUMNS["x"][rows][:-1],
        }
        for rows in (slice(0, 3), slice(3, 5))
    )
    for name in ("case", "number", "kind"):
        found = isochrone.from_table(
            table, observations=["x", "xy"], actions=["push"], reward="x", episode=name
        )
        assert len(found) == len(expected) == 2
        for one, other in zip(found, expected, strict=True):
            for column in ("observations", "actions", "rewards"):
                np.testing.assert_array_equal(one[column], other[column])


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", "duckdb"])
def test_times_of_a_table_are_seconds(library: str) -> None:
    for name in ("seconds", "when"):
        data = isochrone.from_table(table_of(library), observations=["x"], episode="case", time=name)
        np.testing.assert_allclose(np.diff(data[0]["timestamps"]), 0.5)


def test_further_columns_of_a_table_are_kept_on_request() -> None:
    table = table_of("pyarrow").select(["number", "x", "xy", "push"])
    plain = isochrone.from_table(table, observations=["x"], episode="number")
    data = isochrone.from_table(table, observations=["x"], episode="number", extras=True)
    assert plain.spec["extras"] == []
    np.testing.assert_array_equal(data[0]["xy"], COLUMNS["xy"][:3])
    assert pickle.loads(pickle.dumps(data)).content_hash == data.content_hash


def test_errors_of_tables(hint: Hint) -> None:
    table = table_of("pyarrow")
    with pytest.raises(isochrone.DataError, match="no column 'z'") as raised:
        isochrone.from_table(table, observations=["z"], episode="case")
    assert "case" in hint(raised)
    with pytest.raises(isochrone.DataError, match="identifies episodes") as raised:
        isochrone.from_table(table.rename_columns(["c", "n", *table.column_names[2:]]), observations=["x"])
    assert "`episode`" in hint(raised)
    with pytest.raises(TypeError, match="list of columns"):
        isochrone.from_table(table, observations="x")
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        isochrone.from_table({"x": [1.0]}, observations=["x"])


# Files


@pytest.mark.parametrize("name", ["data.arrow", "data.npz", "minari"])
def test_every_writable_format_keeps_the_contents(walks: isochrone.Dataset, tmp_path: Path, name: str) -> None:
    walks.save(tmp_path / name)
    again = isochrone.load(tmp_path / name)
    assert again.content_hash == walks.content_hash
    assert again.path == tmp_path / name and walks.path is None
    # The content hash is that of observations and actions alone.
    for one, other in zip(again, walks, strict=True):
        np.testing.assert_array_equal(one["rewards"], other["rewards"])
        # OGBench's format has no endings.
        assert one["ending"] == ("unknown" if name == "data.npz" else other["ending"])


def test_fixtures_of_other_libraries_are_read(fixtures: Path) -> None:
    columns: dict[str, Any] = {
        "observations": ["x", "y", "height"],
        "actions": ["action_x", "action_y"],
        "episode": "trajectory",
    }
    files: list[tuple[str, dict[str, Any]]] = [
        ("ogbench.npz", {}),
        ("d4rl.hdf5", {"ends": "timeouts"}),
        ("minari/plain-v0", {}),
        ("minari/goal-v0", {}),
        ("table.csv", columns),
        ("table-zstd.parquet", columns),
    ]
    first = isochrone.load(fixtures / "ogbench.npz")
    for name, options in files:
        data = isochrone.load(fixtures / name, **options)
        assert (len(data), data.n_transitions) == (3, 23), name
        np.testing.assert_allclose(data[2]["observations"], first[2]["observations"], rtol=1e-5)


def test_lerobot(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hint: Hint
) -> None:
    data = isochrone.from_lerobot(fixtures / "lerobot", goal=(0, 2))
    assert (len(data), data.n_transitions, data.action_width) == (3, 23, 2)
    assert data.spec["frames_per_second"] == 10
    assert data.spec["observation"]["dimensions"] == ["x", "y", "height"]
    wide = isochrone.from_lerobot(fixtures / "lerobot", observations=["observation.embedding"], extras=True)
    assert wide.observation_width == 6
    # By name, in the caches of LeRobot and of the Hugging Face hub; nothing is downloaded.
    monkeypatch.delenv("HF_LEROBOT_HOME", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="lab/walk") as raised:
        isochrone.from_lerobot("lab/walk")
    assert "hf download lab/walk" in hint(raised)
    for cached in ("hub/datasets--lab--walk/snapshots/abc", "lerobot/lab/walk"):
        shutil.copytree(fixtures / "lerobot", tmp_path / cached)
        found = isochrone.from_lerobot("lab/walk", goal=(0, 2))
        assert found.content_hash == data.content_hash
        shutil.rmtree(tmp_path / cached)


@pytest.mark.filterwarnings("ignore::UserWarning:minari")
def test_minari(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    minari = pytest.importorskip("minari")
    gymnasium = pytest.importorskip("gymnasium")
    has_hdf5 = importlib.util.find_spec("h5py") is not None
    env = minari.DataCollector(
        gymnasium.make("Pendulum-v1", max_episode_steps=20), data_format="hdf5" if has_hdf5 else "arrow"
    )
    for seed in range(3):
        env.reset(seed=seed)
        is_done = False
        while not is_done:
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            is_done = terminated or truncated
    dataset = env.create_dataset(
        "test/pendulum-v0",
        algorithm_name="random",
        author="isochrone",
        author_email="isochrone@example.org",
        code_permalink="https://example.org",
    )
    data = isochrone.from_minari(dataset)
    assert (len(data), data.n_transitions, data.observation_width) == (3, 60, 3)
    assert data.spec["action"]["bounds"] == [{"low": -2, "high": 2}] and data[0]["ending"] == "truncated"
    assert isochrone.from_minari("test/pendulum-v0").content_hash == data.content_hash
    if has_hdf5:
        assert isochrone.load(tmp_path / "test" / "pendulum-v0").content_hash == data.content_hash


# The class


def test_views_are_not_copies_and_cannot_be_written(walks: isochrone.Dataset) -> None:
    first, again = walks[0]["observations"], walks[0]["observations"]
    assert np.shares_memory(first, again)
    assert not first.flags.writeable and not first.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        first.flags.writeable = True


def test_views_keep_their_owner_alive(tmp_path: Path) -> None:
    view = isochrone.from_arrays(np.ones((50_000, 3), np.float32))[0]["observations"][10:]
    isochrone.from_arrays(STATES).save(tmp_path / "mapped.arrow")
    mapped = isochrone.load(tmp_path / "mapped.arrow")[0]["observations"]
    (tmp_path / "mapped.arrow").unlink()
    gc.collect()
    rubbish = [np.full((50_000, 3), 7, np.float32) for _ in range(5)]
    assert view.sum() == 3 * 49_990 and len(rubbish) == 5
    np.testing.assert_array_equal(mapped, STATES)


def test_indices_and_slices(walks: isochrone.Dataset) -> None:
    np.testing.assert_array_equal(walks[-1]["actions"], walks[29]["actions"])
    assert [len(part) for part in (walks[3:20:4], walks[::-1], walks[40:], list(walks))] == [5, 30, 0, 30]
    np.testing.assert_array_equal(walks[::-1][0]["observations"], walks[-1]["observations"])
    for index in (30, -31):
        with pytest.raises(IndexError):
            walks[index]
    with pytest.raises(TypeError):
        walks["observations"]


def test_pickles_by_value_or_by_path(walks: isochrone.Dataset, tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(walks))
    assert again.content_hash == walks.content_hash and again.spec == walks.spec
    np.testing.assert_array_equal(again[1]["rewards"], walks[1]["rewards"])
    assert again[1]["ending"] == walks[1]["ending"]
    walks.save(tmp_path / "walks.npz")
    read = isochrone.load(tmp_path / "walks.npz", fps=5, goal=(0, 1), action_range=(-1, 1))
    assert len(pickle.dumps(read)) < 1000
    again = pickle.loads(pickle.dumps(read))
    assert again.content_hash == walks.content_hash and again.spec == read.spec


def test_figures(walks: isochrone.Dataset) -> None:
    assert walks.plot(title="walks").svg.startswith("<svg") and walks._repr_svg_().startswith("<svg")
    assert isochrone.from_arrays(STATES[:, :1])._repr_svg_() is None
    with pytest.raises(isochrone.IsochroneError, match="dimension 2 of 2"):
        walks.plot((0, 2))


def test_collected_episodes_depend_on_seed_and_number() -> None:
    few, more = isochrone.collect("nav2d", 3, seed=1), isochrone.collect("nav2d", 5, seed=1)
    np.testing.assert_array_equal(few[2]["observations"], more[2]["observations"])
    assert isochrone.collect("nav2d", 3, seed=2).content_hash != few.content_hash
    with pytest.raises(isochrone.IsochroneError, match="'nav3d' is not a dataset"):
        isochrone.collect("nav3d")


# Errors


ONES = np.ones((3, 2))
REFUSED: list[tuple[type[Exception], str, Callable[[], object]]] = [
    (isochrone.DataError, "no episodes", lambda: isochrone.from_episodes([])),
    (isochrone.DataError, "observations are missing", lambda: isochrone.from_episodes([{"obs": ONES}])),
    (isochrone.DataError, "no entry 'observation'", lambda: isochrone.from_episodes([{"observations": {"a": ONES}}])),
    (isochrone.DataError, "not finite", lambda: isochrone.from_episodes([{"observations": ONES * np.nan}])),
    (isochrone.DataError, "no transition", lambda: isochrone.from_episodes([{"observations": ONES[:1]}])),
    (
        isochrone.DataError,
        "episode 0: column 'actions' has 1 rows, but 2",
        lambda: isochrone.from_episodes([{"observations": ONES, "actions": ONES[:1]}]),
    ),
    (
        isochrone.DataError,
        "episode 1: observations have width 4 instead of 2",
        lambda: isochrone.from_episodes([{"observations": ONES}, {"observations": np.ones((2, 4))}]),
    ),
    (
        isochrone.DataError,
        "episode 1: actions have width 2 instead of 0",
        lambda: isochrone.from_episodes([{"observations": ONES}, {"observations": ONES, "actions": ONES}]),
    ),
    (
        isochrone.DataError,
        "episode 1",
        lambda: isochrone.from_episodes([{"observations": ONES, "actions": ONES}, {"observations": ONES}]),
    ),
    (isochrone.DataError, r"shape \(2,\)", lambda: isochrone.from_arrays(np.ones(2))),
    (isochrone.DataError, "actions have shape", lambda: isochrone.from_arrays(ONES, ONES[:2])),
    (isochrone.DataError, "fps=-1", lambda: isochrone.from_arrays(ONES, fps=-1)),
    (isochrone.DataError, "action_range", lambda: isochrone.from_arrays(ONES, ONES, action_range=(1, -1))),
    (isochrone.IsochroneError, "goal space 1..5", lambda: isochrone.from_arrays(ONES, goal=(1, 5))),
    (FileNotFoundError, "nothing.npz", lambda: isochrone.load("/nothing.npz")),
    (isochrone.ConfigError, "no writer for .xyz", lambda: isochrone.from_arrays(ONES).save("/tmp/a.xyz")),
    (FileNotFoundError, "a.npz", lambda: isochrone.from_arrays(ONES).save("/nothing/a.npz")),
]


@pytest.mark.parametrize(("error", "message", "call"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_errors_have_a_class_a_message_and_a_hint(
    error: type[Exception], message: str, call: Callable[[], object], hint: Hint
) -> None:
    with pytest.raises(error, match=message) as raised:
        call()
    assert hint(raised)


def test_a_corrupt_file_is_a_data_error(tmp_path: Path, hint: Hint) -> None:
    (tmp_path / "bad.npz").write_bytes(b"not an archive")
    with pytest.raises(isochrone.DataError, match="bad.npz") as raised:
        isochrone.load(tmp_path / "bad.npz")
    assert hint(raised)
    assert issubclass(isochrone.DataError, isochrone.IsochroneError) and issubclass(isochrone.DataError, ValueError)
