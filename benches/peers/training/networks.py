"""Networks in flax, of the same shapes and initial distributions as those of isochrone."""

import flax.linen as nn
import jax
import jax.numpy as jnp

class MLP(nn.Module):
    """Hidden layers of equal width, normalized before the activation, and a linear output."""

    width: int
    depth: int
    outputs: int
    activation: str
    layer_norm: bool

    @nn.compact
    def __call__(self, x):
        # Uniform with variance 1 / inputs.
        dense = lambda width: nn.Dense(width, kernel_init=nn.initializers.lecun_uniform())
        for _ in range(self.depth):
            x = dense(self.width)(x)
            if self.layer_norm:
                x = nn.LayerNorm(epsilon=1e-5)(x)
            x = nn.gelu(x) if self.activation == "gelu" else nn.relu(x)
        return dense(self.outputs)(x)


def modules(settings, observation_width, action_width):
    """Return the networks of a method and the widths of their inputs, by name."""
    mlp = lambda outputs: MLP(
        settings.width, settings.depth, outputs, settings.activation, settings.layer_norm
    )
    latent, row = settings.width, observation_width + action_width + 1
    actor = (mlp(action_width), 2 * observation_width)
    if settings.method == "crl":
        return {"phi": (mlp(latent), row), "psi": (mlp(latent), observation_width), "actor": actor}
    if settings.method == "qrl":
        dynamics = (mlp(latent), latent + action_width)
        return {"encoder": (mlp(latent), observation_width), "dynamics": dynamics, "actor": actor}
    return {"encoder": (mlp(latent), row), "potential": (mlp(1), observation_width), "actor": actor}


def init(settings, observation_width, action_width):
    """Return `apply(parameters, name, x)` and initial parameters."""
    all_modules = modules(settings, observation_width, action_width)
    keys = jax.random.split(jax.random.PRNGKey(settings.seed), len(all_modules))
    parameters = {
        name: module.init(key, jnp.zeros((1, inputs)))
        for key, (name, (module, inputs)) in zip(keys, all_modules.items())
    }
    if settings.method == "qrl":
        parameters["mix_logit"] = jnp.zeros(())

    def apply(parameters, name, x):
        return all_modules[name][0].apply(parameters[name], x)

    return apply, parameters


def combine(lengths, mix):
    return mix * lengths.max(-1) + (1 - mix) * lengths.mean(-1)


def iqe_published(x, y, mix, group_width):
    """Interval quasimetric embedding of matched rows: end points are sorted and open intervals counted.

    The method of torchqmet and OGBench.
    """
    x, y = (rows.reshape(rows.shape[0], -1, group_width) for rows in (x, y))
    ends = jnp.concatenate([x, y], -1)
    order = jnp.argsort(ends, -1)
    ends = jnp.take_along_axis(ends, order, -1)
    is_interval = jnp.take_along_axis(x < y, order % group_width, -1)
    n_open = jnp.cumsum(jnp.where(order < group_width, 1, -1) * is_interval, -1)
    return combine((jnp.diff(ends, axis=-1) * (n_open[..., :-1] > 0)).sum(-1), mix)


def is_before(x):
    """Return whether interval j starts before interval k, `[..., k, j]`; ties are broken by index."""
    first, other = x[..., :, None], x[..., None, :]
    order = jnp.arange(x.shape[-1])
    return (other < first) | ((other == first) & (order[None] < order[:, None]))


def length_and_reach(x, y):
    """Return the length of the union of each group, and the farthest stop of all intervals that start before."""
    reach = jnp.where(is_before(x), y[..., None, :], -jnp.inf).max(-1)
    return jax.nn.relu(y - jnp.maximum(x, reach)).sum(-1), reach


@jax.custom_vjp
def union_length(x, y):
    return length_and_reach(x, y)[0]


def union_forward(x, y):
    length, reach = length_and_reach(x, y)
    return length, (x, y, reach)


def union_backward(residuals, upstream):
    x, y, reach = residuals
    added = jnp.where(y > jnp.maximum(x, reach), upstream[..., None], 0)
    is_cut = reach > x
    cuts = is_before(x) & (y[..., None, :] == reach[..., None])
    dy = added - jnp.where(cuts, jnp.where(is_cut, added, 0)[..., None], 0).sum(-2)
    return -jnp.where(is_cut, 0, added), dy


union_length.defvjp(union_forward, union_backward)


def iqe(x, y, mix, group_width):
    """Interval quasimetric embedding of matched rows without a sort.

    Every interval adds what exceeds the intervals that start before it: all pairs of a group, elementwise, which XLA fuses.
    """
    x, y = (rows.reshape(rows.shape[0], -1, group_width) for rows in (x, y))
    return combine(union_length(x, y), mix)
