"""Finds the MuJoCo library of the `mujoco` package, without importing the package."""

from __future__ import annotations

import glob
import importlib.util
import os


def library() -> str | None:
    """Return the path of the MuJoCo library, or None if it is not installed.

    The environment variable ``MUJOCO_LIBRARY`` overrides the search.
    """
    if path := os.environ.get("MUJOCO_LIBRARY"):
        return path
    # The package is not imported: that takes 0.3 s and opens OpenGL.
    spec = importlib.util.find_spec("mujoco")
    for folder in spec.submodule_search_locations or () if spec else ():
        for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
            if found := sorted(glob.glob(os.path.join(folder, pattern))):
                return found[0]
    return None
