"""One training run in JAX that follows commands, one line of JSON each on standard input, and answers likewise.

    {"do": "train", "updates": 1000, "max_seconds": null}   the loop of OGBench: sample in NumPy, one jitted update
    {"do": "update_only", "max_seconds": 2}                 the same update on a batch that is already on the device
    {"do": "evaluate", "episodes": 20, "seed": 0}

    python loop.py DATASET ENVIRONMENT SETTINGS jax|jax-published
"""

import time

START = time.perf_counter()

import functools
import json
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
import losses
import networks
import numpy as np
import optax
from sampling import Sampler
from settings import Settings

# The clock is read after as many updates as take about this long, at most MAX_UPDATES_PER_LOOK.
SECONDS_PER_LOOK, MAX_UPDATES_PER_LOOK = 0.1, 50
# The longest part of a component that `masks` is a candidate for; it takes much longer with wide parts.
MAX_MASKS = 8


def candidates(settings, side):
    """Return the forms of the all-pairs distance or the interval embedding: as published, or others that are faster."""
    if settings.method == "crl":
        return ["matrix product"]
    if settings.method == "qrl":
        return ["published" if side == "jax-published" else "pairs"]
    if side == "jax-published":
        return ["naive"]
    is_narrow = settings.width // settings.components // 2 <= MAX_MASKS
    return ["rows", "scan"] + ["masks"] * is_narrow


def fastest(agents, sampler):
    """Return the agent with the fastest update."""
    if len(agents) == 1:
        return agents[0]
    rounds = [[agent.update_only(sampler, 0.5) for agent in agents] for _ in range(3)]
    seconds = [min(one["seconds"] / one["updates"] for one in ones) for ones in zip(*rounds)]
    return agents[int(np.argmin(seconds))]


class Agent:
    """Parameters, optimizer and the compiled update."""

    def __init__(self, settings, sampler, variant):
        self.variant = variant
        widths = sampler.observations.shape[1], sampler.actions.shape[1]
        self.apply, parameters = networks.init(settings, *widths)
        loss = getattr(losses, settings.method)
        if settings.method != "crl":
            loss = functools.partial(loss, variant=variant)
        optimizer = optax.adam(settings.learning_rate)
        self.state = (parameters, optimizer.init(parameters), losses.initial_dual(settings))

        def update(state, batch):
            parameters, moments, dual = state
            of = lambda parameters: loss(settings, self.apply, parameters, batch, dual)
            gradients, numbers = jax.grad(of, has_aux=True)(parameters)
            steps, moments = optimizer.update(gradients, moments, parameters)
            if settings.method == "qrl":
                dual = losses.next_dual(settings, dual, numbers["constraint/violation"])
            return (optax.apply_updates(parameters, steps), moments, dual), numbers

        self.update = jax.jit(update, donate_argnums=0)
        # Compiled on a copy, whose memory the update takes.
        start = time.perf_counter()
        jax.block_until_ready(self.update(jax.tree.map(jnp.copy, self.state), sampler.sample()))
        self.compile_seconds = time.perf_counter() - start
        start = time.perf_counter()
        jax.block_until_ready(self.update(jax.tree.map(jnp.copy, self.state), sampler.sample()))
        seconds = time.perf_counter() - start
        self.updates_per_look = max(1, min(MAX_UPDATES_PER_LOOK, int(SECONDS_PER_LOOK / seconds)))

        @jax.jit
        def mode(parameters, observation, goal):
            rows = jnp.concatenate([observation, goal])[None]
            return jnp.tanh(self.apply(parameters, "actor", rows))[0]

        self.mode = mode

    def train(self, sampler, updates, max_seconds):
        # Means over a few updates of the block; they stay on the device until its end.
        looks, look_every = [], max(1, updates // 50)
        start, done = time.perf_counter(), 0
        while done < updates:
            self.state, numbers = self.update(self.state, sampler.sample())
            done += 1
            if done % look_every == 0:
                looks.append(numbers)
            if max_seconds and done % self.updates_per_look == 0:
                jax.block_until_ready(self.state)
                if time.perf_counter() - start > max_seconds:
                    break
        jax.block_until_ready(self.state)
        seconds = time.perf_counter() - start
        means = {name: float(np.mean([look[name] for look in looks or [numbers]])) for name in numbers}
        return {"updates": done, "seconds": seconds, "losses": means}

    def update_only(self, sampler, max_seconds):
        batch = jax.device_put(sampler.sample())
        state = jax.tree.map(jnp.copy, self.state)
        jax.block_until_ready((state, batch))
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < max_seconds:
            for _ in range(self.updates_per_look):
                state, _ = self.update(state, batch)
            jax.block_until_ready(state)
            done += self.updates_per_look
        return {"updates": done, "seconds": time.perf_counter() - start}

    def evaluate(self, sampler, env, episodes, seed):
        import evaluation

        parameters = self.state[0]
        actions = lambda *rows: np.asarray(self.mode(parameters, *map(sampler.scaled, rows)))
        start = time.perf_counter()
        tasks = evaluation.evaluate(evaluation.make(env), actions, episodes, seed)
        return {"tasks": tasks, "success": float(np.mean(tasks)), "seconds": time.perf_counter() - start}


def versions():
    names = ("jax", "flax", "optax", "numpy", "gymnasium", "mujoco", "ogbench")
    return {name: version(name) for name in names}


def main():
    dataset, env, settings, side = sys.argv[1:]
    settings = Settings(**json.loads(settings))
    sampler = Sampler(dataset, settings)
    loaded = time.perf_counter() - START
    agent = fastest([Agent(settings, sampler, variant) for variant in candidates(settings, side)], sampler)
    # The choice of the variant is not a part of training.
    ready = {"variant": agent.variant, "startup_seconds": loaded + agent.compile_seconds}
    print(json.dumps({**ready, "compile_seconds": agent.compile_seconds, "versions": versions()}), flush=True)
    commands = {
        "train": agent.train,
        "update_only": agent.update_only,
        "evaluate": functools.partial(agent.evaluate, env=env),
    }
    for line in sys.stdin:
        command = json.loads(line)
        before = time.process_time()
        answer = commands[command.pop("do")](sampler=sampler, **command)
        print(json.dumps({**answer, "cpu_seconds": time.process_time() - before}), flush=True)


main()
