"""Rewards that count trials up to the first success."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.families import base
from stopwise.values import value


@value
class Geometric(NamedTuple):
    """Trials up to and with the first success: values 1, 2, ..., mean in (1, infinity)."""


@base.interval.register(Geometric)
def _interval(family: Geometric) -> tuple[float, float]:
    return 1.0, math.inf


@base.divergence.register(Geometric)
def _divergence(family: Geometric, mu: float, lam: float) -> float:
    if lam <= 1.0:
        return 0.0 if mu == lam else math.inf
    return base.entropy_gap_difference(mu - 1.0, 1.0, lam - mu)


@base.variance.register(Geometric)
def _variance(family: Geometric, mu: float) -> float:
    return mu * (mu - 1.0)


@base.variance_slope.register(Geometric)
def _variance_slope(family: Geometric, mu: float) -> float:
    return 2.0 * mu - 1.0


@base.natural.register(Geometric)
def _natural(family: Geometric, mu: float) -> float:
    return math.log1p(-1.0 / mu)


@base.supports.register(Geometric)
def _supports(family: Geometric, value: float) -> bool:
    return 1.0 <= value < math.inf and value == math.floor(value)


@base.draw.register(Geometric)
def _draw(family: Geometric, mean: float, rng: np.random.Generator) -> float:
    return 1.0 * rng.geometric(1.0 / mean)
