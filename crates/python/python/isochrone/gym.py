"""The environments of isochrone in Gymnasium.

>>> import gymnasium
>>> import isochrone.gym
>>> env = gymnasium.make("isochrone/Nav2d-v0")

Without an import: ``gymnasium.make("isochrone.gym:isochrone/Nav2d-v0")``.

The conventions are those of OGBench: the goal is ``info["goal"]``, ``info["success"]`` is 1 where
it is reached, and ``reset(options={"task_id": 3})`` chooses a task, counted from 1. The mazes need
MuJoCo: ``pip install 'isochrone[physics]'``.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from isochrone._isochrone import Env, episode_steps

__all__ = ["GoalEnv", "ids"]

Row = NDArray[np.float32]


class GoalEnv(gymnasium.Env[Row, Row]):
    """A goal-conditioned environment.

    An episode is a function of the seed and its number: ``reset(seed=0)`` starts number 0, every
    further ``reset()`` the next.

    Parameters
    ----------
    name
        The name of the environment; see `isochrone.environments`.
    render_mode
        None, or ``"rgb_array"`` for figures of the map and the path.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, name: str, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode={render_mode!r}: use 'rgb_array' or None")
        self._env = Env(name)
        self.render_mode = render_mode
        width, action_width, self.max_episode_steps, self.num_tasks = self._env.sizes
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (width,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (action_width,), np.float32)
        self._seed, self._number = 0, 0
        self._goal: Row = np.zeros(width, np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Row, dict[str, Any]]:
        """Start an episode; ``options={"task_id": k}`` chooses its task, from 1."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._number = seed, 0
        if options and "task_id" in options:
            task = int(options["task_id"])
            if not 1 <= task <= self.num_tasks:
                raise ValueError(f"task_id={task}: tasks are 1 to {self.num_tasks}")
            # The next episode of this task.
            self._number += (task - 1 - self._number) % self.num_tasks
        observation, self._goal = self._env.reset(self._seed, self._number)
        task = self._number % self.num_tasks + 1
        self._number += 1
        return observation, {"goal": self._goal.copy(), "success": 0.0, "task_id": task}

    def step(self, action: Row) -> tuple[Row, float, bool, bool, dict[str, Any]]:
        """Apply an action; values outside the action space are clipped."""
        observation, reward, success, terminated = self._env.step(action)
        return observation, reward, terminated, False, {"goal": self._goal.copy(), "success": float(success)}

    def render(self) -> Any:
        """Return an image of the map, the goal and the path: ``(height, width, 3)`` bytes."""
        return self._env.render() if self.render_mode == "rgb_array" else None


def ids() -> dict[str, str]:
    """Return the registered ids and the environments they make."""
    return dict(_IDS)


def _title(name: str) -> str:
    words = {"pointmaze": "PointMaze", "antmaze": "AntMaze", "d4rl": "D4RL"}
    return "".join(words.get(part, part.capitalize()) for part in name.split("-"))


_IDS = {f"isochrone/{_title(name)}-v0": name for name in episode_steps()}

for _id, _name in _IDS.items():
    gymnasium.register(  # pyright: ignore[reportUnknownMemberType]
        _id,
        "isochrone.gym:GoalEnv",
        kwargs={"name": _name},
        max_episode_steps=episode_steps()[_name],
    )
