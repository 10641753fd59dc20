"""Steps of OGBench's environments in Python, for the benchmark: waits for a line `WORLD STEPS`, answers with seconds."""

import sys
import time

import gymnasium
import numpy as np
import ogbench  # noqa: F401  (registers the environments)

made = {}
for line in sys.stdin:
    world, steps = line.split()
    if world not in made:
        made[world] = gymnasium.make(f"{world}-v0")
        made[world].reset(seed=0, options={"task_id": 1})
    env, rng = made[world], np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (1000, *env.action_space.shape)).astype(np.float32)
    started = time.perf_counter()
    for step in range(int(steps)):
        _, _, terminated, truncated, _ = env.step(actions[step % 1000])
        if terminated or truncated:
            env.reset(options={"task_id": 1})
    print(time.perf_counter() - started, flush=True)
