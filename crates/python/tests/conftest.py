"""Fixtures that the tests share. All models are tiny: the tests run with a debug build."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isochrone

FIXTURES = Path(__file__).parents[2] / "data" / "tests" / "fixtures"


def random_walks(episodes: int = 30, steps: int = 50) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    walks: list[dict[str, Any]] = []
    for number in range(episodes):
        actions = random.uniform(-1, 1, (steps, 2)).astype(np.float32)
        states = np.clip(np.cumsum(np.vstack([random.uniform(0, 10, (1, 2)), actions]), axis=0), 0, 10)
        ends = np.arange(steps) == steps - 1
        walks.append(
            {
                "observations": states,
                "actions": actions,
                "rewards": -np.ones(steps),
                "terminations": ends & (number % 2 == 0),
                "truncations": ends & (number % 2 == 1),
            }
        )
    return walks


@pytest.fixture(scope="session")
def walks() -> isochrone.Dataset:
    """Random walks in a square: 30 episodes of 50 steps, 10 states per second."""
    return isochrone.from_episodes(random_walks(), action_range=(-1, 1), fps=10)


@pytest.fixture(scope="session")
def run(walks: isochrone.Dataset, tmp_path_factory: pytest.TempPathFactory) -> isochrone.Run:
    """A short run on `walks`; tests do not change its folder."""
    folder = tmp_path_factory.mktemp("runs") / "walks"
    return isochrone.train(walks, run=folder, size="small", steps=40, discount=0.9, progress=False)


@pytest.fixture(scope="session")
def model(run: isochrone.Run) -> isochrone.Model:
    return run.model()


@pytest.fixture(scope="session")
def rows() -> np.ndarray:
    """1000 states in the square of `walks`."""
    return np.random.default_rng(1).uniform(0, 10, (1000, 2)).astype(np.float32)


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The files of other libraries that the tests of the data crate read."""
    if not FIXTURES.is_dir():
        pytest.skip("the fixtures are in the repository only")
    return FIXTURES


@pytest.fixture(scope="session")
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program, or ``-m isochrone`` with arguments, in another process."""

    def start(
        program: str, *arguments: object, env: dict[str, str] | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        given = ["-m", "isochrone"] if program == "isochrone" else ["-c", program]
        return subprocess.run(
            [sys.executable, *given, *map(str, arguments)],
            env={**os.environ, "NO_COLOR": "1", **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return start


@pytest.fixture(scope="session")
def weights() -> Callable[[isochrone.Run], bytes]:
    """Reads the weights of the last checkpoint of a run."""

    def read(run: isochrone.Run) -> bytes:
        last = max((Path(run.folder) / "checkpoints").glob("step-*"))
        return (last / "weights.safetensors").read_bytes()

    return read


@pytest.fixture(scope="session")
def hint() -> Callable[[pytest.ExceptionInfo[BaseException]], str]:
    """Returns the hint of an error: its only note, except for those of the interpreter."""

    def read(raised: pytest.ExceptionInfo[BaseException]) -> str:
        (note,) = (note for note in raised.value.__notes__ if note.startswith("hint: "))
        assert "hint:" not in str(raised.value)
        return note.removeprefix("hint: ")

    return read
