"""A sampler of transitions and goals in NumPy, like that of OGBench: random indices, a search for the end of the episode, and one fancy index per column.

The distributions are those of isochrone: geometric offsets start at 0, policy goals are uniform over later states.
"""

import numpy as np


class Sampler:
    """A dataset of OGBench with standardized observations."""

    def __init__(self, path, settings):
        with np.load(path) as data:
            observations, self.actions = data["observations"], np.clip(data["actions"], -1, 1)
            is_last = data["terminals"] > 0
        self.mean = observations.mean(0, dtype=np.float64).astype(np.float32)
        self.deviation = observations.std(0, dtype=np.float64).astype(np.float32)
        self.observations = self.scaled(observations)
        self.last_states = np.nonzero(is_last)[0]
        self.first_of_transitions = np.nonzero(~is_last)[0]
        self.settings = settings
        self.random = np.random.default_rng(settings.seed)

    def scaled(self, observations):
        return ((observations - self.mean) / self.deviation).astype(np.float32)

    def sample(self):
        n, random = self.settings.batch_size, self.random
        at = self.first_of_transitions[random.integers(len(self.first_of_transitions), size=n)]
        last = self.last_states[np.searchsorted(self.last_states, at)]
        if self.settings.method == "qrl":
            value_goals = random.integers(len(self.observations), size=n)
        else:
            value_goals = np.minimum(at + random.geometric(1 - self.settings.discount, n) - 1, last)
        actor_goals = at + 1 + (random.random(n) * (last - at)).astype(np.int64)
        batch = {
            "observations": self.observations[at],
            "actions": self.actions[at],
            "value_goals": self.observations[value_goals],
            "actor_goals": self.observations[actor_goals],
        }
        if self.settings.method == "qrl":
            batch["next_observations"] = self.observations[at + 1]
        else:
            is_seen = random.random((n, 1)) >= self.settings.state_only_fraction
            batch["action_masks"] = is_seen.astype(np.float32)
        return batch
