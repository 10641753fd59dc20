"""All-pairs distances of a metric residual network in JAX, for `jax_step.py` and `training`.

A latent row has `components` parts; a part is `half` features of the asymmetric kind followed by as many of the symmetric kind.

Variants:
  naive    broadcast to [n, n, width], differentiated by JAX (as in published code)
  chunked  the same, 8 rows at a time, recomputed in the backward pass
  rows     custom derivative rule: stored argmax, one row at a time; L2 part by a matrix product
  scan     custom derivative rule: running maximum over features; L2 part by a matrix product
  masks    as scan, but all features in one fused loop, and no scatter in the backward pass; for narrow parts
"""

import jax
import jax.numpy as jnp

TINY = 1e-6
VARIANTS = ("naive", "chunked", "rows", "scan", "masks")


def distance(x, y, components=1):
    """Return the distances of matched rows, broadcast over all dimensions but the last."""
    split = lambda latent: latent.reshape(*latent.shape[:-1], components, -1)
    difference = split(x) - split(y)
    half = difference.shape[-1] // 2
    largest = jax.nn.relu(difference[..., :half]).max(-1)
    return (largest + jnp.sqrt(jnp.square(difference[..., half:]).sum(-1) + TINY)).mean(-1)


def all_pairs(variant, width, components=1):
    """Return the function of latent rows x: [n, width] and y: [m, width] to distances [n, m]."""
    half = width // components // 2

    def naive(x, y):
        return distance(x[:, None], y[None], components)

    def chunked(x, y):
        chunk = jax.checkpoint(lambda rows: distance(rows[:, None], y[None], components))
        return jax.lax.map(chunk, x.reshape(-1, 8, width)).reshape(x.shape[0], y.shape[0])

    if variant == "naive":
        return naive
    if variant == "chunked":
        return chunked
    forward = {"rows": largest_by_rows, "scan": largest_by_scan, "masks": largest_by_masks}[variant]
    backward = masks_back if variant == "masks" else scatter_back
    largest = jax.custom_vjp(lambda x, y: forward(x, y)[0])
    largest.defvjp(forward, backward)

    def pairs(x, y):
        total = 0
        for start in range(0, width, 2 * half):
            a, b = x[:, start + half : start + 2 * half], y[:, start + half : start + 2 * half]
            squares = jnp.square(a).sum(-1)[:, None] + jnp.square(b).sum(-1)[None] - 2 * a @ b.T
            total += largest(x[:, start : start + half], y[:, start : start + half])
            total += jnp.sqrt(jnp.maximum(squares, 0) + TINY)
        return total / components

    return pairs


def saved(value, index, x, y):
    return value, (index, value > 0, jnp.zeros((0, x.shape[1])))


def largest_by_rows(x, y):
    def one(row):
        difference = row[None] - y
        index = jnp.argmax(difference, -1)
        return jnp.maximum(jnp.take_along_axis(difference, index[:, None], 1)[:, 0], 0), index

    value, index = jax.lax.map(one, x)
    return saved(value, index, x, y)


def larger(f, carry, x, y):
    value, index = carry
    difference = x[:, f][:, None] - y[:, f][None]
    is_larger = difference > value
    return jnp.where(is_larger, difference, value), jnp.where(is_larger, f, index)


def start(x, y):
    shape = (x.shape[0], y.shape[0])
    return jnp.zeros(shape), jnp.zeros(shape, jnp.int32)


def largest_by_scan(x, y):
    value, index = jax.lax.fori_loop(0, x.shape[1], lambda f, carry: larger(f, carry, x, y), start(x, y))
    return saved(value, index, x, y)


def largest_by_masks(x, y):
    carry = start(x, y)
    for f in range(x.shape[1]):
        carry = larger(f, carry, x, y)
    return saved(*carry, x, y)


def scatter_back(residuals, upstream):
    index, positive, shape = residuals
    half = shape.shape[1]
    upstream = jnp.where(positive, upstream, 0)
    n, m = upstream.shape
    dx = jnp.zeros((n, half)).at[jnp.arange(n)[:, None], index].add(upstream)
    dy = jnp.zeros((m, half)).at[jnp.arange(m)[None], index].add(-upstream)
    return dx, dy


def masks_back(residuals, upstream):
    index, positive, shape = residuals
    upstream = jnp.where(positive, upstream, 0)
    of_feature = [jnp.where(index == f, upstream, 0) for f in range(shape.shape[1])]
    dx = jnp.stack([part.sum(1) for part in of_feature], 1)
    dy = jnp.stack([-part.sum(0) for part in of_feature], 1)
    return dx, dy
