"""Gaussian rewards with a known variance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.checks import positive
from stopwise.families import base
from stopwise.values import value


class _Gaussian(NamedTuple):
    variance: float


@value
class Gaussian(_Gaussian):
    """Normal rewards with known ``variance``: d = (mu - lambda)^2 / (2 variance)."""

    __slots__ = ()

    def __new__(cls, variance: float = 1.0) -> Gaussian:
        return super().__new__(cls, positive("variance", variance))


@base.interval.register(Gaussian)
def _interval(family: Gaussian) -> tuple[float, float]:
    return -math.inf, math.inf


@base.divergence.register(Gaussian)
def _divergence(family: Gaussian, mu: float, lam: float) -> float:
    return 0.5 * (mu - lam) * (mu - lam) / family.variance


@base.variance.register(Gaussian)
def _variance(family: Gaussian, mu: float) -> float:
    return family.variance


@base.variance_slope.register(Gaussian)
def _variance_slope(family: Gaussian, mu: float) -> float:
    return 0.0


@base.natural.register(Gaussian)
def _natural(family: Gaussian, mu: float) -> float:
    return mu / family.variance


@base.convex.register(Gaussian)
def _convex(family: Gaussian) -> bool:
    return True


@base.tilt.register(Gaussian)
def _tilt(family: Gaussian, mu: float, slope: float) -> float:
    return mu + slope * family.variance


@base.upper.register(Gaussian)
def _upper(family: Gaussian, mu: float, level: float) -> float:
    return mu + math.sqrt(2.0 * family.variance * max(level, 0.0))


@base.lower.register(Gaussian)
def _lower(family: Gaussian, mu: float, level: float) -> float:
    return mu - math.sqrt(2.0 * family.variance * max(level, 0.0))


@base.draw.register(Gaussian)
def _draw(family: Gaussian, mean: float, rng: np.random.Generator) -> float:
    return mean + math.sqrt(family.variance) * rng.standard_normal()
