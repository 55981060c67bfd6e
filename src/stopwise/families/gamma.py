"""Positive rewards with a known shape: waiting times and sizes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.checks import positive
from stopwise.families import base
from stopwise.values import value
from stopwise.verbs import jitable


class _Gamma(NamedTuple):
    shape: float


@value
class Gamma(_Gamma):
    """Gamma rewards with known ``shape`` and mean in (0, infinity): V = mu^2/shape."""

    __slots__ = ()

    def __new__(cls, shape: float = 1.0) -> Gamma:
        return super().__new__(cls, positive("shape", shape))


@jitable
def scale_divergence(mu: float, lam: float) -> float:
    """mu/lambda - 1 - log(mu/lambda): the divergence between two exponential laws."""
    if lam <= 0.0:
        return 0.0 if mu == lam else math.inf
    return base.entropy_gap((mu - lam) / lam)


@base.interval.register(Gamma)
def _interval(family: Gamma) -> tuple[float, float]:
    return 0.0, math.inf


@base.divergence.register(Gamma)
def _divergence(family: Gamma, mu: float, lam: float) -> float:
    return family.shape * scale_divergence(mu, lam)


@base.variance.register(Gamma)
def _variance(family: Gamma, mu: float) -> float:
    return mu * mu / family.shape


@base.variance_slope.register(Gamma)
def _variance_slope(family: Gamma, mu: float) -> float:
    return 2.0 * mu / family.shape


@base.natural.register(Gamma)
def _natural(family: Gamma, mu: float) -> float:
    return -family.shape / mu


@base.supports.register(Gamma)
def _supports(family: Gamma, value: float) -> bool:
    return 0.0 < value < math.inf


@base.draw.register(Gamma)
def _draw(family: Gamma, mean: float, rng: np.random.Generator) -> float:
    return mean / family.shape * rng.standard_gamma(family.shape)
