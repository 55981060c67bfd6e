"""Memoryless waiting times."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.families import base
from stopwise.families.gamma import scale_divergence
from stopwise.values import value


@value
class Exponential(NamedTuple):
    """Exponential rewards with mean in (0, infinity): V = mu^2."""


@base.interval.register(Exponential)
def _interval(family: Exponential) -> tuple[float, float]:
    return 0.0, math.inf


@base.divergence.register(Exponential)
def _divergence(family: Exponential, mu: float, lam: float) -> float:
    return scale_divergence(mu, lam)


@base.variance.register(Exponential)
def _variance(family: Exponential, mu: float) -> float:
    return mu * mu


@base.variance_slope.register(Exponential)
def _variance_slope(family: Exponential, mu: float) -> float:
    return 2.0 * mu


@base.natural.register(Exponential)
def _natural(family: Exponential, mu: float) -> float:
    return -1.0 / mu


@base.supports.register(Exponential)
def _supports(family: Exponential, value: float) -> bool:
    return 0.0 <= value < math.inf


@base.draw.register(Exponential)
def _draw(family: Exponential, mean: float, rng: np.random.Generator) -> float:
    return mean * rng.standard_exponential()
