"""Execute the notebooks of this folder, each in a temporary folder.

    python examples/notebooks/run.py             execute all notebooks and report errors
    python examples/notebooks/run.py --update    also write their outputs back
    python examples/notebooks/run.py NAME ...    only these notebooks

A notebook lists the packages that it needs in its metadata (``isochrone.requires``). If one of them
is not installed, the notebook is skipped; with ``--require``, that is an error.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parent
MAX_CODE_LINES = 40
MAX_OUTPUT_BYTES = 300_000


def code_lines(notebook: Any) -> int:
    """Return the number of lines of code, without empty lines and comments."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    lines = [line.strip() for cell in cells for line in cell.source.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def missing_packages(notebook: Any) -> list[str]:
    """Return the packages that the notebook needs and that are not installed."""
    required = ["isochrone", *notebook.metadata.get("isochrone", {}).get("requires", [])]
    missing = [name for name in required if importlib.util.find_spec(name) is None]
    # The module of the kernels is part of the package only where it was built with them.
    if "jax" in required and not missing and importlib.util.find_spec("isochrone.jax") is None:
        missing.append("isochrone.jax")
    return missing


def normalize(notebook: Any) -> None:
    """Remove what differs between two executions of the same code."""
    kept = ("isochrone", "kernelspec")
    notebook.metadata = {key: notebook.metadata[key] for key in kept if key in notebook.metadata}
    notebook.metadata["language_info"] = {"name": "python"}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02d}"
        cell.metadata = {}
        if cell.cell_type != "code":
            continue
        # Warnings of libraries and progress on stderr are not part of the page.
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.outputs:
            if "metadata" in output:
                output["metadata"] = {}
            if "image/png" in output.get("data", {}):
                output["data"].pop("image/jpeg", None)


def output_bytes(output: Any) -> int:
    """Return the size of the largest representation of an output."""
    contents = [output.get("text", ""), *output.get("data", {}).values()]
    return max(len(content if isinstance(content, str) else str(content)) for content in contents)


def problems(notebook: Any) -> list[str]:
    """Return what is wrong with an executed notebook."""
    found = []
    if (lines := code_lines(notebook)) > MAX_CODE_LINES:
        found.append(f"{lines} lines of code, at most {MAX_CODE_LINES} are allowed")
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                found.append(f"{cell.id}: {output.ename}: {output.evalue}")
            elif (size := output_bytes(output)) > MAX_OUTPUT_BYTES:
                found.append(f"{cell.id}: an output of {size} bytes, at most {MAX_OUTPUT_BYTES} are allowed")
    return found


def execute(notebook: Any, seconds: int) -> list[str]:
    """Execute the notebook in place, in a temporary folder; return its problems."""
    with tempfile.TemporaryDirectory(prefix="isochrone-notebook-") as folder:
        # The notebooks put their own files here, too.
        environment = {**os.environ, "TMPDIR": folder, "JAX_PLATFORMS": "cpu"}
        client = NotebookClient(
            notebook, timeout=seconds, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            return [str(error).strip()]
        except Exception as error:  # the kernel died, or a cell took too long
            return [f"{type(error).__name__}: {error}"]
    return problems(notebook)


def main() -> int:
    """Run the script; return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="notebooks; all by default")
    parser.add_argument("--update", action="store_true", help="write the outputs back to the notebooks")
    parser.add_argument("--require", action="store_true", help="fail if a package is missing instead of skipping")
    parser.add_argument("--timeout", type=int, default=300, help="seconds per cell; 300 by default")
    arguments = parser.parse_args()
    wanted = {Path(name).stem for name in arguments.names}
    paths = [path for path in sorted(FOLDER.glob("*.ipynb")) if not wanted or path.stem in wanted]
    if unknown := wanted - {path.stem for path in paths}:
        parser.error(f"no notebook {', '.join(sorted(unknown))} in {FOLDER}")
    has_failed = False
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        if missing := missing_packages(notebook):
            has_failed |= arguments.require
            result = "failed" if arguments.require else "skipped"
            print(f"{path.name}: {result}, needs {', '.join(missing)}", flush=True)
            continue
        begin = time.monotonic()
        found = execute(notebook, arguments.timeout)
        seconds = time.monotonic() - begin
        result = "failed" if found else "ok"
        print(f"{path.name}: {result}, {code_lines(notebook)} lines of code, {seconds:.0f} s", flush=True)
        for problem in found:
            print(f"  {problem}")
        has_failed |= bool(found)
        if arguments.update and not found:
            normalize(notebook)
            nbformat.write(notebook, path)
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
