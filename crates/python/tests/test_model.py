from __future__ import annotations

import copy
import pickle
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isochrone

Hint = Callable[[pytest.ExceptionInfo[Any]], str]


@pytest.fixture()
def threads() -> Iterator[Callable[[int], None]]:
    yield isochrone.set_num_threads
    isochrone.set_num_threads(0)


def test_a_model_describes_itself(model: isochrone.Model) -> None:
    assert (model.observation_width, model.action_width, model.step) == (2, 2, 40)
    assert model.has_distance and model.has_policy and model.algorithm == "cmd1"
    assert model.discount == pytest.approx(0.9)
    assert repr(model) == "<isochrone.Model: distance and policy of cmd1 at step 40, observations of width 2>"


def test_a_distance_is_a_quasimetric(model: isochrone.Model, rows: np.ndarray) -> None:
    a, b, c = rows[:300], rows[300:600], rows[600:900]
    assert np.all(model.distance(a, a) == 0)
    ab, bc, ac = model.distance(a, b), model.distance(b, c), model.distance(a, c)
    assert np.all(ab > 0) and np.all(ac <= (ab + bc) * (1 + 1e-5))
    assert not np.allclose(ab, model.distance(b, a))


def test_shapes(model: isochrone.Model, rows: np.ndarray) -> None:
    assert model.distance([0, 0], [1, 1]).shape == ()
    assert model.distance(rows, rows[::-1]).shape == (1000,)
    repeated = np.tile(rows[0], (1000, 1))
    np.testing.assert_allclose(model.distance(rows, rows[0]), model.distance(rows, repeated), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.distance(rows[0], rows), model.distance(repeated, rows), rtol=1e-5, atol=1e-5)
    cube = rows.reshape(10, 100, 2)
    np.testing.assert_array_equal(model.distance(cube, cube[::-1]).ravel(), model.distance(rows, cube[::-1].reshape(-1, 2)))
    assert model.distance(cube, rows[0]).shape == (10, 100) and model.distance(rows[:1], rows[0]).shape == (1,)
    assert model.distance(rows[:0], rows[:0]).shape == (0,)
    assert model.all_pairs(rows[:5], rows[:7]).shape == (5, 7)
    np.testing.assert_allclose(model.all_pairs(rows[:5], rows[5:10]).diagonal(), model.distance(rows[:5], rows[5:10]), rtol=1e-5)
    assert model.policy(rows[0], rows[1]).shape == (2,)
    assert model.policy(cube, rows[0]).shape == (10, 100, 2)


def test_a_distance_to_a_set_is_the_smallest_of_all_pairs(model: isochrone.Model, rows: np.ndarray) -> None:
    for unit in ("steps", "seconds", "nats"):
        pairs = model.all_pairs(rows[:100], rows[100:130], unit=unit)
        np.testing.assert_array_equal(model.distance_to_set(rows[:100], rows[100:130], unit=unit), pairs.min(1))
    assert model.distance_to_set(rows[0], rows[:9]).shape == () and model.distance_to_set(rows[0], rows[:9]) == 0


def test_units(model: isochrone.Model, rows: np.ndarray) -> None:
    steps, seconds, nats = (model.distance(rows, rows[::-1], unit=unit) for unit in ("steps", "seconds", "nats"))
    np.testing.assert_allclose(steps, nats / -np.log(model.discount), rtol=1e-6)
    np.testing.assert_allclose(seconds, steps / 10, rtol=1e-6)


def test_seconds_need_a_frame_rate(hint: Hint) -> None:
    data = isochrone.from_arrays(np.arange(8.0).reshape(4, 2))
    distance = isochrone.Distance(lambda start, goal: np.abs(start - goal).sum(-1), data)
    assert distance.distance([0, 0], [1, 1]) == 2
    with pytest.raises(isochrone.IsochroneError, match="frame rate") as raised:
        distance.distance([0, 0], [1, 1], unit="seconds")
    assert "`fps`" in hint(raised)


