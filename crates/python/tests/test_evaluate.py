from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isochrone

gymnasium = pytest.importorskip("gymnasium")


def toward(observation: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The action that leads straight to the goal."""
    return np.clip(goal - observation, -1, 1)


class Line(gymnasium.Env):  # type: ignore[misc]
    """A point on a line; the goal is at the number of the task."""

    observation_space = gymnasium.spaces.Box(-9, 9, (1,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    num_tasks = 3

    def __init__(self, is_dict: bool = False, has_goal: bool = True) -> None:
        self.is_dict, self.has_goal = is_dict, has_goal
        self.seeds: list[int] = []

    def observe(self) -> Any:
        here = np.array([self.at], np.float32)
        return {"observation": here, "desired_goal": self.goal} if self.is_dict else here

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed or 0)
        self.at, self.n = 0.0, 0
        self.goal = np.array([(options or {}).get("task_id", 1)], np.float32)
        return self.observe(), {"goal": self.goal} if self.has_goal else {}

    def step(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.at += float(action[0])
        self.n += 1
        is_there = abs(self.at - self.goal[0]) < 0.1
        return self.observe(), float(is_there), False, self.n == 5, {"success": float(is_there)}


def test_success_rates_by_task() -> None:
    env = Line()
    # Actions are clipped to the action space and may be float64.
    result = isochrone.evaluate(env, lambda here, goal: 5 * (goal - here).astype(np.float64), episodes=2, seed=10)
    assert result.success == 1 and result.success_by_task == {1: 1.0, 2: 1.0, 3: 1.0}
    assert result.steps == [[5, 5]] * 3 and 0.6 < result.interval[0] < result.interval[1] <= 1
    assert sorted(env.seeds) == list(range(10, 16))
    some = isochrone.evaluate(env, lambda here, goal: np.minimum(goal - here, 2 - here), tasks=3, episodes=1)
    assert some.success_by_task == {1: 1.0, 2: 1.0, 3: 0.0} and some.success == pytest.approx(2 / 3)
    assert "66.7" in some._repr_html_()


def test_success_at_any_step_or_at_the_last() -> None:
    passes = lambda here, goal: np.ones(1)  # noqa: E731
    assert isochrone.evaluate(Line(), passes, episodes=1).success == 1
    assert isochrone.evaluate(Line(), passes, episodes=1, success="last").success == 0


def test_goals_in_observations() -> None:
    assert isochrone.evaluate(Line(is_dict=True, has_goal=False), toward, episodes=1).success == 1


def test_errors() -> None:
    with pytest.raises(ValueError, match="no goal"):
        isochrone.evaluate(Line(has_goal=False), toward)
    with pytest.raises(TypeError, match=r"\(observation, goal\)"):
        isochrone.evaluate(Line(), lambda observation: observation)
    with pytest.raises(TypeError, match="not a policy"):
        isochrone.evaluate(Line(), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="episodes=0"):
        isochrone.evaluate(Line(), toward, episodes=0)
    with pytest.raises(ValueError, match="tasks=0"):
        isochrone.evaluate(Line(), toward, tasks=0)
    with pytest.raises(ZeroDivisionError):
        isochrone.evaluate(Line(), lambda observation, goal: 1 / 0)


def test_models_and_planners_are_evaluated_by_name(model: isochrone.Model, walks: isochrone.Dataset) -> None:
    one, other = (isochrone.evaluate("isochrone/Nav2d-v0", model, episodes=2) for _ in range(2))
    assert one == other and 0 <= one.success <= 1
    planner = isochrone.Planner(lambda start, goal: np.linalg.norm(start - goal, axis=-1), walks, states=50)
    planned = isochrone.evaluate("isochrone/Nav2d-v0", planner.policy(model), episodes=1)
    assert len(planned.steps) == 1


def test_episodes_are_rendered() -> None:
    result = isochrone.evaluate("isochrone/Nav2d-v0", toward, episodes=2, render=True)
    assert len(result.frames) == 1 and len(result.frames[0]) == result.steps[0][0]
    assert result.frames[0][0].dtype == np.uint8


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["pointmaze-medium-navigate-v0", "cube-single-play-v0"])
def test_environments_of_ogbench(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    ogbench = pytest.importorskip("ogbench")
    env = gymnasium.wrappers.TimeLimit(ogbench.make_env_and_datasets(name, env_only=True), 5)
    width = env.observation_space.shape[0]
    seen: list[np.ndarray] = []

    def policy(observation: np.ndarray, goal: np.ndarray) -> np.ndarray:
        assert observation.shape == goal.shape == (width,)
        seen.append(goal)
        return np.zeros(env.action_space.shape)

    result = isochrone.evaluate(env, policy, episodes=1)
    assert list(result.success_by_task) == [1, 2, 3, 4, 5] and result.success == 0
    assert len({goal.tobytes() for goal in seen}) == 5
    env.close()
