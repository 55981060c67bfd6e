"""Rewards 0 or 1."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.families import base
from stopwise.values import value
from stopwise.verbs import jitable


@value
class Bernoulli(NamedTuple):
    """Success or failure, with the success probability as mean in (0, 1)."""


@jitable
def binary_divergence(p: float, q: float) -> float:
    """The divergence between two coins, finite for p on the boundary."""
    if q <= 0.0 or q >= 1.0:
        return 0.0 if p == q else math.inf
    return base.scaled_entropy_gap(p, q - p) + base.scaled_entropy_gap(1.0 - p, p - q)


@jitable
def binary_tilt(p: float, slope: float) -> float:
    """The q with (q - p)/(q(1 - q)) = slope: the root in [0, 1] of a quadratic, without cancelling.

    Its two forms are exact for slopes below and above 1.
    """
    slope = min(max(slope, -1e150), 1e150)
    root = math.sqrt(max((1.0 - slope) * (1.0 - slope) + 4.0 * slope * p, 0.0))
    if slope > 1.0:
        q = (slope - 1.0 + root) / (2.0 * slope)
    else:
        q = 2.0 * p / (1.0 - slope + root) if p > 0.0 else 0.0
    # the root is never an end that p is not
    return min(max(q, 1e-300 if p > 0.0 else 0.0), 1.0 - 4e-16 if p < 1.0 else 1.0)


@base.interval.register(Bernoulli)
def _interval(family: Bernoulli) -> tuple[float, float]:
    return 0.0, 1.0


@base.divergence.register(Bernoulli)
def _divergence(family: Bernoulli, mu: float, lam: float) -> float:
    return binary_divergence(mu, lam)


@base.variance.register(Bernoulli)
def _variance(family: Bernoulli, mu: float) -> float:
    return mu * (1.0 - mu)


@base.variance_slope.register(Bernoulli)
def _variance_slope(family: Bernoulli, mu: float) -> float:
    return 1.0 - 2.0 * mu


@base.natural.register(Bernoulli)
def _natural(family: Bernoulli, mu: float) -> float:
    return math.log(mu / (1.0 - mu))


@base.convex.register(Bernoulli)
def _convex(family: Bernoulli) -> bool:
    return True


@base.tilt.register(Bernoulli)
def _tilt(family: Bernoulli, mu: float, slope: float) -> float:
    return binary_tilt(mu, slope)


@base.supports.register(Bernoulli)
def _supports(family: Bernoulli, value: float) -> bool:
    return value == 0.0 or value == 1.0


@base.draw.register(Bernoulli)
def _draw(family: Bernoulli, mean: float, rng: np.random.Generator) -> float:
    return 1.0 if rng.random() < mean else 0.0
