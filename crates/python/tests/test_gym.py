from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isochrone

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import isochrone.gym  # noqa: E402

Python = Callable[..., subprocess.CompletedProcess[str]]

HAS_MUJOCO = importlib.util.find_spec("mujoco") is not None
IDS = [id_ for id_, name in isochrone.gym.ids().items() if HAS_MUJOCO or name == "nav2d"]
MAZE = "isochrone/PointMazeMedium-v0"
with_mujoco = pytest.mark.skipif(not HAS_MUJOCO, reason="MuJoCo")


def test_every_environment_has_an_id() -> None:
    assert set(isochrone.gym.ids().values()) == set(isochrone.environments())
    assert set(isochrone.gym.ids()) <= set(gymnasium.registry)


@pytest.mark.filterwarnings("ignore::UserWarning:gymnasium")
@pytest.mark.parametrize("name", IDS)
def test_gymnasium_accepts_the_environment(name: str) -> None:
    env = gymnasium.make(name)
    assert env.spec.max_episode_steps > 0
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_episodes_are_truncated_at_the_limit() -> None:
    env = gymnasium.make("isochrone/Nav2d-v0", max_episode_steps=7)
    env.reset(seed=0)
    ends = [env.step(np.zeros(2, np.float32))[2:4] for _ in range(7)]
    assert ends == [(False, False)] * 6 + [(False, True)]


@pytest.mark.parametrize("name", ["isochrone/Nav2d-v0", pytest.param(MAZE, marks=with_mujoco)])
def test_episodes_follow_from_seed_and_number(name: str) -> None:
    def rollout() -> np.ndarray:
        env = gymnasium.make(name)
        env.action_space.seed(0)
        seen = [env.reset(seed=3)[0], env.reset()[0]]
        seen += [env.step(env.action_space.sample())[0] for _ in range(30)]
        return np.stack(seen)

    one = rollout()
    np.testing.assert_array_equal(one, rollout())
    assert not np.array_equal(one[0], gymnasium.make(name).reset(seed=4)[0]) or not np.array_equal(one[0], one[1])


@pytest.mark.parametrize("name", ["isochrone/Nav2d-v0", pytest.param(MAZE, marks=with_mujoco)])
def test_tasks_are_chosen_by_number(name: str) -> None:
    env = gymnasium.make(f"isochrone.gym:{name}")
    n = env.unwrapped.num_tasks
    for task in range(1, min(n, 5) + 1):
        observation, info = env.reset(seed=0, options={"task_id": task})
        assert info["task_id"] == task and info["goal"].shape == observation.shape and info["success"] == 0
    for task in (0, n + 1):
        with pytest.raises(ValueError, match=f"task_id={task}: tasks are 1 to {n}"):
            env.reset(options={"task_id": task})


def test_the_next_task_follows() -> None:
    env = gymnasium.make("isochrone/Nav2d-v0")
    n = env.unwrapped.num_tasks
    numbers = [env.reset(seed=0)[1]["task_id"], *(env.reset()[1]["task_id"] for _ in range(n))]
    assert numbers == [*range(1, n + 1), 1]


