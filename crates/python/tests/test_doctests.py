"""The examples of the docstrings run."""

import doctest
import importlib
import pathlib
import pkgutil
import types

import pytest

import isochrone

# Optional dependencies of modules and examples; what needs a missing one is skipped.
OPTIONAL = {
    "isochrone.gym": ["gymnasium"],
    "isochrone.torch": ["torch"],
    "isochrone.jax": ["jax"],
    "isochrone._data": ["pyarrow"],
    "isochrone._exact": ["pyarrow"],
    "isochrone._evaluate": ["gymnasium"],
}

MODULES = ["isochrone"] + [
    f"isochrone.{module.name}" for module in pkgutil.iter_modules(isochrone.__path__) if module.name != "__main__"
]


def docstrings(module: types.ModuleType) -> list[doctest.DocTest]:
    """Return the examples of a module; the compiled module has no source for doctest to look at."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = {"isochrone": isochrone}
    if module.__name__ != "isochrone._isochrone":
        return finder.find(module, extraglobs=names)
    tests = []
    for name in module.__all__:
        public = getattr(module, name)
        parts = {name: public}
        if isinstance(public, type):
            parts |= {f"{name}.{part}": value for part, value in vars(public).items()}
        for full_name, part in parts.items():
            text = getattr(part, "__doc__", None)
            if isinstance(text, str) and ">>>" in text:
                tests.append(doctest.DocTestParser().get_doctest(text, dict(names), full_name, None, 0))
    return tests


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str, tmp_path: pathlib.Path) -> None:
    for dependency in OPTIONAL.get(name, []):
        pytest.importorskip(dependency)
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    output: list[str] = []
    for number, test in enumerate(docstrings(module)):
        # A folder for each docstring: they do not see the files of one another.
        folder = tmp_path / str(number)
        folder.mkdir()
        test.globs.update(isochrone=isochrone, tmp=folder)
        runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_public_functions_have_examples() -> None:
    """Functions whose example needs files, a download or another library, or prints the machine."""
    without = {"from_lerobot", "from_minari"}
    functions = [name for name in isochrone.__all__ if callable(getattr(isochrone, name))]
    functions = [name for name in functions if not isinstance(getattr(isochrone, name), type)]
    python = [name for name in functions if isinstance(getattr(isochrone, name), types.FunctionType)]
    missing = [name for name in python if ">>>" not in (getattr(isochrone, name).__doc__ or "")]
    assert set(missing) == without
