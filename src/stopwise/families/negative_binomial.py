"""Rewards that count failures before a fixed number of successes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.checks import positive
from stopwise.families import base
from stopwise.values import value


class _NegativeBinomial(NamedTuple):
    successes: float


@value
class NegativeBinomial(_NegativeBinomial):
    """Failures before the given number of ``successes``: V = mu + mu^2/successes."""

    __slots__ = ()

    def __new__(cls, successes: float) -> NegativeBinomial:
        return super().__new__(cls, positive("successes", successes))


@base.interval.register(NegativeBinomial)
def _interval(family: NegativeBinomial) -> tuple[float, float]:
    return 0.0, math.inf


@base.divergence.register(NegativeBinomial)
def _divergence(family: NegativeBinomial, mu: float, lam: float) -> float:
    if lam <= 0.0:
        return 0.0 if mu == lam else math.inf
    return base.entropy_gap_difference(mu, family.successes, lam - mu)


@base.variance.register(NegativeBinomial)
def _variance(family: NegativeBinomial, mu: float) -> float:
    return mu * (1.0 + mu / family.successes)


@base.variance_slope.register(NegativeBinomial)
def _variance_slope(family: NegativeBinomial, mu: float) -> float:
    return 1.0 + 2.0 * mu / family.successes


@base.natural.register(NegativeBinomial)
def _natural(family: NegativeBinomial, mu: float) -> float:
    return math.log(mu / (mu + family.successes))


@base.supports.register(NegativeBinomial)
def _supports(family: NegativeBinomial, value: float) -> bool:
    return 0.0 <= value < math.inf and value == math.floor(value)


@base.draw.register(NegativeBinomial)
def _draw(family: NegativeBinomial, mean: float, rng: np.random.Generator) -> float:
    # a Poisson count whose rate is Gamma distributed
    return 1.0 * rng.poisson(mean / family.successes * rng.standard_gamma(family.successes))
