"""Applies the same actions in OGBench (Python) and in isochrone, and compares the states.

    python ogbench_check.py PROGRAM [--steps N] [--envs NAME ...]

PROGRAM is the example `trace` of isochrone-envs. The ball takes N actions that drive it into walls and
teleporters, whose exits are forced to be the same; the ant takes 100 actions on the open floor of its
maze. Since version 3.5 MuJoCo adds the margins of two geoms, so the margins of OGBench's ant are halved,
which restores the margins that it was defined with.
"""

import argparse
import pathlib
import subprocess
import tempfile

import gymnasium
import mujoco
import numpy as np
import ogbench  # noqa: F401  (registers the environments)

POINT = ["pointmaze-medium", "pointmaze-large", "pointmaze-giant", "pointmaze-teleport"]
ANT = ["antmaze-medium", "antmaze-large", "antmaze-giant", "antmaze-teleport"]
TOLERANCE = 1e-9
OPEN_STEPS = 100


def action(env, step, direction, rng):
    """Returns a noisy action along a direction that leads along walls and into corners; in the maze with
    teleporters, half of the actions lead to an entrance."""
    teleports = env._teleport_info
    if teleports is not None and direction.size == 2 and step % 400 < 200:
        entrance = teleports["teleport_in_ijs"][step // 400 % 2]
        subgoal, _ = env.get_oracle_subgoal(env.get_xy(), env.ij_to_xy(entrance))
        direction = (subgoal - env.get_xy()) / (np.linalg.norm(subgoal - env.get_xy()) + 1e-6)
    return np.clip(direction + 0.3 * rng.standard_normal(direction.shape), -1, 1).astype(np.float32)


def check(program, name, steps, seed=0, in_corner=False):
    rng = np.random.default_rng(seed)
    is_point = name.startswith("point")
    env = gymnasium.make(f"{name}-v0").unwrapped
    env.reset(seed=seed, options={"task_id": 1})
    version = tuple(int(part) for part in mujoco.__version__.split(".")[:2])
    if not is_point and version >= (3, 5):
        env.model.geom_margin[:] = env.model.geom_margin / 2
    model, data = env.model, env.data
    mujoco.mj_resetData(model, data)
    # In the center of the first task's cell, or near a teleporter entrance.
    position = env.init_qpos + rng.uniform(-0.1, 0.1, model.nq)
    position[:2] = [-1.1, -1.1] if in_corner else [20.0, 8.0] if name.endswith("teleport") else [0.0, 0.0]
    velocity = 0.1 * rng.standard_normal(model.nv)
    env.set_state(position, velocity)
    env.set_goal(goal_xy=np.array([-100.0, -100.0]))
    actions = np.empty((steps, env.action_space.shape[0]), np.float32)
    # Random exits; the trap, which cannot be left, only occurs in the last hundred steps.
    exits = np.array([2, 1])[rng.integers(0, 2, steps)]
    exits[-100:] = rng.integers(0, 3, 100)
    states = np.empty((steps, model.nq + model.nv))
    contacts = teleports = 0
    for step in range(steps):
        choice = exits[step]
        np.random.randint = lambda *_: choice
        if step % 25 == 0:
            direction = rng.uniform(-1.2, 1.2, actions.shape[1])
        actions[step] = action(env, step, direction, rng)
        env.step(actions[step].astype(np.float64))
        states[step] = np.concatenate([data.qpos, data.qvel])
        contacts += sum(1 for contact in data.contact if model.geom(contact.geom1).name.startswith("block") or model.geom(contact.geom2).name.startswith("block"))
        teleports += bool(step and np.abs(states[step, :2] - states[step - 1, :2]).max() > 1.0)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        np.save(folder / "start.npy", np.concatenate([position, velocity]))
        np.save(folder / "actions.npy", actions.astype(np.float64).ravel())
        np.save(folder / "exits.npy", exits.astype(np.float64))
        subprocess.run([program, name, str(folder)], check=True)
        ours = np.load(folder / "states.npy").reshape(states.shape)
    apart = np.abs(ours - states).max()
    print(f"{name:20} {steps:6} steps  {contacts:6} contacts with walls  {teleports:4} teleports  bit-identical {np.array_equal(ours, states)!s:5}  max difference {apart:.1e}")
    assert apart <= TOLERANCE, f"{name}: {apart}"
    assert np.array_equal(ours.view(np.int64), states.view(np.int64)), f"{name}: not bit-identical"
    assert not (is_point or in_corner) or contacts > 0, f"{name}: no wall was touched"
    assert not (is_point and name.endswith("teleport")) or teleports > 5, f"{name}: {teleports} teleports"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--envs", nargs="*", default=POINT + ANT)
    args = parser.parse_args()
    print(f"MuJoCo {mujoco.__version__}, OGBench {ogbench.__version__ if hasattr(ogbench, '__version__') else ''}")
    for name in args.envs:
        check(args.program, name, args.steps if name.startswith("point") else OPEN_STEPS)
    if "antmaze-medium" in args.envs:
        # Contact dynamics are chaotic, but states are bit-identical even where legs scrape along walls.
        check(args.program, "antmaze-medium", 10 * OPEN_STEPS, in_corner=True)
