"""First-passage times with a known shape."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.checks import positive
from stopwise.families import base
from stopwise.values import value


class _InverseGaussian(NamedTuple):
    shape: float


@value
class InverseGaussian(_InverseGaussian):
    """Inverse Gaussian rewards with known ``shape``: V = mu^3/shape, mean in (0, infinity).

    d(mu, lambda) stays below shape/(2 mu) as lambda grows: ``upper`` is infinite beyond that.
    """

    __slots__ = ()

    def __new__(cls, shape: float = 1.0) -> InverseGaussian:
        return super().__new__(cls, positive("shape", shape))


@base.interval.register(InverseGaussian)
def _interval(family: InverseGaussian) -> tuple[float, float]:
    return 0.0, math.inf


@base.divergence.register(InverseGaussian)
def _divergence(family: InverseGaussian, mu: float, lam: float) -> float:
    if mu <= 0.0 or lam <= 0.0:
        return 0.0 if mu == lam else math.inf
    if lam == math.inf:
        return 0.5 * family.shape / mu
    return 0.5 * family.shape * ((lam - mu) / lam) * ((lam - mu) / lam) / mu


@base.variance.register(InverseGaussian)
def _variance(family: InverseGaussian, mu: float) -> float:
    return mu * mu * mu / family.shape


@base.variance_slope.register(InverseGaussian)
def _variance_slope(family: InverseGaussian, mu: float) -> float:
    return 3.0 * mu * mu / family.shape


@base.natural.register(InverseGaussian)
def _natural(family: InverseGaussian, mu: float) -> float:
    return -0.5 * family.shape / (mu * mu)


@base.upper.register(InverseGaussian)
def _upper(family: InverseGaussian, mu: float, level: float) -> float:
    share = math.sqrt(2.0 * mu * max(level, 0.0) / family.shape)
    return mu / (1.0 - share) if share < 1.0 else math.inf


@base.lower.register(InverseGaussian)
def _lower(family: InverseGaussian, mu: float, level: float) -> float:
    return mu / (1.0 + math.sqrt(2.0 * mu * max(level, 0.0) / family.shape))


@base.supports.register(InverseGaussian)
def _supports(family: InverseGaussian, value: float) -> bool:
    return 0.0 < value < math.inf


@base.draw.register(InverseGaussian)
def _draw(family: InverseGaussian, mean: float, rng: np.random.Generator) -> float:
    # the transformation of Michael, Schucany and Haas (1976), free of cancellation
    normal = rng.standard_normal()
    a = 0.5 * mean * normal * normal / family.shape
    value = mean / (1.0 + a + math.sqrt(a * (a + 2.0)))
    return value if rng.random() * (mean + value) <= mean else mean * mean / value
