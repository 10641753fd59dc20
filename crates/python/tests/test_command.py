from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import isochrone

Python = Callable[..., subprocess.CompletedProcess[str]]


def test_help_and_version(python: Python) -> None:
    shown = python("isochrone", "--help")
    assert shown.returncode == 0 and shown.stderr == ""
    assert "Usage: isochrone" in shown.stdout and "train" in shown.stdout
    version = python("isochrone", "--version")
    assert version.returncode == 0 and version.stdout.split()[:2] == ["isochrone", isochrone.__version__]


def test_an_error_is_one_line_with_a_hint(python: Python, tmp_path: Path) -> None:
    done = python("isochrone", "train", "--data", tmp_path / "nothing.npz")
    assert done.returncode == 2 and done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ") and "nothing.npz" in line and "; hint: " in line


def test_wrong_arguments_have_their_own_exit_code(python: Python) -> None:
    for arguments in (["trayn"], ["train", "--stepz", "3"], []):
        assert python("isochrone", *arguments).returncode == 2, arguments


def test_arguments_are_passed_as_they_are(python: Python, walks: isochrone.Dataset, tmp_path: Path) -> None:
    name = tmp_path / "with space and ü.arrow"
    walks.save(name)
    done = python("isochrone", "data", "inspect", name)
    assert done.returncode == 0 and "1500" in done.stdout.replace(",", ""), done.stderr
