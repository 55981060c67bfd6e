"""Rewards that count rare events."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.families import base
from stopwise.values import value


@value
class Poisson(NamedTuple):
    """Poisson counts with mean in (0, infinity)."""


@base.interval.register(Poisson)
def _interval(family: Poisson) -> tuple[float, float]:
    return 0.0, math.inf


@base.divergence.register(Poisson)
def _divergence(family: Poisson, mu: float, lam: float) -> float:
    return base.scaled_entropy_gap(mu, lam - mu)


@base.variance.register(Poisson)
def _variance(family: Poisson, mu: float) -> float:
    return mu


@base.variance_slope.register(Poisson)
def _variance_slope(family: Poisson, mu: float) -> float:
    return 1.0


@base.natural.register(Poisson)
def _natural(family: Poisson, mu: float) -> float:
    return math.log(mu)


@base.convex.register(Poisson)
def _convex(family: Poisson) -> bool:
    return True


@base.tilt.register(Poisson)
def _tilt(family: Poisson, mu: float, slope: float) -> float:
    return mu / (1.0 - slope) if slope < 1.0 else math.inf


@base.supports.register(Poisson)
def _supports(family: Poisson, value: float) -> bool:
    return 0.0 <= value < math.inf and value == math.floor(value)


@base.draw.register(Poisson)
def _draw(family: Poisson, mean: float, rng: np.random.Generator) -> float:
    return 1.0 * rng.poisson(mean)