@pytest.mark.parametrize("name", ["isochrone/Nav2d-v0", pytest.param(MAZE, marks=with_mujoco)])
def test_renders_arrays(name: str) -> None:
    env = gymnasium.make(name, render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3 and first.std() > 0
    for _ in range(5):
        env.step(np.ones(env.action_space.shape, np.float32))
    assert not np.array_equal(env.render(), first)
    with pytest.raises(ValueError, match="human"):
        isochrone.gym.GoalEnv(isochrone.gym.ids()[name], render_mode="human")


def test_all_frames_have_the_same_shape() -> None:
    env = gymnasium.make("isochrone/Nav2d-v0", render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    env.step(np.ones(2, np.float32))
    assert env.render().shape == first.shape


def test_vectors_of_environments() -> None:
    envs = gymnasium.make_vec("isochrone/Nav2d-v0", num_envs=3, vectorization_mode="sync")
    observations, infos = envs.reset(seed=5)
    assert observations.shape == infos["goal"].shape == (3, 2)
    observations, rewards, *_ = envs.step(np.zeros((3, 2), np.float32))
    assert observations.shape == (3, 2) and rewards.shape == (3,)
    np.testing.assert_array_equal(gymnasium.make("isochrone/Nav2d-v0").reset(seed=6)[0], envs.reset(seed=5)[0][1])
    envs.close()


def test_errors(hint: Callable[[pytest.ExceptionInfo[Any]], str]) -> None:
    with pytest.raises(isochrone.IsochroneError, match="'nav3d' is not an environment") as raised:
        isochrone.gym.GoalEnv("nav3d")
    assert "environments()" in hint(raised)
    env = isochrone.gym.GoalEnv("nav2d")
    env.reset(seed=0)
    with pytest.raises(isochrone.IsochroneError, match="an action of 3 values"):
        env.step(np.zeros(3, np.float32))


WITHOUT_PHYSICS = """
import sys, tempfile
import isochrone
from isochrone import _isochrone
assert isochrone.mujoco_version() is None
isochrone.environments(), isochrone.datasets(), _isochrone.episode_steps()
calls = {
    "collect": lambda: isochrone.collect("pointmaze-medium-navigate", 1),
    "ant": lambda: isochrone.collect("antmaze-medium-navigate", 1),
    "env": lambda: _isochrone.Env("pointmaze-medium"),
    "teleport": lambda: _isochrone.Env("antmaze-teleport"),
    "open": lambda: _isochrone.open_mujoco(sys.argv[1]),
}
try:
    import gymnasium, isochrone.gym
    calls["make"] = lambda: gymnasium.make("isochrone/AntMazeMedium-v0")
    calls["evaluate"] = lambda: isochrone.evaluate("isochrone/PointMazeLarge-v0", lambda o, g: o, episodes=1)
except ImportError:
    pass
for name, call in calls.items():
    try:
        call()
    except isochrone.PhysicsError as error:
        assert isinstance(error, ImportError) and error.__notes__[0].startswith("hint: "), name
    else:
        print(name, "worked")
assert len(isochrone.collect("nav2d", 2)) == 2
print("done")
"""


@pytest.fixture(scope="module", params=["missing", "text", "other"])
def wrong_library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file that is not MuJoCo: it does not exist, is no library, or is another library."""
    file = tmp_path_factory.mktemp("physics") / "libmujoco.so"
    if request.param == "text":
        file.write_text("not a library")
    if request.param == "other":
        return importlib.util.find_spec("numpy._core._multiarray_umath").origin
    return str(file)


def test_nothing_aborts_without_mujoco(wrong_library: str, python: Python) -> None:
    done = python(WITHOUT_PHYSICS, wrong_library, env={"MUJOCO_LIBRARY": wrong_library})
    assert (done.returncode, done.stdout.strip()) == (0, "done"), (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["envs", "list"],
        ["envs", "generate", "pointmaze-medium-navigate", "--episodes", "1"],
        ["envs", "generate", "nav2d", "--episodes", "1"],
    ],
    ids=" ".join,
)
def test_the_command_does_not_abort_without_mujoco(arguments: list[str], python: Python, tmp_path: Path) -> None:
    given = [*arguments, "-o", tmp_path / "data.npz"] if "generate" in arguments else arguments
    done = python("isochrone", *given, env={"MUJOCO_LIBRARY": str(tmp_path / "libmujoco.so")})
    if "pointmaze-medium-navigate" in arguments:
        (line,) = done.stderr.strip().splitlines()
        assert done.returncode == 2 and "MuJoCo" in line and "; hint: " in line
    else:
        assert done.returncode == 0, (done.returncode, done.stderr)
