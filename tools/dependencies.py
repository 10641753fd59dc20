"""Writes docs/dependencies.csv, the packages that the default build of the command contains.

    python3 tools/dependencies.py [--check]

For each package: version and checksum, license, whether it runs a program while it is built (a build
script or a procedural macro), the C library that it links, and how many lines of its sources have
the word `unsafe`. A change of Cargo.lock that changes a row is seen in a review. `--check` fails if
the file is not current, or if tests without MuJoCo or the module for tests of Python have packages
with other features than all tests: CI would compile most of them again.
"""

import csv
import io
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs/dependencies.csv"
COLUMNS = ["package", "version", "license", "runs_while_building", "links", "unsafe_lines", "sha256"]
COMMAND = "isochrone-cli"
TARGET = "x86_64-unknown-linux-gnu"


def metadata() -> dict:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def tree(form: str, *flags: str) -> list[str]:
    """What a build with these flags compiles: a line for each package, some of them repeated."""
    command = ["cargo", "tree", "--locked", "--target", TARGET, "--prefix", "none", "-f", form, *flags]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.removesuffix(" (*)") for line in lines if line]


def in_default_tree() -> set[tuple[str, str]]:
    """Names and versions of what a build with default features compiles, without tests."""
    lines = tree("{p}", "-p", COMMAND, "-e", "normal,build")
    return {(name, version.removeprefix("v")) for name, version, *_ in map(str.split, lines)}


def check_shared_builds() -> None:
    """Fails if a build of CI compiles packages with other features than the build of all tests."""
    tests = ["--workspace", "-e", "normal,build,dev"]
    module = ["-p", "isochrone-python", "-e", "normal,build", "--features", "mujoco,shared-build"]
    shared = set(tree("{p} {f}", *tests, "--features", "mujoco"))
    for build, flags in {"tests without mujoco": tests, "the Python module for tests": module}.items():
        # Our own packages, which are shown with their path, do differ.
        if differ := sorted(line for line in {*tree("{p} {f}", *flags)} - shared if str(ROOT) not in line):
            sys.exit(f"{build}: other features in {', '.join(differ)}; hint: enable the same in Cargo.toml")


def unsafe_lines(folder: Path) -> int:
    """Lines of code with the word `unsafe`, without comments and tests."""
    paths = [path for path in folder.rglob("*.rs") if path.relative_to(folder).parts[0] in ("src", "build.rs")]
    lines = (line.split("//")[0] for path in paths for line in path.read_text(errors="replace").splitlines())
    return sum(1 for line in lines if re.search(r"\bunsafe\b", line))


def runs_while_building(package: dict) -> str:
    kinds = {kind for target in package["targets"] for kind in target["kind"]}
    return "macro" if "proc-macro" in kinds else "script" if "custom-build" in kinds else ""


def table() -> str:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum", "") for package in lock}
    tree = in_default_tree()
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for package in sorted(metadata()["packages"], key=lambda package: (package["name"], package["version"])):
        key = (package["name"], package["version"])
        if key not in tree or package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        facts = [runs_while_building(package), package["links"] or "", unsafe_lines(folder), checksums[key]]
        rows.writerow([*key, package["license"] or "see its file", *facts])
    return out.getvalue()


def main() -> None:
    current = table()
    if "--check" not in sys.argv:
        OUT.write_text(current)
        return
    if OUT.read_text() != current:
        sys.exit(f"{OUT.relative_to(ROOT)} is not current; hint: run `just dependencies` and review the difference")
    check_shared_builds()


if __name__ == "__main__":
    main()
