"""Wealth by brute force: likelihoods written out, sums over all terms, grids for minima.

Nothing here is shared with the package but the numbers that define the rule: gaps and their weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_ndtr, logsumexp

import stopwise as sw


def log_likelihood(family: Any, n: float, total: float, c: float) -> float:
    """The log likelihood of n samples with this sum at the mean c, but for what c is not in."""
    rest = n - total
    match family:
        case sw.Bernoulli():
            return _times_log(total, c) + _times_log(rest, 1 - c)
        case sw.Binomial():
            p = c / family.trials
            return _times_log(total, p) + _times_log(n * family.trials - total, 1 - p)
        case sw.BoundedCoin():  # the coin's, as if a sample were a share of heads
            width = family.high - family.low
            p, heads = (c - family.low) / width, (total - n * family.low) / width
            return _times_log(heads, p) + _times_log(n - heads, 1 - p)
        case sw.Poisson():
            return _times_log(total, c) - n * c
        case sw.NegativeBinomial():
            r = family.successes
            return n * r * math.log(r / (r + c)) + _times_log(total, c / (r + c))
        case sw.Geometric():
            return -n * math.log(c) + _times_log(total - n, 1 - 1 / c)
        case sw.Exponential():
            return -n * math.log(c) - total / c
        case sw.Gamma():
            return family.shape * (-n * math.log(c) - total / c)
        case sw.InverseGaussian():
            v = 0.0 if math.isinf(c) else 1 / c
            return family.shape * (n * v - total * v * v / 2)
    raise TypeError(family)


def _times_log(factor: float, x: float) -> float:
    return factor * math.log(x) if factor != 0 else 0.0


def moved(family: Any, side: int, c: float, gap: float) -> float:
    """The mean that is bet on."""
    u = side * gap
    match family:
        case sw.Bernoulli() | sw.Binomial() | sw.BoundedCoin():  # odds times e^u
            low, high = {sw.Bernoulli: (0, 1)}.get(type(family), (None, None))
            if isinstance(family, sw.Binomial):
                low, high = 0, family.trials
            if isinstance(family, sw.BoundedCoin):
                low, high = family.low, family.high
            odds = (c - low) / (high - c) * math.exp(u)
            return low + (high - low) * odds / (1 + odds)
        case sw.Geometric():
            return 1 + (c - 1) * math.exp(u)
        case sw.Gamma():
            return c * math.exp(u / math.sqrt(family.shape))
        case sw.InverseGaussian():
            v = max(1 / c - u / family.shape, 0.0)
            return 1 / v if v > 0 else math.inf
    return c * math.exp(u)  # means in proportion


def grid(family: Any) -> tuple[Any, Any]:
    """The gaps and their weights."""
    if isinstance(family, sw.Gaussian):
        weights = np.array([1, 1, 1, 1, 1, 1, 2**-1.5, 3**-1.5])
        return 8.0 ** -((np.arange(8) - 1) / 2), weights / weights.sum()
    long = (sw.Poisson, sw.Binomial, sw.NegativeBinomial)
    count, largest = (28 if isinstance(family, long) else 19), 3.0
    if isinstance(family, sw.InverseGaussian):
        count, largest = 24, 96.0
    ratio = 0.5
    if isinstance(family, sw.Bernoulli | sw.Geometric | sw.Exponential | sw.Gamma):
        count, ratio = 33, math.sqrt(0.5)
    step = 1.0 if ratio == 0.5 else 0.5
    weights = np.array([max(step * (q - count // 2) + 1, 1) ** -1.5 for q in range(count)])
    return largest * ratio ** np.arange(count), weights / weights.sum()


def log_bet(family: Any, side: int, samples: Any, c: float, gap: float) -> float:
    """log w(c; gap) of these samples, c inside the space of means."""
    if isinstance(family, sw.Gaussian):
        n, kappa, s = len(samples), gap**-2, math.sqrt(family.variance)
        x = side * (np.mean(samples) - c) * n / (s * math.sqrt(n + kappa))
        return float(x * x / 2 + math.log(2) + log_ndtr(x) - 0.5 * math.log(1 + n / kappa))
    n, total = len(samples), float(np.sum(samples))

    def ratio(at: float) -> float:
        instead = log_likelihood(family, n, total, moved(family, side, at, gap))
        return instead - log_likelihood(family, n, total, at)

    if isinstance(family, sw.InverseGaussian) and side > 0:  # the least over smaller means
        return min(ratio(at) for at in (c, *_turns(family, samples, c, gap)))
    return ratio(c)


def _turns(family: Any, samples: Any, c: float, gap: float) -> list[float]:
    """Where a fixed ratio of "above" may turn: at the sample mean, and where v = gap."""
    return [at for at in (float(np.mean(samples)), family.shape / gap) if at < c]


def log_arm(family: Any, side: int, samples: Any, c: float) -> float:
    """log W(c), mixed over gaps."""
    gaps, weights = grid(family)
    return float(logsumexp([log_bet(family, side, samples, c, g) for g in gaps], b=weights))


def log_pair(
    family: Any, other_family: Any, samples: Any, other: Any, c: float, margin: float
) -> float:
    """log M(c), term by term."""
    gaps, weights = grid(family)
    octaves = np.log2(gaps) if gaps[0] < 2 * gaps[1] else np.arange(len(gaps))
    share = np.sqrt(np.outer(weights, weights)) * 0.6 ** np.abs(np.subtract.outer(octaves, octaves))
    share *= 0.95 / share.sum()
    above = np.array([log_bet(family, 1, samples, c, g) for g in gaps])
    below = np.array([log_bet(other_family, -1, other, c + margin, g) for g in gaps])
    both = logsumexp(above[:, None] + below[None], b=share)
    singles = logsumexp(np.concatenate([above, below]), b=0.025 * np.tile(weights, 2))
    return float(np.logaddexp(both, singles))


def least(function: Callable[[float], float], low: float, high: float, count: int = 41) -> float:
    """The least value on [low, high], by grids that close in on the best point (quasi-convex)."""
    found = math.inf
    for _ in range(60):
        points = np.linspace(low, high, count)
        values = np.array([function(float(x)) for x in points])
        place = int(np.argmin(values))
        found = min(found, float(values[place]))
        low, high = float(points[max(place - 1, 0)]), float(points[min(place + 1, count - 1)])
        if high - low <= 1e-9 * max(abs(low), abs(high), 1e-9):
            break
    return found
