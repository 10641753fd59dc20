"""Reference values and gradients of the metric residual network and the interval quasimetric embedding.

Written from the papers' definitions with NumPy alone, in double precision, independently of the Rust code.
Gradients are derived by hand and computed pair by pair. Run `python make.py` to regenerate pairs.json.
"""

import json
import pathlib

import numpy as np


def mrn(x, y, components):
    """Value and gradient with respect to x (that of y is its negative) of one pair."""
    width = len(x) // components
    value, grad = 0.0, np.zeros_like(x)
    for start in range(0, len(x), width):
        asym = slice(start, start + width // 2)
        sym = slice(start + width // 2, start + width)
        diff = x[asym] - y[asym]
        k = int(np.argmax(diff))
        if diff[k] > 0:
            value += diff[k] / components
            grad[start + k] += 1 / components
        rest = x[sym] - y[sym]
        length = np.linalg.norm(rest)
        value += length / components
        if length > 0:
            grad[sym] += rest / length / components
    return value, grad


def union(x, y):
    """Length of the union of [x_i, max(x_i, y_i)] and its gradients with respect to x and y."""
    events = sorted((x[i], y[i], i) for i in range(len(x)) if y[i] > x[i])
    length, gx, gy = 0.0, np.zeros_like(x), np.zeros_like(y)
    at = 0
    while at < len(events):
        left, right, first = events[at]
        last = first
        at += 1
        while at < len(events) and events[at][0] < right:
            if events[at][1] > right:
                right, last = events[at][1], events[at][2]
            at += 1
        length += right - left
        gx[first] -= 1
        gy[last] += 1
    return length, gx, gy


def iqe(x, y, group_width, alpha):
    """Value and gradients with respect to x, y and alpha of one pair (maxmean reduction)."""
    groups = len(x) // group_width
    parts = [union(x[g * group_width : (g + 1) * group_width], y[g * group_width : (g + 1) * group_width]) for g in range(groups)]
    lengths = np.array([part[0] for part in parts])
    top = int(np.argmax(lengths))
    weights = np.full(groups, (1 - alpha) / groups)
    weights[top] += alpha
    gx = np.concatenate([w * part[1] for w, part in zip(weights, parts)])
    gy = np.concatenate([w * part[2] for w, part in zip(weights, parts)])
    return alpha * lengths[top] + (1 - alpha) * lengths.mean(), gx, gy, lengths[top] - lengths.mean()


def case(name, n, m, width, pair, **options):
    rng = np.random.default_rng(sum(map(ord, name)))
    x, y, upstream = (rng.standard_normal(shape).astype(np.float32).astype(np.float64) for shape in [(n, width), (m, width), (n, m)])
    y[0] = x[0]  # a coincident pair
    values, dx, dy, dalpha = np.zeros((n, m)), np.zeros_like(x), np.zeros_like(y), 0.0
    for i in range(n):
        for j in range(m):
            values[i, j], gx, gy, galpha = pair(x[i], y[j])
            dx[i] += upstream[i, j] * gx
            dy[j] += upstream[i, j] * gy
            dalpha += upstream[i, j] * galpha
    arrays = dict(x=x, y=y, upstream=upstream, values=values, dx=dx, dy=dy)
    return dict(name=name, n=n, m=m, width=width, **options, dalpha=dalpha, **{k: v.ravel().tolist() for k, v in arrays.items()})


def mrn_pair(components):
    def pair(x, y):
        value, grad = mrn(x, y, components)
        return value, grad, -grad, 0.0

    return pair


cases = [
    case("mrn", 5, 7, 12, mrn_pair(1), components=1),
    case("mrn of four components", 6, 4, 24, mrn_pair(4), components=4),
    case("iqe", 5, 6, 24, lambda x, y: iqe(x, y, 8, 0.25), group_width=8, alpha=0.25),
    case("iqe of small groups", 4, 7, 15, lambda x, y: iqe(x, y, 3, 0.75), group_width=3, alpha=0.75),
]
path = pathlib.Path(__file__).with_name("pairs.json")
path.write_text(json.dumps(dict(numpy=np.__version__, cases=cases), indent=1) + "\n")
