"""One CMD-1 training step in JAX, for comparison in `just bench-nn` and `just bench-learn`. Prints one line of JSON.

The variants of the all-pairs distance are those of `pairs.py`.
"""

import argparse
import json
import resource
import time

import jax
import jax.numpy as jnp
import numpy as np
import pairs

parser = argparse.ArgumentParser()
parser.add_argument("--variant", choices=pairs.VARIANTS, required=True)
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--layer-norm", type=int, default=0)
parser.add_argument("--width", type=int, default=512)
parser.add_argument("--depth", type=int, default=4)
parser.add_argument("--latent", type=int, default=512)
args = parser.parse_args()

OBSERVATION, ACTION, WIDTH, LATENT, DEPTH = 29, 8, args.width, args.latent, args.depth
BATCH = args.batch
rng = np.random.default_rng(0)


def network(inputs, outputs):
    sizes = [inputs] + [WIDTH] * DEPTH + [outputs]
    layers = []
    for index, (a, b) in enumerate(zip(sizes, sizes[1:])):
        layer = {"w": jnp.asarray(rng.uniform(-1, 1, (a, b)) * np.sqrt(3 / a), jnp.float32), "b": jnp.zeros(b)}
        if args.layer_norm and index < DEPTH:
            layer |= {"gain": jnp.ones(b), "shift": jnp.zeros(b)}
        layers.append(layer)
    return layers


def apply(layers, x):
    for layer in layers[:-1]:
        x = x @ layer["w"] + layer["b"]
        if args.layer_norm:
            centered = x - x.mean(-1, keepdims=True)
            x = centered * jax.lax.rsqrt(jnp.square(centered).mean(-1, keepdims=True) + 1e-5) * layer["gain"] + layer["shift"]
        x = jax.nn.relu(x)
    return x @ layers[-1]["w"] + layers[-1]["b"]


all_pairs = pairs.all_pairs(args.variant, LATENT)


def critic_loss(critic, batch):
    state, action, goal, goal_action = batch
    rows = jnp.concatenate([jnp.concatenate([state, action], 1), jnp.concatenate([goal, goal_action], 1)])
    latent = apply(critic["encoder"], rows)
    logits = apply(critic["potential"], goal).reshape(1, -1) - all_pairs(latent[:BATCH], latent[BATCH:])
    return -(jnp.diag(jax.nn.log_softmax(logits, 1)) + jnp.diag(jax.nn.log_softmax(logits, 0))).mean()


def actor_loss(actor, critic, batch, noise):
    state, action, goal, goal_action = batch
    mean, log_std = jnp.split(apply(actor, jnp.concatenate([state, goal], 1)), 2, 1)
    log_std = jnp.clip(log_std, -5, 2)
    chosen = jnp.tanh(mean + jnp.exp(log_std) * noise)
    x = apply(critic["encoder"], jnp.concatenate([state, chosen], 1))
    y = apply(critic["encoder"], jnp.concatenate([goal, goal_action], 1))
    clipped = jnp.clip(action, -0.999, 0.999)
    standard = (jnp.arctanh(clipped) - mean) / jnp.exp(log_std)
    log_prob = (-0.5 * standard**2 - log_std - 0.9189385 - jnp.log(1 - clipped**2)).sum(1)
    return pairs.distance(x, y).mean() - 0.1 * log_prob.mean()


def adam(parameters, gradients, state):
    first, second, time_ = state
    time_ = time_ + 1
    tree = jax.tree_util.tree_map
    first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    scale_first, scale_second = 1 / (1 - 0.9**time_), 1 / (1 - 0.999**time_)
    update = lambda p, m, v: p - 3e-4 * (m * scale_first) / (jnp.sqrt(v * scale_second) + 1e-8)
    return tree(update, parameters, first, second), (first, second, time_)


def step(state, batch, key):
    critic, actor, critic_state, actor_state = state
    critic_value, gradients = jax.value_and_grad(critic_loss)(critic, batch)
    critic, critic_state = adam(critic, gradients, critic_state)
    noise = jax.random.normal(key, (BATCH, ACTION))
    actor_value, gradients = jax.value_and_grad(actor_loss)(actor, critic, batch, noise)
    actor, actor_state = adam(actor, gradients, actor_state)
    return (critic, actor, critic_state, actor_state), critic_value, actor_value


step = jax.jit(step, donate_argnums=0)
critic = {"encoder": network(OBSERVATION + ACTION, LATENT), "potential": network(OBSERVATION, 1)}
actor = network(2 * OBSERVATION, 2 * ACTION)
moments = lambda tree: (jax.tree_util.tree_map(jnp.zeros_like, tree), jax.tree_util.tree_map(jnp.zeros_like, tree), jnp.float32(0))
state = (critic, actor, moments(critic), moments(actor))
normal = lambda width: jnp.asarray(rng.standard_normal((BATCH, width)), jnp.float32)
batch = (normal(OBSERVATION), jnp.tanh(normal(ACTION)), normal(OBSERVATION), jnp.tanh(normal(ACTION)))
key = jax.random.PRNGKey(0)

times, start = [], None
while len(times) < 2 + 5 or (time.perf_counter() - start < 2 and len(times) < 102):
    key, now = jax.random.split(key)
    jax.block_until_ready(now)
    begin = time.perf_counter()
    state, critic_value, actor_value = step(state, batch, now)
    jax.block_until_ready((state, critic_value, actor_value))
    times.append((time.perf_counter() - begin) * 1e3)
    if len(times) == 2:
        start = time.perf_counter()
times = sorted(times[2:])
record = {
    "contender": f"jax-{args.variant}" + ("-ln" if args.layer_norm else ""),
    "batch": BATCH,
    "median_ms": times[len(times) // 2],
    "fastest_ms": times[0],
    "steps": len(times),
    "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "loss": float(critic_value),
    "version": jax.__version__,
}
print(json.dumps(record))
