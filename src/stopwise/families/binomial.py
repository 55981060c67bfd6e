"""Rewards that count successes among a fixed number of trials."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.checks import whole
from stopwise.families import base
from stopwise.families.bernoulli import binary_divergence, binary_tilt
from stopwise.values import value


class _Binomial(NamedTuple):
    trials: int


@value
class Binomial(_Binomial):
    """Successes among ``trials`` coins: the mean lies in (0, trials)."""

    __slots__ = ()

    def __new__(cls, trials: int) -> Binomial:
        return super().__new__(cls, whole("trials", trials, least=1))


@base.interval.register(Binomial)
def _interval(family: Binomial) -> tuple[float, float]:
    return 0.0, 1.0 * family.trials


@base.divergence.register(Binomial)
def _divergence(family: Binomial, mu: float, lam: float) -> float:
    n = 1.0 * family.trials
    return n * binary_divergence(mu / n, lam / n)


@base.variance.register(Binomial)
def _variance(family: Binomial, mu: float) -> float:
    return mu * (1.0 - mu / family.trials)


@base.variance_slope.register(Binomial)
def _variance_slope(family: Binomial, mu: float) -> float:
    return 1.0 - 2.0 * mu / family.trials


@base.natural.register(Binomial)
def _natural(family: Binomial, mu: float) -> float:
    return math.log(mu / (family.trials - mu))


@base.convex.register(Binomial)
def _convex(family: Binomial) -> bool:
    return True


@base.tilt.register(Binomial)
def _tilt(family: Binomial, mu: float, slope: float) -> float:
    return family.trials * binary_tilt(mu / family.trials, slope)


@base.supports.register(Binomial)
def _supports(family: Binomial, value: float) -> bool:
    return 0.0 <= value <= family.trials and value == math.floor(value)


@base.draw.register(Binomial)
def _draw(family: Binomial, mean: float, rng: np.random.Generator) -> float:
    return 1.0 * rng.binomial(family.trials, mean / family.trials)