class Tensor:
    """As a tensor of torch that requires gradients: NumPy cannot convert it before it is detached."""

    def __init__(self, values: np.ndarray, requires_grad: bool = True) -> None:
        self.values, self.requires_grad = values, requires_grad

    def detach(self) -> Tensor:
        return Tensor(self.values, False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.asarray(self.values, dtype)


def test_types_and_layouts_do_not_matter(model: isochrone.Model, rows: np.ndarray) -> None:
    expected = model.distance(rows, rows[::-1])
    read_only = rows.copy()
    read_only.flags.writeable = False
    forms: list[Any] = [
        rows.astype(np.float64),
        np.asfortranarray(rows),
        rows.tolist(),
        [tuple(row) for row in rows],
        np.hstack([rows, rows])[:, :2],
        rows.astype(">f4"),
        read_only,
        Tensor(rows),
        memoryview(rows),
    ]
    for given in forms:
        np.testing.assert_array_equal(model.distance(given, rows[::-1]), expected)


def test_results_do_not_depend_on_threads_or_batches(
    model: isochrone.Model, rows: np.ndarray, threads: Callable[[int], None]
) -> None:
    goals = rows[::-1].copy()
    expected, actions, shared = model.distance(rows, goals), model.policy(rows, goals), model.distance(rows, goals[0])
    for number in (1, 2, 3):
        threads(number)
        assert isochrone.get_num_threads() == number
        for size in (1000, 65, 64, 7):
            parts = range(0, 1000, size)
            found = [model.distance(rows[i : i + size], goals[i : i + size]) for i in parts]
            np.testing.assert_array_equal(np.concatenate(found), expected)
            to_one = [model.distance(rows[i : i + size], goals[0]) for i in parts]
            np.testing.assert_array_equal(np.concatenate(to_one), shared)
            moves = [model.policy(rows[i : i + size], goals[i : i + size]) for i in parts]
            np.testing.assert_array_equal(np.concatenate(moves), actions)
    singly = [model.distance(a, b) for a, b in zip(rows[:20], goals[:20], strict=True)]
    np.testing.assert_array_equal(np.stack(singly), expected[:20])


PEAK = """
import resource, sys
import numpy as np
import isochrone
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
distance = isochrone.load(sys.argv[1])
distance = isochrone.Distance(lambda start, goal: np.zeros(len(start), np.float32), distance)
start = np.ones((2_000_000, 2), np.float32)
distance.distance(start[:1000], start[:1000])
before = peak()
found = distance.distance(start, start)
print(peak() - before)
"""


def test_float32_is_not_copied(walks: isochrone.Dataset, tmp_path: Path, python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """The arguments are 15 MiB each, the result 8 MiB; steps are float64 in between, 15 MiB."""
    pytest.importorskip("resource")
    walks.save(tmp_path / "walks.arrow")
    done = python(PEAK, tmp_path / "walks.arrow")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 8 + 15 + 6


REFUSED: list[tuple[str, Callable[[isochrone.Model], object]]] = [
    ("rows have 2 numbers", lambda model: model.distance([1, 2, 3], [1, 2, 3])),
    ("goal: shape", lambda model: model.distance([1, 2], np.ones((4, 3)))),
    ("shape", lambda model: model.distance(1.0, 2.0)),
    ("start has shape", lambda model: model.distance(np.ones((3, 2)), np.ones((4, 2)))),
    ("start: row 1 is NaN in dimension 0", lambda model: model.distance([[0, 0], [np.nan, 0]], [0, 0])),
    ("goals: row 0 is NaN", lambda model: model.distance_to_set([0, 0], [[0, np.nan]])),
    ("goals: an empty set", lambda model: model.distance_to_set([0, 0], np.ones((0, 2)))),
    ("observation: row 0 is NaN", lambda model: model.policy([0, np.nan], [0, 0])),
    ("3 observations and 2 goals", lambda model: model.policy(np.ones((3, 2)), np.ones((2, 2)))),
    ("unit='hours'", lambda model: model.distance([0, 0], [1, 1], unit="hours")),  # type: ignore[arg-type]
    ("cannot be converted", lambda model: model.distance(["a", "b"], [1, 1])),
    ("cannot be converted", lambda model: model.distance([[1, 2], [3]], [1, 1])),
]


@pytest.mark.parametrize(("message", "call"), REFUSED, ids=[message for message, _ in REFUSED])
def test_invalid_queries_are_refused(
    model: isochrone.Model, message: str, call: Callable[[isochrone.Model], object], hint: Hint
) -> None:
    with pytest.raises(isochrone.IsochroneError, match=message) as raised:
        call(model)
    assert hint(raised)


def test_copies_are_independent_and_equal(model: isochrone.Model, rows: np.ndarray) -> None:
    expected = model.distance(rows, rows[::-1])
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(model))))]
    try:
        import cloudpickle
    except ImportError:
        pass
    else:
        copies.append(pickle.loads(cloudpickle.dumps(model)))
    for other in copies:
        assert other is not model and repr(other) == repr(model)
        np.testing.assert_array_equal(other.distance(rows, rows[::-1]), expected)
        np.testing.assert_array_equal(other.policy(rows, rows[0]), model.policy(rows, rows[0]))


