"""Success rates in Gymnasium environments."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from isochrone._isochrone import Distance, Model, Planner, RefinedDistance

Policy: TypeAlias = "Model | Callable[..., Any]"


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`."""

    success_by_task: dict[int, float]
    """The success rate of each task, between 0 and 1."""
    episodes: int
    """The number of episodes per task."""
    steps: list[list[int]] = field(repr=False)
    """The length of every episode, by task."""
    successes: list[list[bool]] = field(repr=False)
    """Whether every episode succeeded, by task."""
    frames: list[Any] = field(default_factory=list[Any], repr=False)
    """The rendered frames of the first episode of each task, if ``render=True``."""

    @property
    def success(self) -> float:
        """The mean success rate of all tasks."""
        return sum(self.success_by_task.values()) / len(self.success_by_task)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of `success` over all episodes."""
        n, z = sum(len(task) for task in self.successes), 1.96
        center = (self.success + z * z / (2 * n)) / (1 + z * z / n)
        radius = z * math.sqrt(self.success * (1 - self.success) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, center - radius), min(1.0, center + radius)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{task}</td><td>{100 * rate:.1f} %</td></tr>" for task, rate in self.success_by_task.items()
        )
        low, high = self.interval
        total = f"<tr><th>all</th><th>{100 * self.success:.1f} % [{100 * low:.1f}, {100 * high:.1f}]</th></tr>"
        return f"<table><tr><th>task</th><th>success</th></tr>{rows}{total}</table>"


def evaluate(
    env: Any,
    policy: Policy,
    *,
    episodes: int = 20,
    tasks: int | None = None,
    seed: int = 0,
    success: Literal["any", "last"] = "any",
    render: bool = False,
    progress: bool = False,
) -> Evaluation:
    """Measure the success rate of a policy in a Gymnasium environment, as OGBench does.

    Every task has ``episodes`` episodes. The goal is ``info["goal"]`` of ``reset``; an episode
    succeeds if ``info["success"]`` is true at one of its steps (or its last step).

    Parameters
    ----------
    env
        A Gymnasium environment whose ``reset`` accepts ``options={"task_id": 1}`` and returns
        ``info["goal"]``, as those of OGBench and `isochrone.gym`; or the name of one, such as
        ``"pointmaze-medium"`` or a Gymnasium id.
    policy
        A `Model`, a `PlannedPolicy`, or a callable that maps ``(observation, goal)`` to an action.
    episodes
        The number of episodes per task; OGBench uses 20.
    tasks
        The number of tasks; by default, that of the environment.
    seed
        The seed of the first episode. Environments of OGBench also draw from NumPy's global
        generator: call ``numpy.random.seed`` before, for repeatable results.
    success
        Whether an episode succeeds if the goal is reached at any step, or at its last step.
    render
        Whether the first episode of every task is rendered (``env.render()``).
    progress
        Whether a progress bar is shown.

    Returns
    -------
    Evaluation
        The success rate: ``.success``, and ``.success_by_task``.

    Examples
    --------
    >>> import numpy as np
    >>> result = isochrone.evaluate("isochrone/Nav2d-v0", lambda observation, goal: np.zeros(2), episodes=2)
    >>> result.success
    0.5
    """
    closes = isinstance(env, str)
    if closes:
        import gymnasium

        import isochrone.gym as _gym  # registers the environments

        names = {name: id for id, name in _gym.ids().items()}
        env = gymnasium.make(names.get(env, env), render_mode="rgb_array" if render else None)
    if episodes < 1:
        raise ValueError(f"episodes={episodes}: at least one is needed")
    act = policy.policy if isinstance(policy, Model) else policy
    _check_callable(act)
    try:
        return _rollouts(env, act, episodes, _task_ids(env, tasks), seed, success, render, progress)
    finally:
        if closes:
            env.close()


def _check_callable(act: Any) -> None:
    if isinstance(act, Planner):
        raise TypeError("a Planner has no actions: pass planner.policy(model)")
    if isinstance(act, (RefinedDistance, Distance)):
        raise TypeError("a distance has no actions: pass a Model, or planner.policy(model)")
    if not callable(act):
        raise TypeError(f"{type(act).__name__} is not a policy: pass a Model or a callable (observation, goal)")
    try:
        inspect.signature(act).bind(None, None)
    except TypeError as error:
        raise TypeError(f"the policy must accept (observation, goal): {error}") from None
    except ValueError:
        pass  # a builtin without a signature


def _task_ids(env: Any, tasks: int | None) -> list[int | None]:
    if tasks is None:
        inner = env.unwrapped
        infos = getattr(inner, "task_infos", None)
        n = getattr(inner, "num_tasks", None) if infos is None else len(infos)
        if n is None:
            return [None]
        tasks = int(n)
    if tasks < 1:
        raise ValueError(f"tasks={tasks}: at least one is needed")
    return list(range(1, tasks + 1))


def _rollouts(
    env: Any,
    act: Callable[..., Any],
    episodes: int,
    task_ids: list[int | None],
    seed: int,
    success: Literal["any", "last"],
    render: bool,
    progress: bool,
) -> Evaluation:
    import numpy as np

    bar = _bar(len(task_ids) * episodes) if progress else None
    steps: list[list[int]] = []
    successes: list[list[bool]] = []
    frames: list[Any] = []
    low, high = getattr(env.action_space, "low", None), getattr(env.action_space, "high", None)
    for number, task_id in enumerate(task_ids):
        steps.append([])
        successes.append([])
        film: list[Any] = []
        for episode in range(episodes):
            options = {} if task_id is None else {"options": {"task_id": task_id}}
            # One seed per episode: episodes of different tasks do not share their noise.
            observation, info = env.reset(seed=seed + episode * len(task_ids) + number, **options)
            goal = _goal(observation, info)
            is_done, n_steps, is_success = False, 0, False
            while not is_done:
                if render and episode == 0:
                    film.append(env.render())
                action = np.asarray(act(_plain(observation), goal))
                if low is not None:
                    action = np.clip(action, low, high).astype(env.action_space.dtype, copy=False)
                observation, reward, terminated, truncated, info = env.step(action)
                is_now = bool(info.get("success", terminated and reward > 0))
                is_success = is_now or (is_success and success == "any")
                n_steps += 1
                is_done = bool(terminated or truncated)
            steps[-1].append(n_steps)
            successes[-1].append(is_success)
            if bar is not None:
                bar.update(1)
        if render:
            frames.append(film)
    if bar is not None:
        bar.close()
    rates = {task_id or 1: sum(task) / episodes for task_id, task in zip(task_ids, successes, strict=True)}
    return Evaluation(rates, episodes, steps, successes, frames)


def _plain(observation: Any) -> Any:
    entries: Any = observation
    return entries["observation"] if isinstance(observation, dict) else observation


def _goal(observation: Any, info: dict[str, Any]) -> Any:
    if "goal" in info:
        return info["goal"]
    # The convention of Gymnasium-Robotics.
    entries: Any = observation
    if isinstance(observation, dict) and "desired_goal" in entries:
        return entries["desired_goal"]
    raise ValueError("the environment has no goal: reset() returns neither info['goal'] nor 'desired_goal'")


def _bar(total: int) -> Any:
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return tqdm(total=total, unit=" episodes", dynamic_ncols=True)
