"""Times steps of OGBench's environments, for the benchmark: for each input line `ENV STEPS`, prints the seconds."""

import sys
import time

import gymnasium
import numpy as np
import ogbench  # noqa: F401  (registers the environments)

envs = {}
for line in sys.stdin:
    name, steps = line.split()
    if name not in envs:
        envs[name] = gymnasium.make(f"{name}-v0")
        envs[name].reset(seed=0, options={"task_id": 1})
    env, rng = envs[name], np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (1000, *env.action_space.shape)).astype(np.float32)
    started = time.perf_counter()
    for step in range(int(steps)):
        _, _, terminated, truncated, _ = env.step(actions[step % 1000])
        if terminated or truncated:
            env.reset(options={"task_id": 1})
    print(time.perf_counter() - started, flush=True)