def test_a_saved_model_is_loaded(model: isochrone.Model, rows: np.ndarray, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = isochrone.Model.load(tmp_path / "model")
    np.testing.assert_array_equal(again.distance(rows, rows[::-1]), model.distance(rows, rows[::-1]))


def test_embeddings_do_not_depend_on_batches(model: isochrone.Model, rows: np.ndarray) -> None:
    latent = model.embed(rows)
    assert latent.shape[0] == 1000 and model.embed(rows[0]).shape == latent.shape[1:]
    np.testing.assert_array_equal(np.concatenate([model.embed(rows[:7]), model.embed(rows[7:])]), latent)


def test_checkpoints_are_chosen(run: isochrone.Run, hint: Hint) -> None:
    assert isochrone.Model.load(run.folder, "last").step == run.model(40).step == 40
    with pytest.raises(isochrone.IsochroneError, match="checkpoint='first'") as raised:
        run.model("first")
    assert "'last'" in hint(raised)
    with pytest.raises(isochrone.IsochroneError):
        run.model(39)
    with pytest.raises((isochrone.IsochroneError, FileNotFoundError)):
        isochrone.Model.load("/nothing")


def test_maps(model: isochrone.Model, walks: isochrone.Dataset, tmp_path: Path) -> None:
    figure = model.map(walks, goal=[5, 5], cells=20, title="to the middle")
    assert figure.svg.startswith("<svg") and figure._repr_svg_() == figure.svg and "to the middle" in figure.svg
    assert figure.png()[:8] == b"\x89PNG\r\n\x1a\n"
    figure.save(tmp_path / "map.svg")
    figure.save(tmp_path / "map.png")
    assert (tmp_path / "map.svg").read_text() == figure.svg
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"
    assert pickle.loads(pickle.dumps(figure)).svg == figure.svg
    path = isochrone.Path([[1, 1], [4, 4]], [3.0])
    assert model.map(walks, start=[1, 1], path=path, cells=10).svg != model.map(walks, start=[1, 1], cells=10).svg
    with pytest.raises(isochrone.IsochroneError):
        figure.save(tmp_path / "map.docx")
    with pytest.raises(isochrone.IsochroneError):
        model.map(walks, cells=10)
    with pytest.raises(FileNotFoundError):
        figure.save(tmp_path / "nothing" / "map.svg")


def test_other_threads_run_during_a_call(model: isochrone.Model) -> None:
    large = np.random.default_rng(2).uniform(0, 10, (60_000, 2)).astype(np.float32)
    ticks, is_done = [0], threading.Event()

    def tick() -> None:
        while not is_done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun, before = time.monotonic(), ticks[0]
    model.distance(large, large)
    seconds, counted = time.monotonic() - begun, ticks[0] - before
    is_done.set()
    thread.join()
    assert seconds > 0.05, "the call is too short for this test"
    assert counted > 20 * seconds


def test_many_threads_may_ask(model: isochrone.Model, rows: np.ndarray) -> None:
    expected = model.distance(rows, rows[::-1])
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.distance(rows, rows[::-1]), range(24)):
            np.testing.assert_array_equal(found, expected)


def test_a_column_of_distances(run: isochrone.Run, model: isochrone.Model, rows: np.ndarray) -> None:
    add = isochrone.DistanceColumn(run.folder, [5, 5], observation="state", unit="seconds", threads=None)
    batch = add({"state": rows, "other": np.arange(1000)})
    np.testing.assert_array_equal(batch["distance"], model.distance(rows, [5, 5], unit="seconds"))
    per_row = isochrone.DistanceColumn(model, "goal", observation="state", output="d", threads=None)
    batch = pickle.loads(pickle.dumps(per_row))({"state": list(rows[:9]), "goal": list(rows[9:18])})
    np.testing.assert_array_equal(batch["d"], model.distance(rows[:9], rows[9:18]))
    with pytest.raises(KeyError, match="'state' is not a column"):
        add({"x": rows})


def test_an_audit_finds_what_is_wrong(model: isochrone.Model, walks: isochrone.Dataset) -> None:
    report = isochrone.audit(lambda start, goal: np.linalg.norm(start - goal, axis=-1) ** 3, walks)
    assert report.triangle_violations > 0 and not report.is_trusted
    assert isochrone.audit(model, walks).largest_self_distance == 0
    assert set(report.as_dict()) >= {"one_step", "problems"}
    few = list(range(40))
    matrix = np.abs(np.subtract.outer(few, few))
    assert isochrone.audit(matrix, walks, rows=few).largest_self_distance == 0
    with pytest.raises(isochrone.IsochroneError, match="for 1530 states"):
        isochrone.audit(matrix, walks)


def test_a_model_of_states_alone_has_no_policy(hint: Hint) -> None:
    states = isochrone.from_arrays(np.cumsum(np.ones((60, 2)), 0))
    model = isochrone.fit(states, size="small", steps=2, progress=False)
    assert not model.has_policy and model.action_width == 0
    with pytest.raises(isochrone.IsochroneError, match="no policy") as raised:
        model.policy([0, 0], [1, 1])
    assert hint(raised)


def test_a_policy_alone_has_no_distance(walks: isochrone.Dataset, hint: Hint) -> None:
    model = isochrone.fit(walks, algorithm="gcbc", size="small", steps=2, progress=False)
    assert not model.has_distance and model.discount is None and model.policy([0, 0], [1, 1]).shape == (2,)
    with pytest.raises(isochrone.IsochroneError, match="no distance") as raised:
        model.distance([0, 0], [1, 1])
    assert hint(raised)


def test_no_goals_give_no_distances(model: isochrone.Model) -> None:
    start = np.zeros(model.observation_width, np.float32)
    assert model.distance(start, np.zeros((0, model.observation_width), np.float32)).shape == (0,)
