"""Rewards in a known interval, of any shape."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.checks import finite
from stopwise.errors import BadArgument
from stopwise.families import base
from stopwise.families.bernoulli import binary_divergence, binary_tilt
from stopwise.values import value


class _Bounded(NamedTuple):
    low: float
    high: float


@value
class Bounded(_Bounded):
    """Any distribution on [low, high], judged by the Bernoulli divergence of its rescaled mean.

    The Bernoulli divergence is the smallest that any two such distributions can have, so every
    guarantee carries over; ``variance`` is the largest that the mean allows. Simulated rewards
    are drawn from the Beta law with this mean and a + b = 2 (uniform for the middle mean).
    """

    __slots__ = ()

    def __new__(cls, low: float = 0.0, high: float = 1.0) -> Bounded:
        low, high = finite("low", low), finite("high", high)
        if not low < high:
            raise BadArgument("high", high, f"a number above low = {low}")
        return super().__new__(cls, low, high)


@base.interval.register(Bounded)
def _interval(family: Bounded) -> tuple[float, float]:
    return family.low, family.high


@base.divergence.register(Bounded)
def _divergence(family: Bounded, mu: float, lam: float) -> float:
    width = family.high - family.low
    return binary_divergence((mu - family.low) / width, (lam - family.low) / width)


@base.variance.register(Bounded)
def _variance(family: Bounded, mu: float) -> float:
    return (mu - family.low) * (family.high - mu)


@base.variance_slope.register(Bounded)
def _variance_slope(family: Bounded, mu: float) -> float:
    return family.low + family.high - 2.0 * mu


@base.natural.register(Bounded)
def _natural(family: Bounded, mu: float) -> float:
    return math.log((mu - family.low) / (family.high - mu)) / (family.high - family.low)


@base.convex.register(Bounded)
def _convex(family: Bounded) -> bool:
    return True


@base.tilt.register(Bounded)
def _tilt(family: Bounded, mu: float, slope: float) -> float:
    width = family.high - family.low
    return family.low + width * binary_tilt((mu - family.low) / width, slope * width)


@base.supports.register(Bounded)
def _supports(family: Bounded, value: float) -> bool:
    return family.low <= value <= family.high


@base.draw.register(Bounded)
def _draw(family: Bounded, mean: float, rng: np.random.Generator) -> float:
    width = family.high - family.low
    share = (mean - family.low) / width
    return family.low + width * rng.beta(2.0 * share, 2.0 * (1.0 - share))
