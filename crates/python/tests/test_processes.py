from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import isochrone

Python = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_compute(model: isochrone.Model, rows: np.ndarray, method: str) -> None:
    """After the parent has used its threads: a fork would wait forever for those of a global pool."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method}")
    expected = model.distance(rows, rows[::-1])
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.apply_async(model.distance, (rows, rows[::-1])).get(timeout=60)
        np.testing.assert_array_equal(found, expected)


def test_threads_share_a_model(model: isochrone.Model, rows: np.ndarray) -> None:
    expected = model.all_pairs(rows[:50], rows)
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: model.all_pairs(rows[:50], rows), range(12)):
            np.testing.assert_array_equal(found, expected)


def test_the_number_of_threads_is_set(model: isochrone.Model, rows: np.ndarray) -> None:
    default = isochrone.get_num_threads()
    assert default >= 1
    try:
        for number in (1, 3, 1):
            isochrone.set_num_threads(number)
            assert isochrone.get_num_threads() == number
            model.distance(rows, rows)
    finally:
        isochrone.set_num_threads(0)
    assert isochrone.get_num_threads() == default
    with pytest.raises(OverflowError):
        isochrone.set_num_threads(-1)


IMPORTED = """
import sys
import isochrone
print([name for name in ("numpy", "torch", "jax", "gymnasium", "mujoco", "scipy", "pandas", "pyarrow", "tqdm", "minari")
       if name in sys.modules])
"""


def test_the_import_imports_no_other_package(python: Python) -> None:
    done = python(IMPORTED)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


TIMED = """
import time
begun = time.perf_counter()
import isochrone
print(1000 * (time.perf_counter() - begun))
"""


def test_the_import_takes_little_time(python: Python, capsys: pytest.CaptureFixture[str]) -> None:
    best = min(float(python(TIMED).stdout) for _ in range(5))
    with capsys.disabled():
        print(f" [import isochrone: {best:.0f} ms over a bare interpreter] ", end="")
    assert best < 1000


OFFLINE = """
import sys, isochrone
data = isochrone.load(sys.argv[1])
model = isochrone.fit(data, size="small", steps=2, progress=False)
model.distance([0, 0], [1, 1])
try:
    isochrone.from_lerobot("lab/nothing")
except FileNotFoundError:
    print("done")
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("strace") is None, reason="strace")
def test_nothing_opens_a_socket(walks: isochrone.Dataset, tmp_path: Path) -> None:
    walks.save(tmp_path / "walks.arrow")
    command = ["strace", "-f", "-qq", "-e", "trace=network", "-o", tmp_path / "calls", sys.executable, "-c", OFFLINE]
    done = subprocess.run([*command, tmp_path / "walks.arrow"], capture_output=True, text=True, check=False, timeout=120)
    if "ptrace" in done.stderr.lower():
        pytest.skip("strace is not permitted")
    assert done.stdout.strip() == "done", done.stderr
    assert (tmp_path / "calls").read_text() == ""
