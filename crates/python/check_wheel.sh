#!/usr/bin/env bash
# Tests a wheel in clean environments of the oldest and the newest CPython of this machine: size, dependencies, import time, tests outside the source tree.
set -euo pipefail
wheel=$(realpath "$1")
repository=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bytes=$(stat -c %s "$wheel")
echo "wheel: $bytes bytes"
test "$bytes" -le 15000000 || { echo "larger than 15 MB"; exit 1; }

# CPython 3.11 and newer, from the PATH or pyenv.
interpreters=$(for minor in 11 12 13 14 15; do
    for python in "$(command -v python3.$minor || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.$minor.*/bin/python3; do
        if [ -x "$python" ] && "$python" -c "import sys; sys.exit(sys.version_info[:2] != (3, $minor))" 2>/dev/null; then
            echo "$python"
            break
        fi
    done
done)
oldest=$(echo "$interpreters" | head -1)
newest=$(echo "$interpreters" | tail -1)

cp -r "$repository/crates/python/tests" "$work/tests"
mkdir -p "$work/examples"
cp "$repository/README.md" "$work/"
cp "$repository/examples/walks.csv" "$work/examples/"
for python in $(printf '%s\n' "$oldest" "$newest" | uniq); do
    "$python" --version
    rm -rf "$work/env"
    "$python" -m venv "$work/env"
    "$work/env/bin/pip" install --quiet --disable-pip-version-check "$wheel" pytest
    (cd "$work" && env/bin/python -m pytest -q -p no:cacheprovider tests)
    (cd "$work" && env/bin/isochrone --version)
    (cd "$work" && env/bin/python "$repository/benches/python/imports.py")
done
