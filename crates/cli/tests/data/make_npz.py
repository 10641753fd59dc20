"""Write the .npz fixtures next to this script with SciPy, as users would.

    python3 crates/cli/tests/data/make_npz.py    # needs numpy, scipy

chain.npz and walk.npz are valid; the names of the others describe their errors.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

here = Path(__file__).parent


def save(name, matrix):
    sp.save_npz(here / name, matrix)


# The fork of the paper: 0 -> {1, 2} -> 3, and 3 stays.
fork = np.array([[0, 0.5, 0.5, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]])
save("chain.npz", sp.csr_matrix(fork))

# A line of five cells with two actions, left and right, that slip with probability 0.1.
left, right = np.zeros((5, 5)), np.zeros((5, 5))
for cell in range(5):
    left[cell, max(cell - 1, 0)] += 0.9
    left[cell, min(cell + 1, 4)] += 0.1
    right[cell, min(cell + 1, 4)] += 0.9
    right[cell, max(cell - 1, 0)] += 0.1
save("walk.npz", sp.vstack([sp.csr_matrix(left), sp.csr_matrix(right)]).tocsr())

save("csc.npz", sp.csc_matrix(fork))
save("sums.npz", sp.csr_matrix(fork * [[1.0], [0.7], [1.0], [1.0]]))
with_nan = fork.copy()
with_nan[1, 3] = np.nan
save("nan.npz", sp.csr_matrix(with_nan))
save("shape.npz", sp.csr_matrix(fork[:3]))
np.savez(here / "noarrays.npz", observations=np.zeros((2, 3), np.float32))
