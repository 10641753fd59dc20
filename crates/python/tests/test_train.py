from __future__ import annotations

import logging
import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isochrone
from isochrone import _train

Hint = Callable[[pytest.ExceptionInfo[Any]], str]
Weights = Callable[[isochrone.Run], bytes]
Python = Callable[..., subprocess.CompletedProcess[str]]

SMALL: dict[str, Any] = {"size": "small", "discount": 0.9, "progress": False}
OFTEN: dict[str, Any] = {**SMALL, "settings": {"metrics.every": 5}}


@pytest.fixture(scope="module")
def whole(walks: isochrone.Dataset, tmp_path_factory: pytest.TempPathFactory) -> isochrone.Run:
    """An uninterrupted run of 60 steps, from a file."""
    folder = tmp_path_factory.mktemp("whole")
    walks.save(folder / "walks.arrow")
    return isochrone.train(folder / "walks.arrow", run=folder / "run", steps=60, threads=1, **SMALL)


def stop_at(step: int, error: BaseException) -> Callable[[dict[str, float]], None]:
    def callback(record: dict[str, float]) -> None:
        if record["step"] >= step:
            raise error

    return callback


def test_a_run_has_settings_metrics_and_curves(run: isochrone.Run, walks: isochrone.Dataset) -> None:
    assert (run.status["state"], run.status["step"], run.config["steps"]) == ("finished", 40, 40)
    assert run.config["discount"] == 0.9
    metrics = run.metrics
    assert {len(column) for column in metrics.values()} == {len(metrics["step"])}
    losses = [name for name in metrics if name.endswith("/loss")]
    assert losses and all(np.isfinite(metrics[name][~np.isnan(metrics[name])]).all() for name in losses)
    assert run.curves().svg.startswith("<svg") and run._repr_svg_().startswith("<svg")
    again = pickle.loads(pickle.dumps(run))
    assert again.folder == run.folder and "finished, step 40 of 40" in repr(again)
    # The data from memory are in the folder.
    assert isochrone.load(Path(run.folder) / "data.arrow").content_hash == walks.content_hash


def test_metrics_are_a_table_of_pandas(run: isochrone.Run) -> None:
    table = pytest.importorskip("pandas").DataFrame(run.metrics)
    assert table["step"].is_monotonic_increasing and len(table.columns) > 3


