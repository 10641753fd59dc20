"""Measures the time to import isochrone over a bare interpreter, alternated, best of 15."""

import subprocess
import sys
import time


def seconds(program: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - start


times = [(seconds("pass"), seconds("import isochrone")) for _ in range(15)]
bare, package = (min(column) for column in zip(*times, strict=True))
heavy = "import sys, isochrone; print([name for name in ('numpy', 'torch', 'jax', 'gymnasium') if name in sys.modules])"
print(f"import isochrone: {1000 * (package - bare):.0f} ms over a bare interpreter ({1000 * bare:.0f} ms); imports", end=" ", flush=True)
subprocess.run([sys.executable, "-c", heavy], check=True)
