"""Evaluation as in OGBench: episodes of every task in its gymnasium environment, one call of a compiled policy per step."""

import gymnasium
import numpy as np
import ogbench  # noqa: F401, registers the environments


def make(name):
    return gymnasium.make(f"{name}-v0")


def evaluate(env, policy, episodes, seed):
    """Return the success rate of every task; `policy` maps an observation and a goal to an action."""
    # Starts and goals are drawn by the environment from the global generator.
    np.random.seed(seed)
    successes = []
    for task in range(1, env.unwrapped.num_tasks + 1):
        n = 0
        for episode in range(episodes):
            observation, info = env.reset(seed=seed + episode, options={"task_id": task})
            goal, is_done = info["goal"], False
            while not is_done:
                action = np.clip(policy(observation, goal), -1, 1)
                observation, _, terminated, truncated, info = env.step(action)
                is_done = terminated or truncated
            n += bool(info["success"])
        successes.append(n / episodes)
    return successes
