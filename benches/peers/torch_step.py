"""One CMD-1 training step in PyTorch, compiled, for comparison in `just bench-nn`. Prints one line of JSON."""

import argparse
import json
import resource
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--layer-norm", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(0)

OBSERVATION, ACTION, WIDTH, LATENT, DEPTH = 29, 8, 512, 512, 4
HALF, BATCH = LATENT // 2, args.batch


def network(inputs, outputs):
    layers = []
    for _ in range(DEPTH):
        layers += [nn.Linear(inputs, WIDTH)] + ([nn.LayerNorm(WIDTH)] if args.layer_norm else []) + [nn.ReLU()]
        inputs = WIDTH
    return nn.Sequential(*layers, nn.Linear(WIDTH, outputs))


critic = nn.ModuleDict({"encoder": network(OBSERVATION + ACTION, LATENT), "potential": network(OBSERVATION, 1)})
actor = network(2 * OBSERVATION, 2 * ACTION)


def distance(x, y):
    largest = F.relu(x[..., :HALF] - y[..., :HALF]).max(-1)[0]
    return largest + (x[..., HALF:] - y[..., HALF:]).square().sum(-1).add(1e-6).sqrt()


def critic_loss(state, action, goal, goal_action):
    latent = critic["encoder"](torch.cat([torch.cat([state, action], 1), torch.cat([goal, goal_action], 1)]))
    logits = critic["potential"](goal).reshape(1, -1) - distance(latent[:BATCH, None], latent[None, BATCH:])
    labels = torch.arange(BATCH)
    return F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)


def actor_loss(state, action, goal, goal_action, noise):
    mean, log_std = actor(torch.cat([state, goal], 1)).chunk(2, 1)
    log_std = log_std.clamp(-5, 2)
    chosen = torch.tanh(mean + log_std.exp() * noise)
    x = critic["encoder"](torch.cat([state, chosen], 1))
    y = critic["encoder"](torch.cat([goal, goal_action], 1))
    clipped = action.clamp(-0.999, 0.999)
    standard = (torch.atanh(clipped) - mean) / log_std.exp()
    log_prob = (-0.5 * standard**2 - log_std - 0.9189385 - torch.log(1 - clipped**2)).sum(1)
    return distance(x, y).mean() - 0.1 * log_prob.mean()


critic_loss, actor_loss = torch.compile(critic_loss), torch.compile(actor_loss)
critic_optimizer = torch.optim.Adam(critic.parameters(), 3e-4, fused=True)
actor_optimizer = torch.optim.Adam(actor.parameters(), 3e-4, fused=True)
normal = lambda width: torch.randn(BATCH, width)
batch = [normal(OBSERVATION), normal(ACTION).tanh(), normal(OBSERVATION), normal(ACTION).tanh()]


def step():
    loss = critic_loss(*batch)
    loss.backward()
    critic_optimizer.step()
    critic_optimizer.zero_grad(set_to_none=True)
    critic.requires_grad_(False)
    actor_loss(*batch, torch.randn(BATCH, ACTION)).backward()
    actor_optimizer.step()
    actor_optimizer.zero_grad(set_to_none=True)
    critic.requires_grad_(True)
    return loss.item()


step(), step()
times, start = [], time.perf_counter()
while len(times) < 5 or (time.perf_counter() - start < 2 and len(times) < 100):
    begin = time.perf_counter()
    loss = step()
    times.append((time.perf_counter() - begin) * 1e3)
times.sort()
record = {
    "contender": "torch-compiled" + ("-ln" if args.layer_norm else ""),
    "batch": BATCH,
    "median_ms": times[len(times) // 2],
    "fastest_ms": times[0],
    "steps": len(times),
    "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "loss": loss,
    "version": torch.__version__,
}
print(json.dumps(record))
