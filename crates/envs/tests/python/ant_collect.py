"""Collects antmaze-medium-navigate in Python, as OGBench's generator does, with isochrone's walking ant.

    python ant_collect.py WALKER EPISODES OUTPUT.npz

WALKER is crates/envs/assets/ant-walker.safetensors. The output is a reference for isochrone's datasets.
"""

import sys

import gymnasium
import mujoco
import numpy as np
import ogbench  # noqa: F401  (registers the environments)
from safetensors.numpy import load_file

STEPS, NOISE, SEED = 1000, 0.2, 1
ANKLES = np.array([1.0, -1.0, -1.0, 1.0])


def turned(vector, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def action(weights, q, v, direction):
    """Returns the mode of the action distribution for a direction, in the frame of the side nearest to it."""
    w, x, y, z = q[3:7] / np.linalg.norm(q[3:7])
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    k = int(np.round((np.arctan2(direction[1], direction[0]) - yaw) / (np.pi / 2)))
    frame, legs = yaw + k * np.pi / 2, [(leg + k) % 4 for leg in range(4)]
    of_legs = lambda values: np.concatenate([[values[2 * leg] for leg in legs], [values[2 * leg + 1] * ANKLES[leg] for leg in legs]])
    up = turned([2 * (x * z - w * y), 2 * (y * z + w * x)], -k * np.pi / 2)
    seen = [[q[2]], up, [1 - 2 * (x * x + y * y)], of_legs(q[7:]), turned(v[:2], -frame), [v[2]], turned(v[3:5], -k * np.pi / 2), [v[5]], 0.2 * of_legs(v[6:]), turned(direction, -frame)]
    values = np.concatenate(seen).astype(np.float32)
    for layer in range(3):
        values = values @ weights[f"w{layer}"] + weights[f"b{layer}"]
        values = np.maximum(values, 0) if layer < 2 else values
    mean, torques = np.tanh(values[:8]), np.zeros(8)
    for slot, leg in enumerate([3, 0, 1, 2]):
        side = (leg - k) % 4
        torques[2 * slot : 2 * slot + 2] = mean[side], mean[4 + side] * ANKLES[leg]
    return torques


def main():
    walker, episodes, output = sys.argv[1:]
    weights = load_file(walker)
    np.random.seed(SEED)
    env = gymnasium.make("antmaze-medium-v0", terminate_at_goal=False).unwrapped
    if tuple(int(part) for part in mujoco.__version__.split(".")[:2]) >= (3, 5):
        env.model.geom_margin[:] = env.model.geom_margin / 2
    is_free = env.maze_map == 0
    cells = [tuple(cell) for cell in np.argwhere(is_free)]
    corridor = lambda i, j: (is_free[i - 1, j], is_free[i + 1, j], is_free[i, j - 1], is_free[i, j + 1]) in [(True, True, False, False), (False, False, True, True)]
    vertices = [cell for cell in cells if not corridor(*cell)]
    one_of = lambda some: some[np.random.randint(len(some))]
    columns = {name: [] for name in ("observations", "actions", "terminals", "qpos", "qvel")}
    for _ in range(int(episodes)):
        seen, _ = env.reset(options=dict(task_info=dict(init_ij=one_of(cells), goal_ij=one_of(vertices))))
        for step in range(STEPS + 1):
            here = env.get_xy()
            subgoal, _ = env.get_oracle_subgoal(here, env.cur_goal_xy)
            direction = (subgoal - here) / (np.linalg.norm(subgoal - here) + 1e-6)
            q, v = env.data.qpos.copy(), env.data.qvel.copy()
            chosen = np.clip(action(weights, q, v, direction) + np.random.normal(0, NOISE, 8), -1, 1)
            for name, value in zip(columns, (seen, chosen, step == STEPS, q, v)):
                columns[name].append(value)
            seen, _, _, _, info = env.step(chosen)
            if info["success"]:
                env.set_goal(goal_xy=env.add_noise(env.ij_to_xy(one_of(vertices))))
    np.savez_compressed(output, **{name: np.array(rows, bool if name == "terminals" else np.float32) for name, rows in columns.items()})


if __name__ == "__main__":
    main()
