"""The Python program of the README runs."""

import pathlib

import pytest

import isochrone

README = pathlib.Path(__file__).parent.parent / "README.md"


@pytest.mark.skipif(
    not (README.parent / "examples" / "walks.csv").exists(), reason="the README of the repository is not here"
)
def test_the_program_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    program = README.read_text().split("```python\n")[1].split("```")[0]
    assert "isochrone.fit" in program
    (tmp_path / "examples").symlink_to(README.parent / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(program, names)
    path = names["path"]
    assert isinstance(path, isochrone.Path) and 20 < path.steps < 60
    assert (tmp_path / "plan.svg").stat().st_size > 1000
