"""Two goal samplers in NumPy, for comparison in `just bench-data`. Prints one line of JSON.

`published`: as in published code (OGBench's loader): random indices, a search for the end of the episode, a geometric draw, one fancy index per column.
`best`: as fast as NumPy allows: precomputed tables, the inverse distribution function by a logarithm, and rows gathered into reused buffers.

    python numpy_sample.py published|best BATCH SECONDS
"""

import json
import sys
import time

import numpy as np

EPISODES, STEPS, OBSERVATION, ACTION, GAMMA = 1000, 1000, 29, 8, 0.99
kind, batch, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(1)

states = EPISODES * (STEPS + 1)
observations = rng.standard_normal((states, OBSERVATION), dtype=np.float32)
actions = rng.standard_normal((states, ACTION), dtype=np.float32)  # a row for every state, as OGBench stores them
state_of_transition = (np.arange(EPISODES)[:, None] * (STEPS + 1) + np.arange(STEPS)).reshape(-1)
last_states = np.arange(EPISODES) * (STEPS + 1) + STEPS
last_state = np.repeat(last_states, STEPS + 1)

scale = 1.0 / np.log(GAMMA)
s, s_next, g = (np.empty((batch, OBSERVATION), np.float32) for _ in range(3))
a, g_a = (np.empty((batch, ACTION), np.float32) for _ in range(2))


def published():
    at = state_of_transition[rng.integers(0, len(state_of_transition), batch)]
    last = last_states[np.searchsorted(last_states, at)]
    goal = np.minimum(at + rng.geometric(1 - GAMMA, batch) - 1, last)
    return {
        "observations": observations[at],
        "actions": actions[at],
        "next_observations": observations[at + 1],
        "goals": observations[goal],
        "goal_actions": actions[np.minimum(goal, last - 1)],
        "offsets": goal - at,
    }


def best():
    at = state_of_transition[rng.integers(0, len(state_of_transition), batch)]
    offset = (np.log(1.0 - rng.random(batch)) * scale).astype(np.int64)
    last = last_state[at]
    goal = np.minimum(at + offset, last)
    np.take(observations, at, axis=0, out=s, mode="clip")
    np.take(actions, at, axis=0, out=a, mode="clip")
    np.take(observations, at + 1, axis=0, out=s_next, mode="clip")
    np.take(observations, goal, axis=0, out=g, mode="clip")
    np.take(actions, np.minimum(goal, last - 1), axis=0, out=g_a, mode="clip")


sample = {"published": published, "best": best}[kind]
for _ in range(20):
    sample()
batches, start = 0, time.perf_counter()
while (elapsed := time.perf_counter() - start) < seconds:
    for _ in range(20):
        sample()
    batches += 20
print(json.dumps({"rows_per_second": batches * batch / elapsed, "version": np.__version__}))
