"""Audits: how far a distance can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from isochrone._isochrone import Dataset, audit_distance, audit_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Audit:
    """The result of `audit`. Values that do not apply are NaN."""

    one_step: float
    """The distance of one recorded step."""
    one_step_back: float
    """The distance of one recorded step in the opposite direction."""
    above_recorded_lag: float
    """The fraction of recorded pairs that are overestimated by more than a quarter and five steps."""
    below_speed_limit: float
    """The fraction of random pairs closer than the fastest recorded speed allows."""
    triangle_violations: float
    """The fraction of random triples that violate the triangle inequality."""
    largest_self_distance: float
    """The largest distance from a state to itself."""
    rank_across_episodes: float
    """The rank correlation with recorded time over pairs of states of different episodes."""
    problems: tuple[str, ...]
    """The reasons not to trust the distance; empty if there are none."""

    @property
    def is_trusted(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return asdict(self)


def audit(
    distance: Any,
    data: Dataset,
    *,
    rows: Sequence[int] | None = None,
    seed: int = 0,
) -> Audit:
    """Compare any distance with the time recorded in a dataset.

    Parameters
    ----------
    distance
        A `Model`, `RefinedDistance` or `Distance`; a callable that maps ``(n, width)`` and ``(n,
        width)`` to ``(n,)`` steps, such as the critic of another library; or a matrix of steps
        between recorded states, ``[from, to]``.
    data
        The dataset, ideally of episodes that were not used for training.
    rows
        The states of the matrix, as indices over all episodes in order; all states by default.
    seed
        The random seed of the pairs that are compared.

    Examples
    --------
    >>> import numpy as np
    >>> data = isochrone.collect("nav2d", 50)
    >>> report = isochrone.audit(lambda start, goal: np.linalg.norm(start - goal, axis=-1), data)
    >>> report.triangle_violations
    0.0
    """
    if hasattr(distance, "distance") or callable(distance):
        found = audit_distance(cast("Any", distance), data, seed)
    else:
        found = _audit_matrix(distance, data, rows, seed)
    problems: tuple[str, ...] = tuple(found.pop("problems"))
    return Audit(**found, problems=problems)


def _audit_matrix(matrix: ArrayLike, data: Dataset, rows: Sequence[int] | None, seed: int) -> dict[str, Any]:
    import numpy as np

    states = list(range(data.n_states)) if rows is None else [int(row) for row in rows]
    return audit_matrix(np.ascontiguousarray(matrix, np.float64), states, data, seed)
