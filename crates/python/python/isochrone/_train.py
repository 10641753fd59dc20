"""Training with progress, callbacks and Ctrl-C."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from isochrone._isochrone import Dataset, Model, Run, resume_run, start_run

if TYPE_CHECKING:
    from isochrone._data import load as load

AlgorithmName: TypeAlias = Literal[
    "cmd1", "cmd2", "crl-nce", "crl-cpc", "qrl", "tmd", "mqe", "gciql", "ddpg", "gcbc"
]
Size: TypeAlias = Literal["small", "standard", "paper"]
Callback: TypeAlias = Callable[[dict[str, float]], object]
DataSource: TypeAlias = "Dataset | str | os.PathLike[str]"

log = logging.getLogger("isochrone")


class IsochroneWarning(UserWarning):
    """Something is wrong, but the result is still valid."""


class StopTraining(Exception):  # noqa: N818
    """Raised by a callback to stop training; `train` saves a checkpoint and returns."""


def warn(text: str) -> None:
    """Show a warning of the library."""
    warnings.warn(text, IsochroneWarning, stacklevel=3)


def train(
    data: DataSource | None = None,
    *,
    run: str | os.PathLike[str] | None = None,
    algorithm: AlgorithmName | None = None,
    size: Size = "standard",
    steps: int | None = None,
    seed: int | None = None,
    discount: float | None = None,
    batch_size: int | None = None,
    validation: DataSource | None = None,
    config: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: bool = True,
    callback: Callback | None = None,
) -> Run:
    """Train a temporal distance and a policy, and store the run in a folder.

    Ctrl-C, or the stop button of a notebook, saves a checkpoint and raises `KeyboardInterrupt`.
    `resume` continues from there, bit for bit as if training had not been interrupted.

    Parameters
    ----------
    data
        A `Dataset`, or a file or folder of any format that `load` reads. A dataset from memory is
        written to the run folder.
    run
        The run folder; for data from a file, ``runs/DATA-ALGORITHM-SEED`` by default.
    algorithm
        The algorithm; ``"cmd1"`` unless the configuration file names another.
    size
        The network size preset: 2 x 64, 3 x 256 or 4 x 512.
    steps
        The number of updates; 50,000 by default.
    seed
        The random seed; 0 by default. The same seed gives the same bits.
    discount
        The discount per step; by default, it is chosen from the lengths of the episodes.
    batch_size
        The number of transitions per update.
    validation
        A validation dataset; by default, ``NAME-val.npz`` next to ``NAME.npz``.
    config
        A configuration file, such as the ``config.toml`` of another run.
    settings
        Further settings by their dotted names, or as nested dictionaries, for example
        ``{"critic.width": 256}``. ``isochrone train --list-settings`` lists them.
    threads
        The number of threads; results do not depend on it.
    progress
        Whether a progress bar is shown (with tqdm, if it is installed).
    callback
        Called with every metrics record. An exception stops training with a checkpoint;
        `StopTraining` does so quietly.

    Returns
    -------
    Run
        The run; ``run.model()`` loads its best checkpoint.

    Examples
    --------
    >>> data = isochrone.collect("nav2d", 20)
    >>> run = isochrone.train(data, run=tmp / "nav2d", size="small", steps=10, progress=False)
    >>> run.status["state"]
    'finished'
    """
    return _start(
        data, run, algorithm, size, steps, seed, discount, batch_size, validation, config, settings,
        threads, progress, callback, keeps_data=True,
    )  # fmt: skip


def fit(
    data: DataSource,
    *,
    algorithm: AlgorithmName | None = None,
    size: Size = "standard",
    steps: int | None = None,
    seed: int | None = None,
    discount: float | None = None,
    batch_size: int | None = None,
    validation: DataSource | None = None,
    config: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: bool = True,
    callback: Callback | None = None,
) -> Model:
    """Train a model without keeping a run folder.

    The parameters are those of `train`. The model can be pickled, and saved with `Model.save`.

    Examples
    --------
    >>> model = isochrone.fit(isochrone.collect("nav2d", 20), size="small", steps=10, progress=False)
    >>> model
    <isochrone.Model: distance and policy of cmd1 at step 10, observations of width 2>
    """
    with tempfile.TemporaryDirectory(prefix="isochrone-") as folder:
        try:
            run = _start(
                data, os.path.join(folder, "run"), algorithm, size, steps, seed, discount, batch_size,
                validation, config, settings, threads, progress, callback, keeps_data=False,
            )  # fmt: skip
        except BaseException as error:
            # The folder is removed: there is nothing to resume.
            notes = [note for note in getattr(error, "__notes__", []) if "isochrone.resume" not in note]
            if hasattr(error, "__notes__"):
                error.__notes__ = notes
            raise
        return run.model()


def resume(
    run: Run | str | os.PathLike[str],
    *,
    data: Dataset | None = None,
    threads: int | None = None,
    progress: bool = True,
    callback: Callback | None = None,
) -> Run:
    """Resume a run from its last valid checkpoint.

    Parameters
    ----------
    run
        The run, or its folder.
    data
        The training data, if they are no longer where the run found them.
    threads, progress, callback
        As for `train`.

    Examples
    --------
    >>> def stop(record):
    ...     raise isochrone.StopTraining
    >>> data = isochrone.collect("nav2d", 20)
    >>> run = isochrone.train(data, run=tmp / "nav2d", size="small", steps=10, progress=False, callback=stop)
    >>> run = isochrone.resume(run, progress=False)
    >>> run.status["step"]
    10
    """
    folder = run.folder if isinstance(run, Run) else run
    observer = _Observer(progress, callback)
    try:
        return resume_run(folder, data, threads, observer)
    except StopTraining:
        return Run(folder)
    finally:
        observer.close()


def _start(
    data: DataSource | None,
    run: str | os.PathLike[str] | None,
    algorithm: AlgorithmName | None,
    size: Size,
    steps: int | None,
    seed: int | None,
    discount: float | None,
    batch_size: int | None,
    validation: DataSource | None,
    config: str | os.PathLike[str] | None,
    settings: Mapping[str, Any] | None,
    threads: int | None,
    progress: bool,
    callback: Callback | None,
    keeps_data: bool,
) -> Run:
    named = {"steps": steps, "seed": seed, "discount": discount, "batch_size": batch_size}
    given = {name: value for name, value in named.items() if value is not None}
    if twice := given.keys() & (settings or {}).keys():
        raise TypeError(f"{', '.join(sorted(twice))}: given both as a parameter and in settings")
    request: dict[str, Any] = {
        "algorithm": algorithm,
        "size": size,
        "config": config,
        "settings": {**(settings or {}), **given},
        "threads": threads,
        "keeps_data": keeps_data,
    }
    observer = _Observer(progress, callback)
    try:
        return start_run(_dataset(data), _dataset(validation), run, request, observer)
    except StopTraining:
        if observer.folder is None:
            raise
        return Run(observer.folder)
    finally:
        observer.close()


def _dataset(data: DataSource | None) -> Dataset | None:
    if data is None or isinstance(data, Dataset):
        return data
    if not isinstance(data, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"data is a {type(data).__name__}: pass a Dataset (see isochrone.from_arrays) or a path"
        )
    from isochrone._data import load

    return load(data)


class _Observer:
    """Shows training. All methods run on the thread that called `train`."""

    def __init__(self, progress: bool, callback: Callback | None) -> None:
        self.progress = progress
        self.callback = callback
        self.bar: Any = None
        self.shown: dict[str, str] = {}
        self.folder: os.PathLike[str] | None = None

    def started(self, step: int, steps: int, folder: os.PathLike[str]) -> None:
        self.folder = folder
        log.info("%s: from step %d of %d", folder, step, steps)
        if self.progress:
            self.bar = _bar(step, steps)

    def step(self, step: int) -> None:
        if self.bar is not None and step > self.bar.n:
            self.bar.update(step - self.bar.n)

    def metrics(self, record: dict[str, float]) -> None:
        log.debug("%s", record)
        for name, value in record.items():
            if name.endswith("/loss") or name.startswith("evaluation/"):
                self.shown[name.removesuffix("/loss").removeprefix("evaluation/")] = f"{value:.4g}"
        if self.bar is not None:
            self.bar.set_postfix(self.shown, refresh=False)
        if self.callback is not None:
            self.callback(record)

    def checkpoint(self, step: int, path: os.PathLike[str]) -> None:
        log.info("checkpoint %s", path)

    def warning(self, text: str) -> None:
        warnings.warn(text, IsochroneWarning, stacklevel=5)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _bar(step: int, steps: int) -> Any:
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return _Lines(step, steps)
    return tqdm(initial=step, total=steps, unit=" steps", dynamic_ncols=True)


class _Lines:
    """Prints a line every ten seconds, if tqdm is not installed."""

    SECONDS = 10.0

    def __init__(self, step: int, steps: int) -> None:
        self.n, self.total, self.printed, self.text = step, steps, time.monotonic(), ""

    def update(self, steps: int) -> None:
        self.n += steps
        if time.monotonic() - self.printed > self.SECONDS:
            self.printed = time.monotonic()
            print(f"step {self.n}/{self.total}  {self.text}", file=sys.stderr)

    def set_postfix(self, shown: Mapping[str, str], refresh: bool = True) -> None:
        self.text = ", ".join(f"{name} {value}" for name, value in shown.items())

    def close(self) -> None:
        pass
