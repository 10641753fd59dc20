"""Which pairs of rows two broadcast arrays contain, without expanding them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

# A block of all pairs is at least this large, or there is only one: smaller ones are mostly padding.
_MIN_BLOCK = 64


@dataclass(frozen=True)
class Block:
    """All pairs of ``n`` rows and ``m`` rows, ``batch`` times.

    Rows of shape ``x_shape`` are transposed by ``x_axes`` to ``(batch, n, width)``, and rows of
    shape ``y_shape`` by ``y_axes`` to ``(batch, m, width)``. The values ``(batch, n, m)`` have the
    shape ``value_shape`` before they are transposed by ``value_axes``.
    """

    batch: int
    n: int
    m: int
    x_shape: tuple[int, ...]
    y_shape: tuple[int, ...]
    x_axes: tuple[int, ...]
    y_axes: tuple[int, ...]
    value_shape: tuple[int, ...]
    value_axes: tuple[int, ...]


def block(x: Sequence[int], y: Sequence[int]) -> Block | None:
    """Return how to evaluate rows of these shapes as all pairs, or None if pairs are better.

    ``(n, 1, width)`` and ``(m, width)``, for example, are all pairs of n rows and m rows.

    >>> block((5, 1, 8), (7, 8)).value_shape
    (5, 7)
    >>> block((5, 8), (5, 8)) is None
    True
    """
    rank = max(len(x), len(y)) - 1
    width = x[-1]
    x_lead, y_lead = ((1,) * (rank + 1 - len(z)) + tuple(z[:-1]) for z in (x, y))
    sizes = list(zip(x_lead, y_lead, strict=True))
    shared = [axis for axis, (a, b) in enumerate(sizes) if a == b]
    of_x = [axis for axis, (a, b) in enumerate(sizes) if a != 1 and b == 1]
    of_y = [axis for axis, (a, b) in enumerate(sizes) if a == 1 and b != 1]
    if len(shared) + len(of_x) + len(of_y) < rank:
        raise ValueError(f"shapes {tuple(x)} and {tuple(y)} cannot be broadcast")
    batch = prod(x_lead[axis] for axis in shared)
    n, m = prod(x_lead[axis] for axis in of_x), prod(y_lead[axis] for axis in of_y)
    if min(n, m) < 2 or (batch != 1 and n * m < _MIN_BLOCK):
        return None
    order = [*shared, *of_x, *of_y]
    full = [max(pair) for pair in sizes]
    return Block(
        batch=batch,
        n=n,
        m=m,
        x_shape=(*x_lead, width),
        y_shape=(*y_lead, width),
        x_axes=(*order, rank),
        y_axes=(*order, rank),
        value_shape=tuple(full[axis] for axis in order),
        value_axes=tuple(order.index(axis) for axis in range(rank)),
    )
