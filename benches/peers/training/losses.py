"""Losses of CRL, QRL and CMD-1 with the formulas of isochrone.

A loss returns its value and named numbers. As in OGBench, the gradient of the critic and that of the actor are computed at once, and the actor sees the critic before its update.
"""

import jax
import jax.numpy as jnp
import networks
import optax
import pairs

LOG_SQRT_TAU = 0.9189385
stop = jax.lax.stop_gradient


def with_actions(observations, actions, mask):
    """Return critic inputs: states with their actions where the mask is 1."""
    return jnp.concatenate([observations, actions * mask, mask], -1)


def without_actions(observations, action_width):
    return jnp.pad(observations, ((0, 0), (0, action_width + 1)))


def ddpg_bc(distances, means, actions, bc_weight):
    """Return the loss of an actor with standard deviation 1 from the distances after its actions."""
    log_probs = (-0.5 * jnp.square(actions - means) - LOG_SQRT_TAU).sum(-1)
    scaled = distances.mean() / (stop(jnp.abs(distances).mean()) + 1e-6)
    return scaled - bc_weight * log_probs.mean()


def act(apply, parameters, batch):
    rows = jnp.concatenate([batch["observations"], batch["actor_goals"]], -1)
    return jnp.tanh(apply(parameters, "actor", rows))


def crl(settings, apply, parameters, batch, dual):
    frozen, actions = stop(parameters), batch["actions"]
    scale = settings.width**-0.5
    rows = with_actions(batch["observations"], actions, batch["action_masks"])
    phi, psi = apply(parameters, "phi", rows), apply(parameters, "psi", batch["value_goals"])
    logits = phi @ psi.T * scale
    critic = optax.sigmoid_binary_cross_entropy(logits, jnp.eye(len(logits))).mean()

    means = act(apply, parameters, batch)
    rows = with_actions(batch["observations"], means, jnp.ones_like(means[:, :1]))
    phi, psi = apply(frozen, "phi", rows), apply(frozen, "psi", batch["actor_goals"])
    actor = ddpg_bc(-(phi * psi).sum(-1) * scale, means, actions, settings.bc_weight)
    return critic + actor, {"critic/loss": critic, "actor/loss": actor}


def cmd1(settings, apply, parameters, batch, dual, variant):
    frozen, actions = stop(parameters), batch["actions"]
    n, action_width = actions.shape
    all_pairs = pairs.all_pairs(variant, settings.width, settings.components)
    rows = with_actions(batch["observations"], actions, batch["action_masks"])
    goals = without_actions(batch["value_goals"], action_width)
    latent = apply(parameters, "encoder", jnp.concatenate([rows, goals]))
    potential = apply(parameters, "potential", batch["value_goals"]).reshape(1, n)
    logits = potential - all_pairs(latent[:n], latent[n:])
    likelihoods = jax.nn.log_softmax(logits, 1) + jax.nn.log_softmax(logits, 0)
    critic = -jnp.diag(likelihoods).mean()

    means = act(apply, parameters, batch)
    rows = with_actions(batch["observations"], means, jnp.ones_like(means[:, :1]))
    x = apply(frozen, "encoder", rows)
    y = apply(frozen, "encoder", without_actions(batch["actor_goals"], action_width))
    actor = ddpg_bc(pairs.distance(x, y, settings.components), means, actions, settings.bc_weight)
    return critic + actor, {"critic/loss": critic, "actor/loss": actor}


def multiplier(settings, dual):
    return jax.nn.softplus(dual) + settings.dual_floor


def initial_dual(settings):
    return jnp.log(jnp.expm1(jnp.float32(settings.dual_initial - settings.dual_floor)))


def next_dual(settings, dual, violation):
    """Return the dual variable after one step of gradient ascent."""
    slope = jax.nn.sigmoid(dual)
    return dual + settings.dual_learning_rate * (violation - settings.dual_margin) * slope


def qrl(settings, apply, parameters, batch, dual, variant):
    frozen, actions = stop(parameters), batch["actions"]
    n, beta = len(actions), settings.push_beta
    form = {"published": networks.iqe_published, "pairs": networks.iqe}[variant]

    def distance(parameters, x, y):
        return form(x, y, jax.nn.sigmoid(parameters["mix_logit"]), settings.group_width)

    def after(parameters, z, actions):
        return z + apply(parameters, "dynamics", jnp.concatenate([z, actions], -1))

    states = [batch["observations"], batch["next_observations"], batch["value_goals"]]
    latent = apply(parameters, "encoder", jnp.concatenate(states))
    z, z_next, z_goal = latent[:n], latent[n : 2 * n], latent[2 * n :]
    shaped = jax.nn.softplus(beta * (settings.push_offset - distance(parameters, z, z_goal)))
    push = (shaped / beta).mean()
    violation = jnp.square(jax.nn.relu(distance(parameters, z, z_next) - 1)).mean()
    predicted = after(parameters, z, actions)
    forward, backward = distance(parameters, predicted, z_next), distance(parameters, z_next, predicted)
    dynamics = 0.5 * (jnp.square(forward) + jnp.square(backward)).mean()
    critic = push + multiplier(settings, dual) * violation + dynamics

    means = act(apply, parameters, batch)
    # The latent states are those of the critic's loss: the encoder is not evaluated again.
    reached = after(frozen, stop(z), means)
    distances = distance(frozen, reached, apply(frozen, "encoder", batch["actor_goals"]))
    actor = ddpg_bc(distances, means, actions, settings.bc_weight)
    numbers = {"push/loss": push, "constraint/violation": violation, "dynamics/loss": dynamics}
    numbers |= {"constraint/lambda": multiplier(settings, dual), "actor/loss": actor}
    return critic + actor, numbers
