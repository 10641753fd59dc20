"""Measures: average precision, overlap of segments, rank correlation, RA-BC weights."""

import numpy as np
from scipy.stats import rankdata


def average_precision(scores, positive):
    """Area under the precision-recall curve; higher scores rank first.

    Episodes with equal scores count as one threshold, so that their order does not matter.
    """
    scores, positive = np.asarray(scores, float), np.asarray(positive, bool)
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    last_of_tie = np.r_[scores[1:] != scores[:-1], True]
    found = np.cumsum(positive)[last_of_tie]
    precision = found / (np.flatnonzero(last_of_tie) + 1)
    gained = np.diff(np.r_[0, found])
    return float((gained * precision).sum() / positive.sum())


def overlap(a, b):
    """Intersection over union of two half-open frame intervals."""
    union = max(a[1], b[1]) - min(a[0], b[0])
    shared = min(a[1], b[1]) - max(a[0], b[0])
    return max(0, shared) / union if union > 0 else 0.0


def rank_correlation(a, b):
    """Spearman's rho over the entries that are finite in both; NaN if there are fewer than 3."""
    finite = np.isfinite(a) & np.isfinite(b)
    if finite.sum() < 3:
        return float("nan")
    ranks = [rankdata(values[finite]) for values in (a, b)]
    centered = [values - values.mean() for values in ranks]
    scale = np.sqrt((centered[0] ** 2).sum() * (centered[1] ** 2).sum())
    return float((centered[0] * centered[1]).sum() / scale) if scale > 0 else float("nan")


def rabc_weights(progress, rows, chunk=50, kappa=0.01):
    """The weights of `RABCWeights` in lerobot 0.6.1, from the progress of every frame.

    r = p[min(t + chunk, last)] - p[t]; weight 1 for r > kappa, 0 for r < 0, soft between, and 1
    where progress is unknown. `rows` holds a slice per episode.
    """
    gain = np.empty(len(progress))
    for episode in rows:
        own = progress[episode]
        later = np.minimum(np.arange(len(own)) + chunk, len(own) - 1)
        gain[episode] = own[later] - own
    finite = gain[np.isfinite(gain)]
    mean, deviation = max(finite.mean(), 0.0), max(finite.std(), 1e-6)
    soft = np.clip((gain - (mean - 2 * deviation)) / (4 * deviation + 1e-6), 0, 1)
    weights = np.where(gain > kappa, 1.0, np.where(gain >= 0, soft, 0.0))
    return np.where(np.isfinite(gain), weights, 1.0)