def test_fit_equals_train_and_leaves_no_folder(
    whole: isochrone.Run, walks: isochrone.Dataset, rows: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = isochrone.fit(walks, steps=60, threads=2, **SMALL)
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(model.distance(rows, rows[::-1]), whole.model("last").distance(rows, rows[::-1]))


def test_resume_equals_an_uninterrupted_run(
    whole: isochrone.Run, walks: isochrone.Dataset, weights: Weights, tmp_path: Path
) -> None:
    records: list[dict[str, float]] = []

    def callback(record: dict[str, float]) -> None:
        records.append(record)
        if record["step"] >= 10:
            raise isochrone.StopTraining

    part = isochrone.train(walks, run=tmp_path / "part", steps=60, callback=callback, threads=2, **OFTEN)
    assert all(isinstance(value, (int, float)) for value in records[0].values()) and "seconds" in records[0]
    state = part.status
    assert state["state"] in ("stopped", "finished") and state["step"] >= 10
    part = isochrone.resume(part, progress=False)
    assert (part.status["state"], part.status["step"]) == ("finished", 60)
    assert weights(part) == weights(whole)


def test_an_exception_of_a_callback_stops_with_a_checkpoint(walks: isochrone.Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(RuntimeError, match="enough") as raised:
        isochrone.train(walks, run=folder, steps=1_000_000, callback=stop_at(1, RuntimeError("enough")), **OFTEN)
    (note,) = raised.value.__notes__
    assert "saved at step" in note and f'isochrone.resume("{folder}")' in note
    run = isochrone.Run(folder)
    assert run.status["state"] == "stopped" and run.model("last").step == run.status["step"]
    # Resumed runs may be stopped, too.
    stopped = isochrone.resume(folder, progress=False, callback=stop_at(1, isochrone.StopTraining()))
    assert stopped.status["state"] == "stopped" and stopped.status["step"] > run.model("last").step - 1


def test_moved_data_are_passed_to_resume(whole: isochrone.Run, walks: isochrone.Dataset, tmp_path: Path, hint: Hint) -> None:
    walks.save(tmp_path / "walks.arrow")
    run = isochrone.train(
        tmp_path / "walks.arrow", run=tmp_path / "run", steps=1_000_000,
        callback=stop_at(1, isochrone.StopTraining()), **OFTEN,
    )  # fmt: skip
    (tmp_path / "walks.arrow").unlink()
    with pytest.raises(isochrone.DataError, match="do not exist") as raised:
        isochrone.resume(run, progress=False)
    assert "`data`" in hint(raised)
    again = isochrone.resume(run, data=walks, progress=False, callback=stop_at(1, isochrone.StopTraining()))
    assert again.status["step"] >= run.status["step"]
    with pytest.raises(isochrone.IsochroneError):
        isochrone.resume(run, data=isochrone.from_arrays(np.ones((9, 2))), progress=False)


INTERRUPTED = """
import os, signal, sys, threading, time
import isochrone

sent = []

def interrupt(record):
    if not sent and record["step"] >= 5:
        sent.append(time.monotonic())
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

try:
    isochrone.train(sys.argv[1], run=sys.argv[2], size="small", discount=0.9, steps=60, progress=False,
                    settings={"metrics.every": 5}, callback=interrupt)
finally:
    print(time.monotonic() - sent[0])
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_saves_and_resume_equals_an_uninterrupted_run(
    whole: isochrone.Run, weights: Weights, python: Python, tmp_path: Path
) -> None:
    done = python(INTERRUPTED, Path(whole.folder).parent / "walks.arrow", tmp_path / "run")
    assert done.returncode in (-signal.SIGINT, 130), done.stderr
    assert "KeyboardInterrupt" in done.stderr and "saved at step" in done.stderr and "panicked" not in done.stderr
    assert float(done.stdout) < 1.0
    run = isochrone.Run(tmp_path / "run")
    assert run.status["state"] == "stopped" and 5 <= run.model("last").step == run.status["step"] < 60
    assert weights(isochrone.resume(run, progress=False)) == weights(whole)


def test_equal_weights_from_the_command(whole: isochrone.Run, weights: Weights, python: Python, tmp_path: Path) -> None:
    data = Path(whole.folder).parent / "walks.arrow"
    done = python(
        "isochrone", "train", "--data", data, "--run", tmp_path / "run", "--size", "small", "--steps", 60,
        "discount=0.9", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert weights(isochrone.Run(tmp_path / "run")) == weights(whole)


def test_trainings_in_two_threads(whole: isochrone.Run, weights: Weights, tmp_path: Path) -> None:
    data = Path(whole.folder).parent / "walks.arrow"

    def train(name: str) -> isochrone.Run:
        return isochrone.train(data, run=tmp_path / name, steps=60, **SMALL)

    with ThreadPoolExecutor(2) as pool:
        for run in pool.map(train, ["a", "b"]):
            assert weights(run) == weights(whole)


def test_validation(walks: isochrone.Dataset, tmp_path: Path) -> None:
    run = isochrone.train(walks, run=tmp_path / "run", steps=5, validation=isochrone.from_episodes(walks[:5], fps=10), **SMALL)
    assert (Path(run.folder) / "validation.arrow").exists()
    assert any(name.startswith("evaluation/") for name in run.metrics)
    # OGBench's convention: NAME-val.npz next to NAME.npz.
    walks.save(tmp_path / "walks.npz")
    isochrone.from_episodes(walks[:5]).save(tmp_path / "walks-val.npz")
    run = isochrone.train(tmp_path / "walks.npz", run=tmp_path / "other", steps=5, **SMALL)
    assert run.config["data"]["validation"].endswith("walks-val.npz")


# Progress


def test_a_bar_of_tqdm(walks: isochrone.Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    isochrone.fit(walks, size="small", steps=8)
    shown = capsys.readouterr()
    assert "8/8" in shown.err and shown.out == ""


def test_lines_without_tqdm(
    walks: isochrone.Dataset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_train._Lines, "SECONDS", 0.0)
    isochrone.fit(walks, size="small", steps=8)
    lines = capsys.readouterr().err.splitlines()
    assert lines and all(line.startswith("step ") and "/8" in line for line in lines)


def test_progress_is_logged(walks: isochrone.Dataset, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.INFO, "isochrone"):
        isochrone.fit(walks, steps=2, **SMALL)
    assert any("from step 0 of 2" in record.getMessage() for record in caplog.records)
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


# Errors


def test_settings_are_checked_before_anything_is_written(walks: isochrone.Dataset, tmp_path: Path) -> None:
    for settings in ({"learner": {"critic": {"widht": 3}}}, {"learner.critic.widht": 3}):
        with pytest.raises(isochrone.ConfigError, match="learner.critic.widht"):
            isochrone.train(walks, run=tmp_path / "run", settings=settings, **SMALL)
    for settings in ({"steps": "many"}, {"batch_size": 0}, {"discount": 1.5}):
        with pytest.raises(isochrone.ConfigError, match=next(iter(settings))):
            isochrone.train(walks, run=tmp_path / "run", settings=settings, size="small", progress=False)
    assert not (tmp_path / "run" / "data.arrow").exists()


@pytest.mark.parametrize("settings", [{"steps": "many"}, {"batch_size": 0}, {"learner.critic.widht": 3}], ids=str)
def test_invalid_values_of_settings_have_a_hint(walks: isochrone.Dataset, settings: dict[str, Any], hint: Hint) -> None:
    with pytest.raises(isochrone.ConfigError) as raised:
        isochrone.fit(walks, settings=settings, **SMALL)
    assert hint(raised)


def test_invalid_arguments_are_refused(
    walks: isochrone.Dataset, run: isochrone.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hint: Hint
) -> None:
    monkeypatch.chdir(tmp_path)
    for message, options in [
        ("needs a run folder", {}),
        ("algorithm='cmd3'", {"run": "a", "algorithm": "cmd3"}),
        ("size='huge'", {"run": "a", "size": "huge"}),
        ("is not the value of a setting", {"run": "a", "settings": {"seed": object()}}),
    ]:
        with pytest.raises(isochrone.IsochroneError, match=message) as raised:
            isochrone.train(walks, **{**SMALL, **options})
        assert hint(raised)
    with pytest.raises(isochrone.IsochroneError, match="no training data"):
        isochrone.train(run="a", **SMALL)
    with pytest.raises(TypeError, match="both"):
        isochrone.train(walks, run="a", steps=3, settings={"steps": 4}, **SMALL)
    with pytest.raises(TypeError, match="pass a Dataset"):
        isochrone.train(np.ones((3, 2)), run="a", **SMALL)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        isochrone.train("nothing.npz", run="a", **SMALL)
    assert list(tmp_path.iterdir()) == []
    # A finished run is not overwritten.
    before = sorted(Path(run.folder).rglob("*"))
    with pytest.raises(isochrone.IsochroneError) as raised:
        isochrone.train(walks, run=run.folder, **SMALL)
    assert hint(raised) and sorted(Path(run.folder).rglob("*")) == before


def test_divergence_has_its_own_class(walks: isochrone.Dataset, tmp_path: Path) -> None:
    settings = {"learner.critic_optimizer.learning_rate": 1e30}
    with pytest.raises(isochrone.DivergedError) as raised:
        isochrone.train(walks, run=tmp_path / "run", steps=300, settings=settings, **SMALL)
    error = raised.value
    assert isinstance(error, ArithmeticError) and not isinstance(error, isochrone.IsochroneError)
    assert error.step > 0 and not np.isfinite(error.value) and isinstance(error.metric, str)
    assert error.last_checkpoint is None or Path(error.last_checkpoint).exists()


def test_a_corrupt_run_is_refused(run: isochrone.Run, tmp_path: Path, hint: Hint) -> None:
    with pytest.raises((isochrone.DataError, FileNotFoundError)) as raised:
        isochrone.Run(tmp_path)
    assert hint(raised)
    shutil.copytree(run.folder, tmp_path / "copy")
    for file in (tmp_path / "copy" / "checkpoints").rglob("weights.safetensors"):
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(isochrone.DataError, match="valid") as raised:
        isochrone.Model.load(tmp_path / "copy")
    assert hint(raised)


@pytest.mark.parametrize("name", ["data.arrow", "validation.arrow"])
@pytest.mark.parametrize("settings", [{}, {"batch_size": 0}])
def test_files_of_others_are_not_replaced(
    walks: isochrone.Dataset, tmp_path: Path, name: str, settings: dict[str, int]
) -> None:
    mine = tmp_path / name
    mine.write_text("my thesis")
    with pytest.raises(isochrone.IsochroneError, match="already exists"):
        isochrone.train(walks, validation=walks, run=tmp_path, steps=2, settings=settings, **SMALL)
    assert mine.read_text() == "my thesis"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_data_of_a_killed_process_are_used(walks: isochrone.Dataset, tmp_path: Path) -> None:
    isochrone.train(walks, run=tmp_path / "first", steps=2, **SMALL)
    (tmp_path / "killed").mkdir()
    shutil.copy(tmp_path / "first/data.arrow", tmp_path / "killed")
    run = isochrone.train(walks, run=tmp_path / "killed", steps=2, **SMALL)
    assert run.status["state"] == "finished"
