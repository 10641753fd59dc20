"""Distances as a column of batches, for data pipelines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from isochrone._isochrone import Distance, Model, RefinedDistance, set_num_threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class DistanceColumn:
    """Adds a column of distances to batches of rows: a class for ``ray.data.Dataset.map_batches``.

    The model is loaded once per worker. A batch is a mapping of names to arrays (Ray Data, Hugging
    Face datasets with ``batched=True``), or a data frame of pandas or polars (Spark's
    ``mapInPandas``); the result has the same type.

    Parameters
    ----------
    distance
        A `Model`, `RefinedDistance` or `Distance`, or the folder of a run.
    goal
        A goal for all rows, or the name of a column with a goal for each row.
    observation
        The column with the observations.
    output
        The column to add.
    unit
        The unit of the distances.
    threads
        The number of threads of this process, if it is to be changed: 1 for pipelines that start one
        worker per core.

    Examples
    --------
    >>> import numpy as np
    >>> model = isochrone.fit(isochrone.collect("nav2d", 20), size="small", steps=10, progress=False)
    >>> add_distance = isochrone.DistanceColumn(model, goal=[0.0, -20.0], observation="state")
    >>> batch = add_distance({"state": np.zeros((3, 2))})
    >>> sorted(batch)
    ['distance', 'state']
    """

    def __init__(
        self,
        distance: Model | RefinedDistance | Distance | str | os.PathLike[str],
        goal: ArrayLike | str,
        *,
        observation: str = "observation",
        output: str = "distance",
        unit: Literal["steps", "seconds", "nats"] = "steps",
        threads: int | None = None,
    ) -> None:
        self.distance = Model.load(distance) if isinstance(distance, (str, os.PathLike)) else distance
        self.goal = goal
        self.observation = observation
        self.output = output
        self.unit: Literal["steps", "seconds", "nats"] = unit
        if threads is not None:
            set_num_threads(threads)

    def __call__(self, batch: Any) -> Any:
        """Return the batch with the additional column."""
        import numpy as np

        def rows(name: str) -> Any:
            known = list(batch.columns if hasattr(batch, "columns") else batch)
            if name not in known:
                raise KeyError(f"{name!r} is not a column: the columns are {', '.join(map(str, known))}")
            # Tables of lists arrive as arrays of objects.
            return np.stack([np.asarray(row, np.float32) for row in batch[name]])

        goal = rows(self.goal) if isinstance(self.goal, str) else self.goal
        distances = self.distance.distance(rows(self.observation), goal, unit=self.unit)
        if hasattr(batch, "assign"):  # pandas
            return batch.assign(**{self.output: distances})
        if hasattr(batch, "with_columns"):  # polars
            import polars

            return batch.with_columns(polars.Series(self.output, distances))
        return {**batch, self.output: distances}
